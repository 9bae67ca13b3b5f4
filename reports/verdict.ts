import type {
  Failed,
  Inconclusive,
  Level,
  RequirementResult,
  RunRecord,
} from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { contradictionRemark, limitSentences, needWords } from './limits.ts';
import { isLowStrength, narrowedBy, strengthSentences, describeStrength } from './strength.ts';
import { compact, printable, plural, shellQuoted, shellWord } from './text.ts';

const MAX_IDS = 6;

/**
 * Returns the conclusion of a run in sentences: first the verdict with its numbers, then failures, warnings,
 * our own bugs, and all unverified requirements with their reasons. Every requirement is verified, named, or
 * counted under its reason.
 *
 * The ids and reasons in the sentences are not escaped: escape them for the output format.
 *
 * @param most maximum number of ids of each reason for what was not verified; the sentence counts the rest
 */
export function conclusion(record: RunRecord, most = MAX_IDS): readonly [string, ...string[]] {
  const rows = record.requirements;
  const at = (level: Level) => rows.filter((row) => row.level === level);
  const [required, recommended, observed] = [at('required'), at('recommended'), at('observed')];
  const ids = (chosen: Rows) => shorten(idsOf(chosen), MAX_IDS);
  const isNewFailure = (row: RequirementResult) => row.outcome === 'failed' && !isKnownFailure(row);
  const wrong = record.baseline?.wrong ?? [];
  const bugs = rows.filter(({ outcome }) => outcome === 'broken');
  const sentences = [
    headline(record, required, recommended),
    ...sentence('failed', ids(required.filter(isNewFailure))),
    ...sentence('warnings', ids([...recommended, ...observed].filter(isNewFailure))),
    ...sentence('known failures', ids(rows.filter(isKnownFailure))),
    ...wrong.map((words) => `the baseline fails the run: ${words}`),
    ...sentence('broken (a bug of ib-conformance, not of the target)', ids(bugs)),
    ...sentence(
      'not verified',
      [...unverifiedIds(required, '', most), ...unverifiedIds(recommended, ', recommended', most)],
      '; ',
    ),
    ...sentence('not observed', unverifiedIds(observed, '', most), '; '),
    ...unprovedSentence(rows, most),
    ...limitSentences(record),
    ...strengthSentences(record, most),
  ] as const;
  return sentences.some((words) => / more requirements?\b/.test(words))
    ? [...sentences, PLACE_OF_LISTS]
    : sentences;
}

const PLACE_OF_LISTS = 'whole lists: requirements in the json report, by outcome and reason';

/** Lists results that a server without the data would also have. */
function unprovedSentence(rows: Rows, most: number): readonly string[] {
  const ids = idsOf(rows.filter((row) => row.outcome === 'passed' && row.basis === 'fixture'));
  const subject = `${ids.length} not proved by this run (a server without this data would also pass)`;
  return sentence(subject, shorten(ids, most));
}

/** Renders the headline of the conclusion as a line of at most 200 columns. */
export const renderVerdict = (record: RunRecord): string => `${printable(conclusion(record)[0], 200)}\n`;

type Rows = readonly RequirementResult[];
const idsOf = (rows: Rows) => rows.map(({ id }) => id);

const sentence = (subject: string, names: readonly string[], between = ', '): readonly string[] =>
  names.length === 0 ? [] : [`${subject}: ${names.join(between)}`];

/** `conformant: 41 of 43 required verified, 12 of 12 recommended`, with the strength if it is low */
function headline(record: RunRecord, required: Rows, recommended: Rows): string {
  const countOf = (wanted: RequirementResult['outcome'], rows: Rows) =>
    rows.filter(({ outcome }) => outcome === wanted).length;
  const [verified, failed] = [countOf('passed', required), countOf('failed', required)];
  const numbers = compact(
    failed > 0 && `${failed} of ${required.length} required failed, ${verified} verified`,
    failed === 0 && required.length > 0 && `${verified} of ${required.length} required verified`,
    recommended.length > 0 && `${countOf('passed', recommended)} of ${recommended.length} recommended`,
  );
  const stopped = record.interrupted
    ? `, interrupted after ${plural(record.requests, 'request')}, strength ${record.strength ?? 0}`
    : '';
  return `${verdictWords(record)}${stopped}: ${numbers.length > 0 ? numbers.join(', ') : 'nothing was checked'}`;
}

/** Returns the verdict, or what it would be without the known failures. */
function verdictWords(record: RunRecord): string {
  const { verdict, baseline, requirements } = record;
  const remarks = compact(
    narrowedBy(record),
    !record.interrupted &&
      (baseline?.verdict ?? verdict) !== 'nonconformant' &&
      isLowStrength(record) &&
      describeStrength(record),
    contradictionRemark(record),
  );
  const remark = remarks.length === 0 ? '' : ` (${remarks.join('; ')})`;
  if (baseline === undefined || baseline.verdict === verdict) return `${verdict}${remark}`;
  const known = requirements.filter((row) => row.level === 'required' && isKnownFailure(row)).length;
  return `${baseline.verdict} but for ${plural(known, 'known failure')}${remark}`;
}

/** Lists unverified rows by reason: `an/id, 3 more requirements (no-fixture)`. */
const unverifiedIds = (rows: Rows, remark: string, most: number): readonly string[] =>
  [...byReason(rows)].map(
    ([reason, open]) => `${shorten(idsOf(open), most).join(', ')} (${reason}${remark})`,
  );

/** Groups unverified rows by reason, without failed and broken rows. */
export const byReason = (rows: Rows): ReadonlyMap<string, Rows> => grouped(rows, unverifiedReason);

/** Groups values by key, without those that have none. Node 20 has no `Map.groupBy`. */
export function grouped<T>(values: readonly T[], keyOf: (value: T) => string | undefined) {
  const groups = new Map<string, [T, ...T[]]>();
  for (const value of values) {
    const key = keyOf(value);
    if (key !== undefined && groups.get(key)?.push(value) === undefined) groups.set(key, [value]);
  }
  return groups;
}

function unverifiedReason(row: RequirementResult): string | undefined {
  if (row.outcome === 'inconclusive' || row.outcome === 'excluded') return row.reason;
  return row.outcome === 'observed' && row.level !== 'observed' ? 'only observed' : undefined;
}

/** Returns at most `most` items: the first ids, and the number of the others. */
export function shorten(ids: readonly string[], most: number): readonly string[] {
  if (ids.length <= most) return ids;
  const named = ids.slice(0, Math.max(1, most - 1));
  return [...named, plural(ids.length - named.length, 'more requirement')];
}

/** Fixes for unverified requirements, by the code of the reason. The first that applies is the next step. */
export const fixes = {
  interrupted: 'run again without interrupting',
  'key-refused': 'check that the target has the first active key of the fixture',
  network: 'check in the log of the target why connections break',
  timeout: 'check why the target is slow, or double --timeout (default: 5000)',
  budget: 'raise the bound that was reached; doctor shows what is enough',
  'rate-limited':
    'add active keys of the partner, give the run more time, or raise the limits of the key on a test system',
  flaky: 'check why the target gives different answers to the same request',
  'no-second-key': 'add an active key of another partner to the fixture',
  'no-fixture': 'add the missing data, named above, to the fixture',
  'not-compared': 'give the run more time, or the test system a shorter window',
  'timing-window': 'run closer to the target, or on a test system with a longer window',
  'limit-not-reached': 'state the limit in the fixture, or check that the limiter of the target is on',
  'fixture-outdated': 'restart the target with the data of the fixture',
  'state-hook': 'check why the state hook did not change the target',
  'no-state-hook': 'give --state-url to verify the rest (docs/state-hook.md)',
  depends: 'fix the failed requirements first',
  'not-seen': 'check why no answer arrived that this requirement applies to',
  skipped: 'omit --skip or --concurrency 1',
} as const satisfies Record<string, string>;

/** Returns the fix for a reason; undefined for an unknown reason, for example of a newer version. */
export function fixOf(reason: string): string | undefined {
  return Object.hasOwn(fixes, reason) ? fixes[reason as keyof typeof fixes] : undefined;
}

/** Reasons without a next step: another requirement fails first, or the user chose it. */
const minor: ReadonlySet<string> = new Set(['depends', 'not-compared', 'not-seen', 'skipped']);

/** The next step of a reader: a command to copy, or words. */
type Step = { readonly command: string } | { readonly words: string };

/**
 * Returns the next step of the reader. Required requirements come first, then warnings, then excluded
 * requirements.
 */
export function nextStep(record: RunRecord): Step {
  const { requirements, counts, rerun = '', mock, baseline } = record;
  if (counts.broken > 0)
    return { words: 'report the bug of ib-conformance with its run record (--report json=run.json)' };
  const firstReason = (rows: Rows, isMinor = false) => {
    const reasons = byReason(rows);
    return Object.keys(fixes).find((reason) => reasons.has(reason) && minor.has(reason) === isMinor);
  };
  const open = requirements.filter(({ outcome }) => outcome === 'inconclusive');
  // If the key is refused, no other result is meaningful.
  if (byReason(open).has('key-refused')) return stepFor(record, 'key-refused');
  for (const level of ['required', 'recommended', 'observed'] as const) {
    const isNew = (row: RequirementResult): row is Failed =>
      row.level === level && row.outcome === 'failed' && !isKnownFailure(row);
    const failed = requirements.find(isNew);
    if (failed !== undefined && isKeyRefused(failed)) return stepFor(record, 'key-refused');
    const command = failed && replayCommand(record, failed);
    if (command !== undefined) return { command };
    if (failed !== undefined) return { words: `fix ${failed.id}, and verify again` };
    const reason = firstReason(open.filter((row) => row.level === level));
    if (reason !== undefined) return stepFor(record, reason);
  }
  if (baseline !== undefined && baseline.wrong.length > 0)
    return { words: `correct ${baseline.file} as the lines above say` };
  if (mock === true) return { command: `${/^npx /.exec(rerun)?.[0] ?? ''}ib-conformance init` };
  const left = firstReason(requirements);
  if (left !== undefined) return stepFor(record, left);
  if (isLowStrength(record)) return stepFor(record, 'budget');
  const rest = firstReason(
    requirements.filter(({ level }) => level !== 'observed'),
    true,
  );
  if (rest !== undefined) return stepFor(record, rest);
  return narrowedBy(record) === undefined
    ? { words: 'nothing: everything was verified' }
    : stepFor(record, 'skipped');
}

/** Whether a failure looks as if the target does not have the key: a 401 under any condition, where none is right. */
const isKeyRefused = ({ counterexample, expected, where = [] }: Failed): boolean =>
  counterexample?.response?.status === 401 && !expected.includes('401') && where.length === 0;

const again = (rerun: string) => rerun;
const doctor = (rerun: string) =>
  rerun.replace(' verify ', ' doctor ').replaceAll(/ --(?:cases|limits|grace) \S+/g, '');
/** `doctor` shows what a fixture lacks. It needs a target, and a fixture that can be changed. */
const doctorOfFixture = (rerun: string) =>
  / verify '?https?:.* --fixture /.test(rerun) ? doctor(rerun) : undefined;

/** Commands that show what to fix, by reason, from the command of the run. */
const commands: Readonly<Record<string, (rerun: string) => string | undefined>> = {
  interrupted: again,
  skipped: again,
  'key-refused': doctor,
  'state-hook': doctor,
  'no-second-key': doctorOfFixture,
  'no-fixture': doctorOfFixture,
};

function stepFor(record: RunRecord, reason: string): Step {
  const command = record.rerun === undefined ? undefined : commands[reason]?.(record.rerun);
  return command === undefined ? { words: boundFor(record, reason) ?? fixOf(reason)! } : { command };
}

/** The bound that lets a run get further, with its value; undefined if another reason stopped it. */
function boundFor(record: RunRecord, reason: string): string | undefined {
  const { needs = [], durationMs, rerun = '', requirements } = record;
  if (reason !== 'budget' && reason !== 'rate-limited') return undefined;
  const [need] = needs;
  const isOverBy = (bound: string) =>
    requirements.some((one) => 'words' in one && one.words.startsWith(`${bound} was reached`));
  const isOutOfRequests = isOverBy('--max-requests');
  if (need !== undefined) return needWords(need, isOutOfRequests || undefined);
  const [given] = / --cases \d+/.exec(rerun) ?? [];
  const isOver = isOutOfRequests || isOverBy('--max-duration');
  if (reason === 'budget' && given !== undefined && !isOver) return `omit${given}`;
  const longer = `give the run more time (--max-duration ${Math.max(1, Math.ceil((2 * durationMs) / 60_000))}m)`;
  return reason === 'budget'
    ? longer
    : `${longer}, add active keys of the partner, or raise the limits of the key`;
}

/**
 * Returns the command that checks one requirement again: with the failed input if the record has its
 * path, else with the same seed. Undefined if the record has no command of the run.
 */
export function replayCommand(record: RunRecord, result: Failed | Inconclusive): string | undefined {
  if (record.rerun === undefined) return undefined;
  const { seed, path } = result.replay ?? { seed: record.seed, path: undefined };
  return compact(
    record.rerun,
    `--only ${shellWord(result.id)}`,
    `--seed ${seed}`,
    path !== undefined && `--replay ${shellQuoted(path)}`,
  ).join(' ');
}
