import type { Failed, KnownFailure, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { didYouMean } from '../schemas/problem.ts';
import type { BaselineEntry, ReadBaseline } from '../schemas/records.ts';
import { verdictOf } from '../suites/index.ts';

/** What an entry of a baseline comes to in a run. */
type Standing =
  | { readonly kind: 'known'; readonly reason: string }
  /** Fails the run; the words say what mends it. */
  | { readonly kind: 'wrong'; readonly words: string }
  /** The run cannot say whether it still fails. */
  | { readonly kind: 'open'; readonly why: string };

/**
 * Holds a run against the failures that are known: those that stand in the baseline with a reason no
 * longer fail the run, and stay failed. What is wrong with the baseline fails it.
 *
 * @param ids of every requirement that there is
 */
export function holdAgainst(
  record: RunRecord,
  { file, known }: ReadBaseline,
  ids: readonly string[],
): RunRecord {
  const rows = new Map(record.requirements.map((row) => [row.id, row]));
  const firsts = new Map(known.toReversed().map((entry) => [entry.id, entry]));
  const standings = known.map((entry) => ({ entry, standing: standingOf(entry, firsts, rows, ids) }));
  const reasons = new Map(
    standings.flatMap(({ entry, standing }) =>
      standing.kind === 'known' ? [[entry.id, standing.reason] as const] : [],
    ),
  );
  const open = standings.flatMap(({ entry, standing }) =>
    standing.kind === 'open' ? [`${entry.id} (${standing.why})`] : [],
  );
  const requirements = record.requirements.map((row) => withReason(row, reasons.get(row.id)));
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
      wrong: standings.flatMap(({ entry, standing }) =>
        standing.kind === 'wrong' ? [`${file}:${entry.line}: ${entry.id}: ${standing.words}`] : [],
      ),
    },
    requirements,
  };
}

function standingOf(
  entry: BaselineEntry,
  firsts: ReadonlyMap<string, BaselineEntry>,
  rows: ReadonlyMap<string, RequirementResult>,
  ids: readonly string[],
): Standing {
  const { id, reason = '' } = entry;
  if (!ids.includes(id))
    return { kind: 'wrong', words: `there is no such requirement${didYouMean(id, ids)}` };
  const first = firsts.get(id)!;
  if (first !== entry)
    return { kind: 'wrong', words: `stands on line ${first.line} already: remove one of them` };
  const row = rows.get(id);
  if (row !== undefined && isMended(row))
    return { kind: 'wrong', words: 'passes now: remove it (--update-baseline does)' };
  if (reason.trim() === '')
    return { kind: 'wrong', words: 'has no reason: write why it is known to fail, or mend what fails' };
  if (row?.outcome === 'failed') return { kind: 'known', reason };
  return { kind: 'open', why: row === undefined ? 'not selected' : whyOpen(row) };
}

/** A pass on fewer inputs than were asked for does not show that a failure is gone. */
const isMended = (row: RequirementResult) => row.outcome === 'passed' && row.planned === undefined;

function whyOpen(row: Exclude<RequirementResult, Failed>): string {
  switch (row.outcome) {
    case 'passed':
      return `passed on ${row.cases} of ${row.planned} inputs only`;
    case 'inconclusive':
    case 'excluded':
      return `${row.outcome}: ${row.reason}`;
    case 'observed':
    case 'broken':
      return row.outcome;
  }
}

function withReason(row: RequirementResult, reason: string | undefined): RequirementResult {
  return row.outcome === 'failed' && reason !== undefined ? { ...row, baseline: reason } : row;
}

const asIfPassed = ({ id, level, clause, title, cases }: RequirementResult): RequirementResult => ({
  id,
  level,
  clause,
  title,
  cases,
  outcome: 'passed',
});

/**
 * The baseline of what fails now. What passes is gone; what this run could not judge stays, and every
 * reason with it; a new failure has the reason `""`, which fails each run until somebody writes it.
 *
 * @param strict whether a recommended requirement that fails does fail the run
 */
export function updated({ requirements }: RunRecord, { known }: ReadBaseline, strict: boolean) {
  const mended = new Set(requirements.filter(isMended).map(({ id }) => id));
  const kept = new Map<string, KnownFailure>();
  for (const { id, reason = '' } of known)
    if (!mended.has(id) && (kept.get(id)?.reason ?? '').trim() === '') kept.set(id, { id, reason });
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

/** A baseline as a file: an entry a line, so that each is taken out or in by its line. */
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
