import { TOLERANCE_MS, type Burst, type TimedRequest } from './history.ts';
import { lateMs, type RateLimit } from './limit.ts';
import { isExplained, mayBeBucket } from './models.ts';

/** What one burst shows about a stated limit. */
export type BurstFinding =
  /**
   * A common limiter with that limit would answer like this. Unless `isExact`, more passed within the window, as
   * with a token bucket. Unless `isCertain`, lost requests may hide that fewer passed.
   */
  | { readonly kind: 'fits'; readonly isExact: boolean; readonly isCertain: boolean }
  /** A 429 came after at most `before` counted requests. */
  | { readonly kind: 'fewer'; readonly before: number }
  /** More passed than the limit allows; with `isBeyondTwoWindows`, more than two windows allow. */
  | {
      readonly kind: 'more';
      readonly passed: number;
      /** Whether the excess was sent before a limiter that counts late had counted the limit. */
      readonly isOvershoot: boolean;
      readonly isBeyondTwoWindows: boolean;
    }
  /** Another status than 429 came, such as `503`. */
  | { readonly kind: 'instead'; readonly passed: number; readonly words: string }
  /** The window may have ended before the limit was reached. */
  | { readonly kind: 'tooSlow' }
  /** Too many requests got no answer. */
  | { readonly kind: 'lost' };

type FindingOf<Name extends BurstFinding['kind']> = Extract<BurstFinding, { readonly kind: Name }>;

export type LimitBreak = FindingOf<'fewer' | 'more' | 'instead'>;

/** Fraction of the limit that must be seen to pass. The rest may be lost. */
const MIN_SEEN = 9 / 10;

/** Fractions of the window: the first 429 and all answers come within QUICK; the key stays limited for WATCHED. */
const [QUICK, WATCHED] = [0.4, 0.5];

/** Consecutive answers that are neither a pass nor a 429 and count as intended. */
const MIN_CONSECUTIVE = 3;

/**
 * Compares one burst with the stated limit (Limits).
 *
 * A lost request is read both ways: the server may have counted it or not. How long refusals last is not judged.
 * "more" allows for fixed, clock-aligned, sliding and weighted windows, and for buckets that hold the limit and
 * refill as much per window, evenly or at intervals.
 */
export function judgeBurst(burst: Burst, limit: RateLimit): BurstFinding {
  const { startedAt, history } = burst;
  const { most, windowMs } = limit;
  const passes = history
    .filter(({ result }) => result === 'passed')
    .toSorted((a, b) => a.receivedAt - b.receivedAt);
  const refusals = history.filter(({ result }) => result === 'refused');
  const before = Math.min(
    Number.POSITIVE_INFINITY,
    ...refusals.map((refusal) => countedBefore(history, refusal)),
  );
  if (before < most) return { kind: 'fewer', before };
  const isBucket = mayBeBucket(burst, limit);
  const firstRefusedAt = Math.min(Number.POSITIVE_INFINITY, ...refusals.map(({ receivedAt }) => receivedAt));
  const excesses = passes.map(({ sentAt, receivedAt }, at) => {
    const windows = (receivedAt - startedAt + TOLERANCE_MS) / windowMs;
    const inWindows = most * (Math.floor(windows) + 1);
    const allowed = isBucket ? Math.max(inWindows, most + Math.floor(most * windows)) : inWindows;
    const counted = passes.filter((other) => other.receivedAt <= sentAt - lateMs(limit)).length;
    const [isBefore, isLate] = [sentAt <= firstRefusedAt, counted < inWindows];
    return { passed: at + 1, excess: at + 1 - allowed, inWindows, isBefore, isLate };
  });
  const [worst] = excesses.toSorted((a, b) => b.excess - a.excess);
  if (worst !== undefined && worst.excess > 0) {
    const early = excesses.filter(({ excess, isBefore }) => excess > 0 && isBefore);
    // A limiter that counts late lets more pass in each of two windows.
    const late = refusals.length === 0 ? 0 : 2 * (mostUncounted(burst, limit) - 1);
    return {
      kind: 'more',
      passed: worst.passed,
      isOvershoot: early.length > 0 && early.every(({ isLate }) => isLate),
      isBeyondTwoWindows: worst.passed > worst.inWindows + most + late,
    };
  }
  if (refusals.length > 0) {
    const first = passes.filter(({ sentAt }) => sentAt <= firstRefusedAt);
    if (first.length < MIN_SEEN * most) return { kind: 'lost' };
    const end = startedAt + windowMs;
    const isExact = passes.filter(({ receivedAt }) => receivedAt <= end).length <= most;
    const isQuick = isExact
      ? first.every(({ receivedAt }) => receivedAt <= end)
      : firstRefusedAt <= startedAt + QUICK * windowMs &&
        history.every((one) => one.result === 'lost' || one.receivedAt - one.sentAt <= QUICK * windowMs);
    // A shorter window would have let requests pass, and a bucket does.
    const watchedAt = passes[0]!.receivedAt + WATCHED * windowMs;
    const isWatched =
      refusals.some(({ sentAt }) => sentAt >= watchedAt && sentAt <= end) ||
      passes.some(({ sentAt, receivedAt }) => sentAt > firstRefusedAt && receivedAt <= end);
    if (!isQuick || !isWatched) return { kind: 'tooSlow' };
    return { kind: 'fits', isExact, isCertain: first.length >= most };
  }
  const tail = history.slice(history.findLastIndex(({ result }) => result === 'passed') + 1);
  // Requests without an answer do not count: the network may have lost them.
  const answered = tail.filter(({ receivedAt }) => receivedAt < Number.POSITIVE_INFINITY);
  if (passes.length >= most && answered.length >= MIN_CONSECUTIVE)
    return { kind: 'instead', passed: passes.length, words: answered[0]!.words ?? '' };
  const isLost = history.some(({ result }) => result === 'lost');
  return { kind: isLost && passes.length <= 2 * most ? 'lost' : 'tooSlow' };
}

/** The most requests that may have passed before the limiter had counted the first of them. */
const mostUncounted = ({ history }: Burst, limit: RateLimit): number =>
  Math.max(
    1,
    ...history.map(
      ({ sentAt }) =>
        history.filter(
          (other) =>
            other.result === 'passed' && other.sentAt <= sentAt && other.receivedAt > sentAt - lateMs(limit),
        ).length,
    ),
  );

const countedBefore = (history: readonly TimedRequest[], refusal: TimedRequest) =>
  history.filter(
    ({ result, sentAt }) => (result === 'passed' || result === 'lost') && sentAt <= refusal.receivedAt,
  ).length;

/** The judgement of several bursts. */
export type LimitJudgement =
  /** `countsLater`: in so many bursts more passed, but not with pauses around the limit. */
  | { readonly kind: 'kept'; readonly countsLater?: number }
  | { readonly kind: 'broken'; readonly finding: LimitBreak }
  | { readonly kind: 'open'; readonly finding: BurstFinding }
  /** Another burst is needed; with `isPaused`, one with pauses around the limit. `soFar`: the judgement without it. */
  | { readonly kind: 'again'; readonly isPaused: boolean; readonly soFar?: LimitJudgement };

/** Maximum number of bursts: four at different phases of the window, and two with an overshoot. */
const MAX_BURSTS = 6;

/** The most parts in which a bucket is refilled that explains why more pass. */
const COARSE = 4;

/** Maximum number of bursts that are too slow or lose requests. */
const MAX_VAGUE = 3;

/**
 * Judges a stated limit by bursts. One that disagrees is not enough, unless more passed than two windows allow: a
 * window may end during a burst, or another client may use the limit. A limiter that counts late lets more pass, but not
 * when they are sent one at a time, with pauses.
 */
export function judgeBursts(bursts: readonly Burst[], limit: RateLimit): LimitJudgement {
  const alone = bursts.findLastIndex(({ inFlight }) => inFlight === 1);
  const decided = alone < 0 ? undefined : judgeInOrder(bursts.slice(0, alone + 1), limit);
  if (decided?.kind !== 'kept') return judgeInOrder(bursts, limit);
  const more = bursts.filter((burst) => burst.inFlight > 1 && judgeBurst(burst, limit).kind === 'more');
  // Windows that end during bursts let more pass too. Parts of a bucket that come often would explain anything.
  const isCorrect = more.length > 1 && isExplained(bursts.map(upToRefusal), limit, true, COARSE);
  const late = isCorrect ? 0 : more.length;
  const soFar: LimitJudgement = { kind: 'kept', countsLater: late };
  // One more burst shows whether requests in flight pass again.
  return late === 1 && alone === bursts.length - 1 ? { kind: 'again', isPaused: false, soFar } : soFar;
}

/** The part of a burst that shows when a limiter refuses first, but not for how long. */
function upToRefusal(burst: Burst): Burst {
  const { history } = burst;
  const refusedAt = Math.min(
    ...history.flatMap(({ result, receivedAt }) => (result === 'refused' ? receivedAt : [])),
  );
  return { ...burst, history: history.filter(({ sentAt }) => sentAt <= refusedAt) };
}

function judgeInOrder(bursts: readonly Burst[], limit: RateLimit): LimitJudgement {
  const findings = bursts.map((burst) => judgeBurst(burst, limit));
  const last = findings.at(-1);
  if (last === undefined) return { kind: 'again', isPaused: false };
  const open: LimitJudgement = { kind: 'open', finding: last };
  const isAlone = bursts.some(({ inFlight }) => inFlight === 1);
  const inTime = bursts.filter((_, at) => !isOvershoot(findings[at]!));
  // After bursts with pauses, only those show that more pass; in others of them, a window ended before the limit.
  const alone = inTime.filter(({ inFlight }) => inFlight === 1);
  const atLimit = alone.filter((burst) => passedFirst(burst) <= limit.most);
  const counted = !isAlone ? inTime : atLimit.length > 0 ? atLimit : alone;
  const countsLate = !isAlone && mayCountLate(counted, limit);
  const again: LimitJudgement =
    findings.length >= MAX_BURSTS
      ? open
      : { kind: 'again', isPaused: isAlone || findings.some(isOvershoot) || countsLate };
  const isWorthAnother = findings.filter(isVague).length < MAX_VAGUE;
  if (isVague(last) && isWorthAnother) return again;
  if (last.kind === 'tooSlow' || last.kind === 'lost') return open;
  if (isOvershoot(last)) return again;
  if (last.kind === 'fewer' || last.kind === 'instead') {
    const same = findings.filter(({ kind }) => kind === last.kind).length;
    return same > 1 ? { kind: 'broken', finding: last } : again;
  }
  if (showMore(inTime, limit) && judgeMore(inTime, limit)?.kind === 'kept') return { kind: 'kept' };
  if (countsLate) return again;
  if (showMore(counted, limit)) return judgeMore(counted, limit) ?? again;
  // After an exact and certain burst, more bursts must fit than showed fewer. Otherwise all must fit.
  const fits = findings.filter(({ kind }) => kind === 'fits').length;
  const fewer = findings.filter(({ kind }) => kind === 'fewer').length;
  const isConclusive = last.kind === 'fits' && last.isExact && last.isCertain;
  if (isConclusive ? fits <= fewer : fits < findings.length) return again;
  return { kind: 'kept' };
}

/** How many requests passed before the first 429. */
const passedFirst = ({ history }: Burst): number => {
  const first = history.findIndex(({ result }) => result === 'refused');
  return history.slice(0, first < 0 ? undefined : first).filter(({ result }) => result === 'passed').length;
};

const showMore = (bursts: readonly Burst[], limit: RateLimit) =>
  bursts.some((burst) => judgeBurst(burst, limit).kind === 'more');

/** Whether requests that were counted too late in each window explain why too many passed in these bursts. */
function mayCountLate(bursts: readonly Burst[], limit: RateLimit): boolean {
  const late = Math.max(1, ...bursts.map((burst) => mostUncounted(burst, limit))) - 1;
  return (
    showMore(bursts, limit) &&
    bursts.every(({ history }) => history.some(({ result }) => result === 'refused')) &&
    judgeMore(bursts, limit)?.kind === 'broken' &&
    isExplained(bursts, { ...limit, most: limit.most + late }, false)
  );
}

/** Judges bursts if more passed in some of them; undefined if another one is needed. */
function judgeMore(bursts: readonly Burst[], limit: RateLimit): LimitJudgement | undefined {
  const findings = bursts.map((burst) => judgeBurst(burst, limit));
  const more = findings.filter((one): one is FindingOf<'more'> => one.kind === 'more');
  const shown = more.length + findings.filter(({ kind }) => kind === 'fits').length;
  const worst = more.find(({ isBeyondTwoWindows }) => isBeyondTwoWindows);
  if (worst !== undefined) return { kind: 'broken', finding: worst };
  if (more.length > 1 && !isExplained(bursts, limit, false)) return { kind: 'broken', finding: more.at(-1)! };
  // Slow or lossy bursts agree by chance more often, unless each stopped at the limit.
  const isAtLimit = bursts.every((burst) => burst.inFlight === 1 && passedFirst(burst) === limit.most);
  const needed = bursts.every((burst) => isClear(burst, limit)) ? 2 : isAtLimit ? 3 : 4;
  return shown >= needed && isExplained(bursts, limit, true) ? { kind: 'kept' } : undefined;
}

const isVague = (finding: BurstFinding) =>
  finding.kind === 'tooSlow' || finding.kind === 'lost' || (finding.kind === 'fits' && !finding.isCertain);

/** Whether no request was lost and the limit was reached early in the window. */
function isClear({ startedAt, history }: Burst, { windowMs }: RateLimit): boolean {
  const refusal = history.find(({ result }) => result === 'refused');
  const isQuick = refusal !== undefined && refusal.receivedAt - startedAt < 0.05 * windowMs;
  return isQuick && history.every(({ result }) => result !== 'lost');
}

const isOvershoot = (finding: BurstFinding) => finding.kind === 'more' && finding.isOvershoot;
