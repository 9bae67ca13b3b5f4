import { readFile } from 'node:fs/promises';
import type { RunRecord } from '../schemas/generated/types.ts';
import { Problem } from '../schemas/problem.ts';
import { readBaseline, type ReadBaseline } from '../schemas/records.ts';
import { catalogue } from '../suites/index.ts';
import { holdAgainst, renderBaseline, updated } from './baseline.ts';
import { prepareFile } from './pending-file.ts';

interface BaselineFlags {
  readonly baseline?: string | undefined;
  readonly updateBaseline: boolean;
  readonly replay?: string | undefined;
  readonly strict: boolean;
}

/** What a run does with the failures that are known. */
export interface KnownFailures {
  /** The record as the baseline makes it, and the new text of the file where it is to be written. */
  readonly hold: (record: RunRecord) => { readonly record: RunRecord; readonly text?: string };
  readonly save: (text: string | undefined) => Promise<void>;
}

/**
 * Opens the baseline that the flags name, before the run.
 *
 * @throws Problem with code `usage` for flags that contradict each other and a file that is none
 */
export async function openBaseline(flags: BaselineFlags): Promise<KnownFailures> {
  const { baseline: file, updateBaseline: isUpdate, strict } = flags;
  if (isUpdate && file === undefined)
    throw new Problem('usage', '--update-baseline writes the file of --baseline: name it');
  if (file !== undefined && flags.replay !== undefined)
    throw new Problem('usage', '--replay judges one input, and no baseline by it: leave --baseline out');
  const ids = catalogue.map(({ id }) => id);
  const before = file === undefined ? undefined : await load(file, isUpdate);
  const prepare = async () => (file === undefined ? undefined : prepareFile(file, 'the baseline'));
  // A long run is not for nothing: whether the file can be written is found out before it.
  if (isUpdate) await (await prepare())?.discard();
  return {
    hold: (record) => {
      if (before === undefined) return { record };
      if (!isUpdate) return { record: holdAgainst(record, before, ids) };
      const { known, added, removed } = updated(record, before, strict);
      const text = renderBaseline(known, before.schema);
      const note = `Baseline ${before.file}: ${added} added, ${removed} removed, ${known.length - added} kept.`;
      const noted = { ...record, notes: [...record.notes, note] };
      return { record: holdAgainst(noted, readBaseline(text, before.file), ids), text };
    },
    save: async (text) => {
      if (text !== undefined) await (await prepare())?.write(text);
    },
  };
}

/** A baseline that is to be written may begin with nothing. */
async function load(file: string, mayBeMissing: boolean): Promise<ReadBaseline> {
  try {
    return readBaseline(await readFile(file, 'utf8'), file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof Problem || code === undefined) throw error;
    if (code !== 'ENOENT') throw new Problem('usage', `--baseline ${file}: cannot be read (${code})`);
    if (mayBeMissing) return { file, known: [] };
    throw new Problem(
      'usage',
      `--baseline ${file}: there is no such file; --update-baseline writes one of what fails now`,
    );
  }
}
