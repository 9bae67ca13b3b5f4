import { existsSync } from 'node:fs';
import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import type {
  Baseline,
  Failed,
  KnownFailure,
  RequirementResult,
  RunRecord,
} from '../schemas/generated/types.ts';
import { isKnownFailure } from '../reports/judgement.ts';
import { didYouMean, wrongUsage, collectProblems } from '../schemas/problem.ts';
import { catalogue, verdictOf } from '../suites/index.ts';
import { readText, shownName, type Input } from './input-files.ts';
import { prepareFile } from './output-files.ts';
import validateBaseline from '../schemas/generated/baseline.cjs';
import { parseJson, schemaProblems } from '../schemas/json.ts';
import { defined } from '../schemas/values.ts';

/**
 * Reads the baseline file that the flags name, before the run. `apply` applies it to a record; with
 * --update-baseline, it also returns the new text of the file for `save`.
 *
 * @throws Problem with code `usage` for contradictory flags and an invalid file
 */
export async function openBaseline(
  flags: {
    readonly baseline?: string | undefined;
    readonly updateBaseline?: boolean;
    readonly replay?: object | undefined;
    readonly strict: boolean;
  },
  input: Input,
) {
  const { baseline: file, updateBaseline: isUpdate = false, strict } = flags;
  if (file === undefined) {
    if (isUpdate) throw wrongUsage('--update-baseline needs --baseline with the file to write');
    return { apply: (record: RunRecord) => ({ record, text: undefined }), save: async () => {} };
  }
  if (isUpdate && file === '-') throw wrongUsage('--update-baseline needs --baseline with a file, not -');
  if (flags.replay !== undefined) throw wrongUsage('--replay checks one failure only: omit --baseline');
  const ids = catalogue.map(({ id }) => id);
  const before = await load(file, isUpdate, input);
  const prepare = () => prepareFile(file, 'the baseline');
  // Fails before the run if the file cannot be written.
  if (isUpdate) await (await prepare()).discard();
  return {
    apply: (record: RunRecord) => {
      if (!isUpdate) return { record: applyBaseline(record, before, ids), text: undefined };
      const { known, added, removed } = updateBaseline(record, before, strict);
      const text = renderBaseline(known, before.schema);
      const note = `Baseline ${before.file}: ${added} added, ${removed} removed, ${known.length - added} kept.`;
      const noted = { ...record, notes: [...record.notes, note] };
      return { record: applyBaseline(noted, readBaseline(text, before.file), ids), text };
    },
    save: async (text?: string) => {
      if (text !== undefined) await (await prepare()).write(text);
    },
  };
}

async function load(file: string, mayBeMissing: boolean, input: Input): Promise<BaselineFile> {
  if (mayBeMissing && !existsSync(file)) return { file, known: [] };
  const missing = 'there is no such file; --update-baseline writes one with the current failures';
  const text = await readText(file, input, { what: `--baseline ${file}`, messages: { ENOENT: missing } });
  return readBaseline(text, shownName(file));
}

/**
 * Marks known failures in a record. A failure that the baseline lists with a reason does not fail the run.
 * A mistake in the baseline does.
 *
 * @param ids of every requirement
 */
export function applyBaseline(record: RunRecord, { file, known }: BaselineFile, ids: readonly string[]) {
  const rows = new Map(record.requirements.map((row) => [row.id, row]));
  const firsts = new Map(known.toReversed().map((entry) => [entry.id, entry]));
  const reasons = new Map<string, string>();
  const wrong: string[] = [];
  const open: string[] = [];
  const vague: string[] = [];
  for (const entry of known) {
    const { id, line, reason = '' } = entry;
    const row = rows.get(id);
    const mistake = mistakeIn(entry, firsts.get(id)!, row, ids);
    if (mistake !== undefined) wrong.push(`${file}:${line}: ${id}: ${mistake}`);
    else if (row?.outcome === 'failed') {
      reasons.set(id, reason);
      if (entry.differs === undefined) vague.push(id);
    } else open.push(`${id} (${whyNotJudged(row)})`);
  }
  const requirements = record.requirements.map((row): RequirementResult => {
    const reason = reasons.get(row.id);
    return row.outcome === 'failed' && reason !== undefined ? { ...row, baseline: reason } : row;
  });
  const notes = [
    ...(open.length === 0 ? [] : [`In the baseline, but not checked by this run: ${open.join(', ')}`]),
    ...(vague.length === 0
      ? []
      : [`${file} accepts any failure of ${vague.join(', ')}: --update-baseline adds how each fails`]),
  ];
  const judged = requirements.map((row): RequirementResult => {
    const { id, level, clause, title, cases } = row;
    return isKnownFailure(row) ? { id, level, clause, title, cases, outcome: 'passed' } : row;
  });
  return {
    ...record,
    notes: [...record.notes, ...notes],
    verdict: wrong.length > 0 ? 'nonconformant' : verdictOf(judged, record),
    baseline: { file, wrong },
    requirements,
  };
}

/** @param first the first entry with the same id */
function mistakeIn(
  entry: BaselineFile['known'][number],
  first: typeof entry,
  row: RequirementResult | undefined,
  ids: readonly string[],
): string | undefined {
  const { id, reason = '' } = entry;
  if (!ids.includes(id)) return `there is no such requirement${didYouMean(id, ids)}`;
  if (first !== entry) return `is already on line ${first.line}: remove one of them`;
  if (row?.outcome === 'passed') return 'passes now: remove it (--update-baseline does)';
  const { differs } = entry;
  const now = row?.outcome === 'failed' ? differenceOf(row) : undefined;
  if (differs !== undefined && now !== undefined && now !== differs)
    return `fails in another way now: ${now} (known: ${differs}); --update-baseline writes it, without the reason; an entry without "differs" accepts any`;
  return reason.trim() === ''
    ? 'has no reason: state why it is known to fail, or fix the failure'
    : undefined;
}

const MAX_DIFFERENCE = 120;

/** How a requirement fails, without what other lookups or seeds change: ids, dates and numbers but the status. */
const differenceOf = ({ aspect, actual }: Failed): string =>
  `${aspect}: ${actual
    .replaceAll(/[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/gi, 'id')
    .replaceAll(/^\d{3}\b|\d[\d.:+TZe-]*/g, (number, at) => (at === 0 ? number : '0'))
    .slice(0, MAX_DIFFERENCE)}`;

function whyNotJudged(row: RequirementResult | undefined): string {
  if (row === undefined) return 'not selected';
  return 'reason' in row ? `${row.outcome}: ${row.reason}` : row.outcome;
}

/**
 * Makes a baseline of the current failures. Drops entries that pass now; keeps the others with their reasons.
 * A new failure, or one that differs from before, gets the empty reason, which fails each run until somebody writes one.
 *
 * @param strict whether a failed recommended requirement fails the run
 */
export function updateBaseline({ requirements }: RunRecord, { known }: BaselineFile, strict: boolean) {
  const passing = new Set(requirements.filter(({ outcome }) => outcome === 'passed').map(({ id }) => id));
  const failing = new Map(
    requirements.flatMap((one) => (one.outcome === 'failed' ? [[one.id, differenceOf(one)] as const] : [])),
  );
  const kept = new Map<string, KnownFailure>();
  for (const { id, differs: before, reason = '' } of known) {
    const differs = failing.get(id) ?? before;
    const isOther = before !== undefined && differs !== before;
    if (!passing.has(id) && (kept.get(id)?.reason ?? '').trim() === '')
      kept.set(id, { id, ...defined({ differs }), reason: isOther ? '' : reason });
  }
  const added = requirements.filter(
    ({ id, outcome, level }) =>
      outcome === 'failed' && !kept.has(id) && (level === 'required' || (strict && level === 'recommended')),
  );
  return {
    added: added.length,
    removed: known.length - kept.size,
    known: [...kept.values(), ...added.map(({ id }) => ({ id, differs: failing.get(id)!, reason: '' }))],
  };
}

/** Writes one entry per line, for short diffs. */
function renderBaseline(known: readonly KnownFailure[], schema?: string): string {
  const baseline = { ...(schema && { $schema: schema }), format: 'ib-conformance/baseline/1', known };
  return `${JSON.stringify(baseline, undefined, 2).replaceAll(/\{\n +("id": [^]*?)\n +\}/g, (_, entry: string) => `{ ${entry.replaceAll(/\n +/g, ' ')} }`)}\n`;
}

/** A baseline file. */
export interface BaselineFile extends ReturnType<typeof readBaseline> {}

/**
 * Reads a baseline. Does not check its ids; the run does.
 *
 * @param file name of the file in messages
 * @returns entries in the order of the file, including repetitions, each with its line (from 1)
 * @throws Problem with code `usage`, a line for each problem with its place in the file
 */
export function readBaseline(text: string, file: string) {
  const value = parseJson(text, file, 'usage');
  const problems = collectProblems(file, 'usage');
  if (!validateBaseline(value)) problems.add(schemaProblems(validateBaseline.errors, 'the baseline'));
  problems.throwIfAny();
  const { $schema: schema, known } = value as Baseline;
  const plain = text.replace(/^\uFEFF/, '');
  const root = parseTree(plain)!;
  const lineOf = (index: number) => {
    const { offset } = findNodeAtLocation(root, ['known', index])!;
    return plain.slice(0, offset).split('\n').length;
  };
  return {
    file,
    ...(schema !== undefined && { schema }),
    known: known.map((entry, index) => ({ ...entry, line: lineOf(index) })),
  };
}
