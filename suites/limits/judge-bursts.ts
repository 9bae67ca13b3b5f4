import { mostAtOnce, TOLERANCE_MS, type Burst, type TimedRequest } from './history.ts';
import { lateMs, type RateLimit } from './limit.ts';
import { isExplained, mayBeBucket } from './models.ts';

/** What one burst shows about a stated limit. */
export interface BurstFinding {
  /**
   * - `fits`, `fits as a bucket`: a common limiter with that limit would answer like this
   * - `may fit`: the same, but lost requests may hide that fewer passed
   * - `fewer`: a 429 came after at most `passed` counted requests
   * - `more`: more passed than the limit allows; `far more`: than two windows allow
   * - `overshoot`: more, sent before a limiter that counts late had counted the limit
   * - `instead`: another status than 429 came
   * - `too slow`: the window may have ended before the limit was reached
   * - `lost`: too many requests got no answer
   */
  readonly kind:
    | ('fits' | 'fits as a bucket' | 'may fit' | 'too slow' | 'lost')
    | ('fewer' | 'more' | 'far more' | 'overshoot' | 'instead');
  readonly passed: number;
  /** What came instead, such as `503`. */
  readonly words?: string;
}

/** Fraction of the limit that must be seen to pass. The rest may be lost. */
const MIN_SEEN = 9 / 10;

/** Fractions of the window: the first 429 of a bucket comes within QUICK; the key stays limited for WATCHED. */
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
  const refusals = history.filter(({ result }) => result === 'refused');
  const refusedAt = Math.min(Infinity, ...refusals.map(({ receivedAt }) => receivedAt));
  const before = history.filter(
    ({ result, sentAt }) => (result === 'passed' || result === 'lost') && sentAt <= refusedAt,
  ).length;
  if (refusals.length > 0 && before < most) return { kind: 'fewer', passed: before };
  const passes = history
    .filter(({ result }) => result === 'passed')
    .toSorted((a, b) => a.receivedAt - b.receivedAt);
  const more = excessOf(burst, passes, refusedAt, limit);
  if (more !== undefined) return more;
  const passed = passes.length;
  if (refusals.length === 0) {
    const tail = history.slice(history.findLastIndex(({ result }) => result === 'passed') + 1);
    // Requests without an answer do not count: the network may have lost them.
    const answered = tail.filter(({ receivedAt }) => receivedAt < Infinity);
    if (passed >= most && answered.length >= MIN_CONSECUTIVE)
      return { kind: 'instead', passed, words: answered[0]!.words ?? '' };
    const isLost = history.some(({ result }) => result === 'lost');
    return { kind: isLost && passed <= 2 * most ? 'lost' : 'too slow', passed };
  }
  const first = passes.filter(({ sentAt }) => sentAt <= refusedAt);
  if (first.length < MIN_SEEN * most) return { kind: 'lost', passed };
  const end = startedAt + windowMs;
  const isExact = passes.filter(({ receivedAt }) => receivedAt <= end).length <= most;
  const isQuick = isExact
    ? first.every(({ receivedAt }) => receivedAt <= end)
    : refusedAt <= startedAt + QUICK * windowMs;
  // A shorter window would have let requests pass, and a bucket does.
  const watchedAt = passes[0]!.receivedAt + WATCHED * windowMs;
  const isWatched =
    refusals.some(({ sentAt }) => sentAt >= watchedAt && sentAt <= end) ||
    passes.some(({ sentAt, receivedAt }) => sentAt > refusedAt && receivedAt <= end);
  if (!isQuick || !isWatched) return { kind: 'too slow', passed };
  return { kind: first.length < most ? 'may fit' : isExact ? 'fits' : 'fits as a bucket', passed };
}

/** Whether more passed than the limit allows; undefined if not. */
function excessOf(
  burst: Burst,
  passes: readonly TimedRequest[],
  refusedAt: number,
  limit: RateLimit,
): BurstFinding | undefined {
  const { most, windowMs } = limit;
  const isBucket = mayBeBucket(burst, limit);
  let [worst, passed, inWindows] = [0, 0, 0];
  let early: { readonly sentAt: number; readonly begun: number } | undefined;
  for (const [at, { sentAt, receivedAt }] of passes.entries()) {
    const windows = (receivedAt - burst.startedAt + TOLERANCE_MS) / windowMs;
    const begun = most * (Math.floor(windows) + 1);
    const excess = at + 1 - (isBucket ? Math.max(begun, most + Math.floor(most * windows)) : begun);
    if (excess > worst) [worst, passed, inWindows] = [excess, at + 1, begun];
    if (excess > 0 && sentAt <= refusedAt && sentAt >= (early?.sentAt ?? 0)) early = { sentAt, begun };
  }
  if (worst === 0) return undefined;
  if (early !== undefined) {
    const countedAt = early.sentAt - lateMs(limit);
    const counted = passes.filter(({ receivedAt }) => receivedAt <= countedAt).length;
    if (counted < early.begun) return { kind: 'overshoot', passed };
  }
  // A limiter that counts late lets more pass in each of two windows.
  const late = refusedAt < Infinity ? 2 * mostUncounted(burst, limit) : 0;
  return { kind: passed > inWindows + most + late ? 'far more' : 'more', passed };
}

/** The most requests that may have passed while a limiter that counts late had not counted the first of them. */
const mostUncounted = ({ history }: Burst, limit: RateLimit): number =>
  Math.max(
    1,
    mostAtOnce(
      history.filter(({ result }) => result === 'passed'),
      lateMs(limit),
    ),
  ) - 1;

/** The judgement of several bursts. */
export type LimitJudgement =
  /** `countsLater`: in so many bursts more passed, but not with pauses around the limit. */
  | { readonly kind: 'kept'; readonly countsLater?: number }
  | { readonly kind: 'broken' | 'open'; readonly finding: BurstFinding }
  /** Another burst is needed; with `isPaused`, one with pauses around the limit. `soFar`: the judgement without it. */
  | { readonly kind: 'again'; readonly isPaused: boolean; readonly soFar?: LimitJudgement };

/** Maximum number of bursts: four at different phases of the window, and two with an overshoot. */
const MAX_BURSTS = 6;

/** Maximum number of bursts that are too slow or lose requests. */
const MAX_VAGUE = 3;

/** A burst and what it shows. */
type Seen = Burst & BurstFinding;

const isVague = ({ kind }: Seen) => kind === 'too slow' || kind === 'lost' || kind === 'may fit';
const isFit = ({ kind }: Seen) => kind === 'fits' || kind === 'fits as a bucket' || kind === 'may fit';
const isOvershoot = ({ kind }: Seen) => kind === 'overshoot';
const isMore = ({ kind }: Seen) => kind === 'more' || kind === 'far more' || kind === 'overshoot';

/**
 * Judges a stated limit by bursts. One that disagrees is not enough, unless more passed than two windows allow: a
 * window may end during a burst, or another client may use the limit. A limiter that counts late lets more pass, but not
 * when they are sent one at a time, with pauses.
 */
export function judgeBursts(bursts: readonly Burst[], limit: RateLimit): LimitJudgement {
  const seen = bursts.map((burst): Seen => ({ ...burst, ...judgeBurst(burst, limit) }));
  const paused = seen.findLastIndex(({ isPaused }) => isPaused);
  if (decide(seen.slice(0, paused + 1), limit).kind !== 'kept') return decide(seen, limit);
  const more = seen.filter((one) => !one.isPaused && isMore(one)).length;
  // Windows that end during bursts let more pass too.
  const isCorrect = more > 1 && isExplained(bursts, limit, false);
  const soFar: LimitJudgement = { kind: 'kept', countsLater: isCorrect ? 0 : more };
  // One more burst shows whether requests in flight pass again.
  return more === 1 && paused === seen.length - 1 ? { kind: 'again', isPaused: false, soFar } : soFar;
}

/** Judges bursts in the order of sending. */
function decide(seen: readonly Seen[], limit: RateLimit): LimitJudgement {
  const last = seen.at(-1);
  if (last === undefined) return { kind: 'again', isPaused: false };
  const { kind } = last;
  const count = (is: (one: Seen) => boolean) => seen.filter(is).length;
  const hasPauses = seen.some(({ isPaused }) => isPaused);
  const again = (isPaused = hasPauses || seen.some(isOvershoot)): LimitJudgement =>
    seen.length >= MAX_BURSTS ? { kind: 'open', finding: last } : { kind: 'again', isPaused };
  if (isVague(last) && count(isVague) < MAX_VAGUE) return again();
  if (kind === 'too slow' || kind === 'lost') return { kind: 'open', finding: last };
  if (kind === 'overshoot') return again();
  if (kind === 'fewer' || kind === 'instead')
    return count((one) => one.kind === kind) > 1 ? { kind: 'broken', finding: last } : again();
  const inTime = seen.filter((one) => !isOvershoot(one));
  // After bursts with pauses, only those show that more pass; in others of them, a window ended before the limit.
  const paused = inTime.filter(({ isPaused }) => isPaused);
  const atLimit = paused.filter((one) => passedFirst(one) <= limit.most);
  const counted = !hasPauses ? inTime : atLimit.length > 0 ? atLimit : paused;
  if ([inTime, counted].some((some) => some.some(isMore) && isKept(some, limit))) return { kind: 'kept' };
  const broken = breakOf(counted, limit);
  if (broken !== undefined)
    return !hasPauses && mayCountLate(counted, limit) ? again(true) : { kind: 'broken', finding: broken };
  if (counted.some(isMore)) return again();
  // After an exact and certain burst, more bursts must fit than showed fewer. Otherwise all must fit.
  const fewer = count((one) => one.kind === 'fewer');
  return count(isFit) > (kind === 'fits' ? fewer : seen.length - 1) ? { kind: 'kept' } : again();
}

/** How many requests passed before the first 429. */
const passedFirst = ({ history }: Burst): number => {
  const first = history.findIndex(({ result }) => result === 'refused');
  return history.slice(0, first < 0 ? undefined : first).filter(({ result }) => result === 'passed').length;
};

/** The burst that shows that no limiter with this limit let so many pass. */
const breakOf = (some: readonly Seen[], limit: RateLimit): Seen | undefined => {
  const more = some.filter(isMore);
  const isBroken = more.length > 1 && !isExplained(some, limit, false);
  return more.find(({ kind }) => kind === 'far more') ?? (isBroken ? more.at(-1) : undefined);
};

/** Whether a limiter that counts late may have let more pass in each window. */
const mayCountLate = (some: readonly Seen[], limit: RateLimit): boolean => {
  const late = Math.max(...some.map((burst) => mostUncounted(burst, limit)));
  return (
    some.every(({ history }) => history.some(({ result }) => result === 'refused')) &&
    isExplained(some, { ...limit, most: limit.most + late }, false)
  );
};

/** Whether a limiter with this limit explains bursts of which some let more pass. */
function isKept(some: readonly Seen[], limit: RateLimit): boolean {
  // Slow or lossy bursts agree by chance more often, unless each stopped at the limit.
  const isAtLimit = some.every((one) => one.isPaused && passedFirst(one) === limit.most);
  const needed = some.every((one) => isClear(one, limit)) ? 2 : isAtLimit ? 3 : 4;
  const shown = some.filter((one) => isMore(one) || isFit(one)).length;
  return shown >= needed && isExplained(some, limit, true);
}

/** Whether no request was lost and the limit was reached early in the window. */
function isClear({ startedAt, history }: Burst, { windowMs }: RateLimit): boolean {
  const refusal = history.find(({ result }) => result === 'refused');
  const isQuick = refusal !== undefined && refusal.receivedAt - startedAt < 0.05 * windowMs;
  return isQuick && history.every(({ result }) => result !== 'lost');
}
