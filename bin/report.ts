import { reports } from '../reports/index.ts';
import { loadRecord } from './record-file.ts';
import { writeFormats } from './write-formats.ts';
import type { CliContext } from './cli-context.ts';

/** The flags of `report`, as they were typed. */
export interface ReportFlags {
  readonly file: string;
  readonly format: readonly string[];
}

/**
 * Renders the record of a run that is over.
 *
 * @throws Problem with code `usage` for a file that is no record, or a report that cannot be written
 */
export async function report({ file, format }: ReportFlags, context: CliContext): Promise<void> {
  await writeFormats(format, reports, [file], () => loadRecord(file), context);
}
