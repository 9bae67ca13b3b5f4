import type {
  Failed,
  Inconclusive,
  Level,
  RequirementResult,
  RunRecord,
} from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { isLowStrength, narrowedBy, strengthSentences, describeStrength } from './strength.ts';
import { present, printable, several, shellQuoted, shellWord } from './text.ts';

const MAX_IDS = 6;

/**
 * What a run comes to, in sentences: the verdict with its numbers first, then what failed, what warns,
 * what is our own bug, and all that was not verified, with the reason. No requirement is left out: it
 * is verified, or named, or counted under its reason.
 *
 * The sentences hold ids and reasons as the record has them: escape them for where they go.
 *
 * @param most ids of a kind that a sentence names; the rest it counts
 */
export function conclusion(record: RunRecord, most = MAX_IDS): readonly [string, ...string[]] {
  const rows = record.requirements;
  const at = (level: Level) => rows.filter((row) => row.level === level);
  const [required, recommended, observed] = [at('required'), at('recommended'), at('observed')];
  const ids = (chosen: Rows) => shortened(idsOf(chosen), most);
  const isNewFailure = (row: RequirementResult) => row.outcome === 'failed' && !isKnownFailure(row);
  const wrong = record.baseline?.wrong ?? [];
  const bugs = rows.filter(({ outcome }) => outcome === 'broken');
  return [
    headline(record, required, recommended),
    ...sentence('failed', ids(required.filter(isNewFailure))),
    ...sentence('warnings', ids([...recommended, ...observed].filter(isNewFailure))),
    ...sentence('known failures', ids(rows.filter(isKnownFailure))),
    ...wrong.map((words) => `the baseline fails the run: ${words}`),
    ...sentence('broken (a bug of ib-conformance, not of the target)', ids(bugs)),
    ...sentence('not verified', [
      ...openIds(required, '', most),
      ...openIds(recommended, ', recommended', most),
    ]),
    ...sentence('not observed', openIds(observed, '', most)),
    ...onWord(rows, most),
    ...strengthSentences(record, most),
  ];
}

/** Results that a server without the data would show as well. */
function onWord(rows: Rows, most: number): readonly string[] {
  const ids = idsOf(rows.filter((row) => row.outcome === 'passed' && row.basis === 'fixture'));
  const subject = `${ids.length} not proved by this run (a server without this data would also pass)`;
  return sentence(subject, shortened(ids, most));
}

/** The headline of the conclusion as a line of at most 200 columns. */
export const renderVerdict = (record: RunRecord): string => `${printable(conclusion(record)[0], 200)}\n`;

type Rows = readonly RequirementResult[];
const idsOf = (rows: Rows) => rows.map(({ id }) => id);

const sentence = (subject: string, names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`${subject}: ${names.join(', ')}`];

/** `conformant: 41 of 43 required verified, 12 of 12 recommended`, with the strength where that is low */
function headline(record: RunRecord, required: Rows, recommended: Rows): string {
  const having = (wanted: RequirementResult['outcome'], rows: Rows) =>
    rows.filter(({ outcome }) => outcome === wanted).length;
  const [verified, failed] = [having('passed', required), having('failed', required)];
  const numbers = present(
    failed > 0 && `${failed} of ${required.length} required failed, ${verified} verified`,
    failed === 0 && required.length > 0 && `${verified} of ${required.length} required verified`,
    recommended.length > 0 && `${having('passed', recommended)} of ${recommended.length} recommended`,
  );
  const stopped = record.interrupted ? ', interrupted' : '';
  return `${verdictWords(record)}${stopped}: ${numbers.length > 0 ? numbers.join(', ') : 'nothing was checked'}`;
}

/** The verdict, or what it would be without the failures that the baseline knows. */
function verdictWords(record: RunRecord): string {
  const { verdict, baseline, requirements } = record;
  const remarks = present(
    narrowedBy(record),
    (baseline?.verdict ?? verdict) !== 'nonconformant' && isLowStrength(record) && describeStrength(record),
  );
  const remark = remarks.length === 0 ? '' : ` (${remarks.join('; ')})`;
  if (baseline === undefined || baseline.verdict === verdict) return `${verdict}${remark}`;
  const known = requirements.filter((row) => row.level === 'required' && isKnownFailure(row)).length;
  return `${baseline.verdict} but for ${several(known, 'known failure')}${remark}`;
}

/** Rows without a verdict, as `id (reason)`; the later ones of a reason as `3 more (reason)`. */
function openIds(rows: Rows, remark: string, most: number): readonly string[] {
  return [...byReason(rows)].flatMap(([reason, open]) =>
    shortened(idsOf(open), most).map((id) => `${id} (${reason}${remark})`),
  );
}

/** Rows that were not verified, by the reason. Those that failed or broke are not among them. */
export function byReason(rows: Rows): ReadonlyMap<string, Rows> {
  return grouped(
    rows.filter((row) => openReason(row) !== undefined),
    (row) => openReason(row)!,
  );
}

/** Values by a key, in the order of the first of each. Node 20 has no `Map.groupBy`. */
export function grouped<T>(
  values: readonly T[],
  keyOf: (value: T) => string,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group === undefined) groups.set(keyOf(value), [value]);
    else group.push(value);
  }
  return groups;
}

function openReason(row: RequirementResult): string | undefined {
  if (row.outcome === 'inconclusive' || row.outcome === 'excluded') return row.reason;
  return row.outcome === 'observed' && row.level !== 'observed' ? 'only observed' : undefined;
}

/** The first ids, `most` in all with the number of the others. */
export function shortened(ids: readonly string[], most: number): readonly string[] {
  if (ids.length <= most) return ids;
  return most < 2 ? [`${ids.length}`] : [...ids.slice(0, most - 1), `${ids.length - most + 1} more`];
}

/** What helps where a requirement was not verified, by the code of the reason. The first that applies is the next step. */
export const remedies = {
  interrupted: 'run again without interrupting',
  'key-refused': 'check that the target has the first active key of the fixture',
  network: 'check in the log of the target why connections break',
  timeout: 'check why the target is slow, or raise --timeout',
  budget: 'raise --max-duration, --max-requests or --cases, or add a second active key of the partner',
  'rate-limited':
    'state the limits in the fixture, add active keys of the partner, raise --max-duration, or raise the limits on a test system',
  flaky: 'check why the target gives different answers to the same request',
  'timing-window': 'run closer to the target, without --rate, or on a test system with a longer window',
  'limit-not-reached': 'state the threshold under limits in the fixture, or lower it on a test system',
  'fixture-outdated': 'restart the target with the data of the fixture',
  'no-second-key': 'add an active key of another partner to the fixture',
  'no-fixture': 'add the missing data, named above, to the fixture',
  'not-recorded': 'verify the target again',
  'state-hook': 'check why the state hook did not change the target',
  'no-state-hook': 'give --state-url to verify the rest',
  depends: 'fix the failed requirements first',
  'not-seen': 'check why no answer arrived that this requirement applies to',
  skipped: 'omit --skip or --concurrency 1',
} as const satisfies Record<string, string>;

/** The remedy for a reason; undefined for an unknown reason, which a newer version may have written. */
export function remedyOf(reason: string): string | undefined {
  return Object.hasOwn(remedies, reason) ? remedies[reason as keyof typeof remedies] : undefined;
}

/** Reasons that need no step of their own: another requirement fails first, or the user wanted it so. */
const minor: ReadonlySet<string> = new Set(['depends', 'not-seen', 'skipped']);

/**
 * What a reader of the report does next: a command to copy, or words; undefined where nothing is left to do.
 * What is required comes before what only warns, and what was left out comes last.
 */
export function nextStep(record: RunRecord) {
  const { requirements, counts } = record;
  if (counts.broken > 0)
    return { words: 'report the bug of ib-conformance with its run record (--report json=run.json)' };
  const remedyFor = (rows: Rows) => {
    const reasons = byReason(rows);
    return Object.keys(remedies).find((reason) => reasons.has(reason) && !minor.has(reason));
  };
  const open = requirements.filter(({ outcome }) => outcome === 'inconclusive');
  // While the key is refused, no other result means anything.
  if (byReason(open).has('key-refused')) return { words: remedies['key-refused'] };
  for (const level of ['required', 'recommended', 'observed'] as const) {
    const isNew = (row: RequirementResult): row is Failed =>
      row.level === level && row.outcome === 'failed' && !isKnownFailure(row);
    const failed = requirements.find(isNew);
    const command = failed && replayCommand(record, failed);
    if (command !== undefined) return { command };
    const reason = remedyFor(open.filter((row) => row.level === level));
    if (reason !== undefined) return { words: remedyOf(reason)! };
  }
  const left = remedyFor(requirements);
  if (left !== undefined) return { words: remedyOf(left)! };
  return isLowStrength(record)
    ? { words: 'raise --max-duration, --max-requests, --rate or --cases to reach strength 2' }
    : undefined;
}

/**
 * The command that checks one requirement again: with the input that failed where the record has its
 * path, else with the same seed. Undefined where the record does not say how it was run.
 */
export function replayCommand(record: RunRecord, result: Failed | Inconclusive): string | undefined {
  if (record.rerun === undefined) return undefined;
  const { seed, path } = result.replay ?? { seed: record.seed, path: undefined };
  return present(
    record.rerun,
    `--only ${shellWord(result.id)}`,
    `--seed ${seed}`,
    path !== undefined && `--replay ${shellQuoted(path)}`,
  ).join(' ');
}
