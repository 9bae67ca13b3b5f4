import { existsSync } from 'node:fs';
import type { KnownFailure, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { didYouMean, Problem } from '../schemas/problem.ts';
import { readBaseline, type BaselineEntry, type ReadBaseline } from '../schemas/records.ts';
import { catalogue, verdictOf } from '../suites/index.ts';
import { readText } from './fixture-file.ts';
import { prepareFile } from './output-files.ts';

/** The baseline of a run. */
export interface Baseline {
  /** Applies it to a record; returns the new text of the file as well if it is to be updated. */
  readonly apply: (record: RunRecord) => { readonly record: RunRecord; readonly text?: string };
  readonly save: (text: string | undefined) => Promise<void>;
}

/**
 * Opens the baseline that the flags name, before the run.
 *
 * @throws Problem with code `usage` for flags that contradict each other and for a wrong file
 */
export async function openBaseline(flags: {
  readonly baseline?: string | undefined;
  readonly updateBaseline?: boolean;
  readonly replay?: string | undefined;
  readonly strict: boolean;
}): Promise<Baseline> {
  const { baseline: file, updateBaseline: isUpdate = false, strict } = flags;
  if (file === undefined) {
    if (isUpdate) throw new Problem('usage', '--update-baseline writes the file of --baseline: name it');
    return { apply: (record) => ({ record }), save: () => Promise.resolve() };
  }
  if (flags.replay !== undefined)
    throw new Problem('usage', '--replay judges one input, and no baseline by it: leave --baseline out');
  const ids = catalogue.map(({ id }) => id);
  const before = await load(file, isUpdate);
  const prepare = () => prepareFile(file, 'the baseline');
  // Finds out before the run whether the file can be written.
  if (isUpdate) await (await prepare()).discard();
  return {
    apply: (record) => {
      if (!isUpdate) return { record: withBaseline(record, before, ids) };
      const { known, added, removed } = updated(record, before, strict);
      const text = renderBaseline(known, before.schema);
      const note = `Baseline ${before.file}: ${added} added, ${removed} removed, ${known.length - added} kept.`;
      const noted = { ...record, notes: [...record.notes, note] };
      return { record: withBaseline(noted, readBaseline(text, before.file), ids), text };
    },
    save: async (text) => {
      if (text !== undefined) await (await prepare()).write(text);
    },
  };
}

async function load(file: string, mayBeMissing: boolean): Promise<ReadBaseline> {
  if (mayBeMissing && !existsSync(file)) return { file, known: [] };
  const missing = 'there is no such file; --update-baseline writes one of what fails now';
  return readBaseline(await readText(file, `--baseline ${file}`, { ENOENT: missing }), file);
}

/** What an entry of a baseline comes to in a run. */
type Standing =
  | { readonly kind: 'known'; readonly reason: string }
  /** A mistake in the baseline, which fails the run. */
  | { readonly kind: 'wrong'; readonly words: string }
  /** The run cannot say whether the requirement still fails. */
  | { readonly kind: 'open'; readonly why: string };

/**
 * Failures that the baseline lists with a reason stay failed, but no longer fail the run. Mistakes in the
 * baseline do.
 *
 * @param ids of every requirement
 */
export function withBaseline(
  record: RunRecord,
  { file, known }: ReadBaseline,
  ids: readonly string[],
): RunRecord {
  const rows = new Map(record.requirements.map((row) => [row.id, row]));
  const firsts = new Map(known.toReversed().map((entry) => [entry.id, entry]));
  const reasons = new Map<string, string>();
  const wrong: string[] = [];
  const open: string[] = [];
  for (const entry of known) {
    const standing = standingOf(entry, firsts.get(entry.id)!, rows.get(entry.id), ids);
    if (standing.kind === 'known') reasons.set(entry.id, standing.reason);
    else if (standing.kind === 'wrong') wrong.push(`${file}:${entry.line}: ${entry.id}: ${standing.words}`);
    else open.push(`${entry.id} (${standing.why})`);
  }
  const requirements = record.requirements.map((row): RequirementResult => {
    const reason = reasons.get(row.id);
    return row.outcome === 'failed' && reason !== undefined ? { ...row, baseline: reason } : row;
  });
  return {
    ...record,
    notes: [
      ...record.notes,
      ...(open.length === 0 ? [] : [`In the baseline, and not judged by this run: ${open.join(', ')}`]),
    ],
    baseline: {
      file,
      verdict: verdictOf(
        requirements.map((row) => (isKnownFailure(row) ? asIfPassed(row) : row)),
        record.interrupted,
      ),
      wrong,
    },
    requirements,
  };
}

function standingOf(
  entry: BaselineEntry,
  first: BaselineEntry,
  row: RequirementResult | undefined,
  ids: readonly string[],
): Standing {
  const { id, reason = '' } = entry;
  if (!ids.includes(id))
    return { kind: 'wrong', words: `there is no such requirement${didYouMean(id, ids)}` };
  if (first !== entry)
    return { kind: 'wrong', words: `stands on line ${first.line} already: remove one of them` };
  if (row !== undefined && passesNow(row))
    return { kind: 'wrong', words: 'passes now: remove it (--update-baseline does)' };
  if (reason.trim() === '')
    return { kind: 'wrong', words: 'has no reason: write why it is known to fail, or mend what fails' };
  if (row === undefined) return { kind: 'open', why: 'not selected' };
  switch (row.outcome) {
    case 'failed':
      return { kind: 'known', reason };
    case 'passed':
      return { kind: 'open', why: `passed on ${row.cases} of ${row.planned} inputs only` };
    case 'inconclusive':
    case 'excluded':
      return { kind: 'open', why: `${row.outcome}: ${row.reason}` };
    case 'observed':
    case 'broken':
      return { kind: 'open', why: row.outcome };
  }
}

/** A pass on fewer inputs than planned does not show that a failure is gone. */
const passesNow = (row: RequirementResult) => row.outcome === 'passed' && row.planned === undefined;

const asIfPassed = ({ id, level, clause, title, cases }: RequirementResult): RequirementResult => ({
  id,
  level,
  clause,
  title,
  cases,
  outcome: 'passed',
});

/**
 * The baseline of what fails now. Drops what passes; keeps every reason and what this run could not judge.
 * A new failure gets the reason `""`, which fails each run until somebody writes one.
 *
 * @param strict whether a failed recommended requirement fails the run
 */
export function updated({ requirements }: RunRecord, { known }: ReadBaseline, strict: boolean) {
  const passing = new Set(requirements.filter(passesNow).map(({ id }) => id));
  const kept = new Map<string, KnownFailure>();
  for (const { id, reason = '' } of known)
    if (!passing.has(id) && (kept.get(id)?.reason ?? '').trim() === '') kept.set(id, { id, reason });
  const added = requirements.filter(
    ({ id, outcome, level }) =>
      outcome === 'failed' && !kept.has(id) && (level === 'required' || (strict && level === 'recommended')),
  );
  return {
    added: added.length,
    removed: known.length - kept.size,
    known: [...kept.values(), ...added.map(({ id }) => ({ id, reason: '' }))],
  };
}

/** One entry per line, for short diffs. */
export function renderBaseline(known: readonly KnownFailure[], schema?: string): string {
  const lines = known.map(
    ({ id, reason }) => `    { "id": ${JSON.stringify(id)}, "reason": ${JSON.stringify(reason)} }`,
  );
  return [
    '{',
    ...(schema === undefined ? [] : [`  "$schema": ${JSON.stringify(schema)},`]),
    '  "format": "ib-conformance/baseline/1",',
    ...(lines.length === 0 ? ['  "known": []'] : ['  "known": [', lines.join(',\n'), '  ]']),
    '}',
    '',
  ].join('\n');
}
