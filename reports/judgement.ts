import type { RequirementResult, RunRecord, Failed, Loss } from '../schemas/generated/types.ts';
import { headlineText, type Report } from './document.ts';
import { compact, plural, count } from './text.ts';

/** How a run ended. Each ending has its own exit code. */
export type Ending = 'conformant' | 'nonconformant' | 'incomplete' | 'bug' | 'interrupted';

/** The judgement on a run, which every output shows. */
export type Judgement = Report['headline'] & {
  readonly ending: Ending;
  /** Whether the exit code is 0. */
  readonly isGreen: boolean;
};

/** The flags that make a run pass or fail. */
export interface Strictness {
  readonly strict: boolean;
  readonly allowIncomplete: boolean;
}

type Results = readonly RequirementResult[];

const styles = {
  conformant: { mark: '✓', emoji: '✅', tone: 'good' },
  nonconformant: { mark: '✗', emoji: '❌', tone: 'bad' },
  incomplete: { mark: '?', emoji: '❓', tone: 'unsure' },
  bug: { mark: '!', emoji: '❗', tone: 'ours' },
  interrupted: { mark: '?', emoji: '❓', tone: 'unsure' },
} as const satisfies Record<Ending, unknown>;

/** Returns the record with the flags that it is judged by. `strict` changes its verdicts. */
export function judgedBy(record: RunRecord, { strict, allowIncomplete }: Strictness): RunRecord {
  if (!strict) return { ...record, strict, allowIncomplete };
  const { verdict, requirements } = record;
  const isFailed = requirements.some((row) => failsRun({ strict }, row));
  const isShort = verdict === 'conformant' && lacksLevels(record);
  return {
    ...record,
    strict,
    allowIncomplete,
    verdict: isFailed ? 'nonconformant' : isShort ? 'incomplete' : verdict,
  };
}

type Strict = Pick<RunRecord, 'strict'>;

/** Whether the verdict depends on a requirement of this level. */
const isJudged = ({ strict }: Strict, { level }: RequirementResult): boolean =>
  level === 'required' || (strict === true && level === 'recommended');

/** Whether a row failed and the baseline has a reason for it. */
export const isKnownFailure = (row: RequirementResult): row is Failed & { readonly baseline: string } =>
  row.outcome === 'failed' && row.baseline !== undefined;

/** Whether a result makes the exit code 1. */
export const failsRun = (record: Strict, row: RequirementResult): boolean =>
  row.outcome === 'failed' && !isKnownFailure(row) && isJudged(record, row);

/** The outcome of a result in words: `passed`, `failed (--strict)`, `failed (warning only)`. */
export function outcomeWords(record: Strict, row: RequirementResult): string {
  if (row.outcome !== 'failed') return row.outcome;
  if (isKnownFailure(row)) return 'failed (known)';
  if (!failsRun(record, row)) return 'failed (warning only)';
  return row.level === 'required' ? 'failed' : 'failed (--strict)';
}

/** The reasons that --allow-incomplete excuses: missing data and time. Levels are no reason of a row. */
const excused: ReadonlySet<string> = new Set([
  'no-fixture',
  'no-second-key',
  'fixture-outdated',
  'budget',
  'rate-limited',
  'limit-not-reached',
  'not-compared',
  'timing-window',
]);

/** Whether --allow-incomplete excuses that a requirement is open. It never excuses what a lost target left open. */
export const isExcused = ({ allowIncomplete, targetLost }: RunRecord, row: RequirementResult): boolean =>
  allowIncomplete === true &&
  targetLost !== true &&
  row.outcome === 'inconclusive' &&
  excused.has(row.reason);

const lostWords = {
  'key-lost': 'a key stopped working',
  blocked: 'the target began to refuse everything',
  outage: 'the target stopped answering',
} as const satisfies Record<Loss['reason'], string>;

/** Judges a run. Exit code, headline and all reports come from here. */
export function judgementOf(record: RunRecord): Judgement {
  const { verdict, allowIncomplete, counts, interrupted, requirements, targetLost, losses } = record;
  const open = requirements.flatMap((row) =>
    row.level === 'required' && row.outcome === 'inconclusive' && !isExcused(record, row) ? [row.reason] : [],
  );
  const isAsked = verdict === 'incomplete' && allowIncomplete === true && counts.required.passed > 0;
  const isAccepted = isAsked && targetLost !== true && open.length === 0;
  const known = requirements.filter((row) => isKnownFailure(row) && isJudged(record, row)).length;
  const stop = interrupted ? 'interrupted' : counts.broken > 0 ? 'bug' : undefined;
  const ending = stop ?? (isAccepted ? 'conformant' : verdict);
  const starts = {
    interrupted: `interrupted after ${plural(record.requests, 'request')}`,
    bug: 'a bug of ib-conformance',
  };
  const but = verdict === 'nonconformant' || known === 0 ? '' : ` but for ${plural(known, 'known failure')}`;
  const result = verdict + but;
  const remarks = compact(
    stop !== undefined && `${result} so far`,
    stop === undefined && isAccepted && 'accepted by --allow-incomplete',
    targetLost === true
      ? lostWords[losses?.find(({ seconds }) => seconds === undefined)?.reason ?? 'outage']
      : isAsked && open.length > 0 && `--allow-incomplete does not accept ${[...new Set(open)].join(', ')}`,
    ...remarksOn(record),
  );
  return {
    ending,
    isGreen: ending === 'conformant',
    words:
      (stop === undefined ? result : starts[stop]) + (remarks.length === 0 ? '' : ` (${remarks.join('; ')})`),
    numbers: numbersOf(record),
    ...styles[ending],
    ...(ending === 'conformant' && (isAccepted || known > 0) && { tone: 'warning' }),
  };
}

/** The judgement in a line: `conformant: 53 of 55 required verified, 20 of 22 recommended`. */
export const headlineOf = (record: RunRecord): string => headlineText({ headline: judgementOf(record) });

/** What limits the verdict, or led to it. */
function remarksOn(record: RunRecord) {
  const { verdict, baseline, requirements, interrupted, strict } = record;
  const failing = requirements.filter((row) => failsRun(record, row));
  const flags = narrowingFlags(record);
  const isOnlyStrict =
    failing.length > 0
      ? failing.every(({ level }) => level === 'recommended')
      : verdict === 'incomplete' && lacksLevels(record);
  return compact(
    strict === true && isOnlyStrict && '--strict',
    baseline !== undefined && baseline.wrong.length > 0 && 'the baseline is wrong',
    flags.length > 0 && `narrowed by ${flags.join(' and ')}`,
    !interrupted && verdict !== 'nonconformant' && isLowStrength(record) && describeStrength(record),
    contradictionRemark(record),
  );
}

/** Whether an endpoint answers wrongly: what counts at its limiter is then wrong, too. */
const isWrongAt = (requirements: Results, endpoint: string) =>
  requirements.some(
    ({ id, level, outcome }) =>
      level === 'required' &&
      outcome === 'failed' &&
      id.includes(`/${endpoint}/`) &&
      !id.startsWith('rate-limit/'),
  );

/** `the target contradicts the limit stated for user-status`; undefined if it does not, or if another failure may be why. */
function contradictionRemark({ requirements, rateLimited: { endpoints } }: RunRecord): string | undefined {
  const names = endpoints.filter(
    ({ contradiction, endpoint }) => contradiction !== undefined && !isWrongAt(requirements, endpoint),
  );
  return names.length === 0
    ? undefined
    : `the target contradicts the limit stated for ${names.map(({ endpoint }) => endpoint).join(' and ')}`;
}

/** `2 of 7 required failed, 1 verified, 1 of 3 recommended`. Without a required one, a run is incomplete. */
function numbersOf(record: RunRecord): string {
  const { requirements } = record;
  const required = requirements.filter(({ level }) => level === 'required');
  const recommended = requirements.filter(({ level }) => level === 'recommended');
  const passedIn = (rows: Results) => rows.filter(({ outcome }) => outcome === 'passed').length;
  const failed = required.filter(({ outcome }) => outcome === 'failed').length;
  const advice = recommended.filter((row) => failsRun(record, row)).length;
  const ofRequired = `of ${required.length} required`;
  const ofRecommended = `of ${recommended.length} recommended`;
  const numbers = compact(
    failed > 0 && `${failed} ${ofRequired} failed, ${passedIn(required)} verified`,
    failed === 0 && required.length > 0 && `${passedIn(required)} ${ofRequired} verified`,
    required.length === 0 && requirements.length > 0 && 'no required requirement',
    advice > 0 && `${advice} ${ofRecommended} failed`,
    advice === 0 && recommended.length > 0 && `${passedIn(recommended)} ${ofRecommended}`,
  );
  return numbers.join(', ') || 'nothing was checked';
}

/** The flags that kept a run from checking the whole interface. */
export function narrowingFlags({ selection }: Pick<RunRecord, 'selection'>): readonly string[] {
  if (selection === undefined) return [];
  const { replay, whole, skip } = selection;
  return replay === undefined ? compact(!whole && '--only', skip.length > 0 && '--skip') : ['--replay'];
}

const FULL_STRENGTH = 2;

/** The strength of a run, if it is meaningful. It is not for a narrowed run, which omits lookups on purpose. */
const statedStrength = ({ strength, selection }: RunRecord): number | undefined =>
  selection?.whole === true && selection.replay === undefined ? strength : undefined;

/** Whether a run tried too few combinations for an unqualified verdict. */
export const isLowStrength = (record: RunRecord): boolean =>
  (statedStrength(record) ?? FULL_STRENGTH) < FULL_STRENGTH;

/** Whether `--strict` makes a run incomplete: it left out levels, and not because a requirement was skipped. */
const lacksLevels = (record: RunRecord): boolean =>
  statedStrength(record) === 0 && record.selection?.skip.length === 0;

/** `short run: 140 of 182 levels tried`: the remark on a verdict with low strength. */
export const describeStrength = ({ strength, coverage }: RunRecord): string =>
  `short run: ${strength === 0 ? combinations(coverage?.levels, 'levels') : combinations(coverage?.pairs, 'pairs')} tried`;

/** `conditions tried together: all 2,134 pairs, 11,232 of 23,304 triples`; undefined if it is meaningless. */
export function combinationSentence(record: RunRecord): string | undefined {
  const { coverage } = record;
  if (statedStrength(record) === undefined || coverage === undefined) return undefined;
  const { pairs, triples } = coverage;
  return `conditions tried together: ${combinations(pairs, 'pairs')}, ${combinations(triples, 'triples')}`;
}

/** `all 2,134 pairs`, `1,804 of 2,134 pairs` */
function combinations([covered, total]: readonly [number, number] = [0, 0], what: string): string {
  return covered === total ? `all ${count(total)} ${what}` : `${count(covered)} of ${count(total)} ${what}`;
}
