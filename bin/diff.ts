import { compare, comparisons, type Comparison } from '../reports/index.ts';
import { exitCodes } from './exit-codes.ts';
import { loadRecord } from './record-file.ts';
import type { CliContext } from './cli-context.ts';
import { writeFormats } from './write-formats.ts';

/** The flags of `diff`, as they were typed. */
export interface DiffFlags {
  readonly before: string;
  readonly after: string;
  readonly format: readonly string[];
  readonly allowIncomplete: boolean;
}

const codes = {
  regression: exitCodes.nonconformant[0],
  'less verified': exitCodes.incomplete[0],
  'no regression': exitCodes.conformant[0],
} as const satisfies Record<Comparison['tendency'], number>;

/**
 * Tells what changed between two runs, and returns the exit code.
 *
 * @throws Problem with code `usage` for a file that is no record, or a report that cannot be written
 */
export async function diff(flags: DiffFlags, context: CliContext): Promise<number> {
  const load = async () => compare(await loadRecord(flags.before), await loadRecord(flags.after));
  const { tendency } = await writeFormats(
    flags.format,
    comparisons,
    [flags.before, flags.after],
    load,
    context,
  );
  return tendency === 'less verified' && flags.allowIncomplete ? codes['no regression'] : codes[tendency];
}
