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

/** A burst, and its passes in the order of answers. */
function look(burst: Burst) {
  const those = (...results: readonly TimedRequest['result'][]) =>
    burst.history.filter(({ result }) => results.includes(result));
  const [refusals, refusedAt] = [
    those('refused'),
    Math.min(...those('refused').map(({ receivedAt }) => receivedAt)),
  ];
  const passes = those('passed').toSorted((a, b) => a.receivedAt - b.receivedAt);
  const isBefore = ({ sentAt }: TimedRequest) => sentAt <= refusedAt;
  return {
    ...burst,
    passes,
    refusals,
    /** When the first 429 came, in ms; Infinity if none did. */
    refusedAt,
    /** Passes sent before it, and how many requests may have been counted before it. */
    first: passes.filter(isBefore),
    countedFirst: those('passed', 'lost').filter(isBefore).length,
    isLossy: those('lost').length > 0,
  };
}

type Look = ReturnType<typeof look>;

/**
 * Compares one burst with the stated limit (Limits).
 *
 * A lost request is read both ways: the server may have counted it or not. How long refusals last is not judged.
 * "more" allows for fixed, clock-aligned, sliding and weighted windows, and for buckets that hold the limit and
 * refill as much per window, evenly or at intervals.
 */
export const judgeBurst = (burst: Burst, limit: RateLimit): BurstFinding => findingOf(look(burst), limit);

function findingOf(seen: Look, limit: RateLimit): BurstFinding {
  const { startedAt, history, passes, refusals, refusedAt, first, countedFirst, isLossy } = seen;
  const { most, windowMs } = limit;
  const isRefused = refusals.length > 0;
  if (isRefused && countedFirst < most) return { kind: 'fewer', passed: countedFirst };
  const more = excessOf(seen, limit);
  if (more !== undefined) return more;
  const passed = passes.length;
  if (!isRefused) {
    const tail = history.slice(history.findLastIndex(({ result }) => result === 'passed') + 1);
    // Requests without an answer do not count: the network may have lost them.
    const answered = tail.filter(({ receivedAt }) => receivedAt < Infinity);
    return passed >= most && answered.length >= MIN_CONSECUTIVE
      ? { kind: 'instead', passed, words: answered[0]!.words ?? '' }
      : { kind: isLossy && passed <= 2 * most ? 'lost' : 'too slow', passed };
  }
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
function excessOf(seen: Look, limit: RateLimit): BurstFinding | undefined {
  const { startedAt, passes, refusedAt } = seen;
  const { most, windowMs } = limit;
  const isBucket = mayBeBucket(seen, limit);
  let [worst, passed, inWindows] = [0, 0, 0];
  let early: { readonly sentAt: number; readonly begun: number } | undefined;
  for (const [at, { sentAt, receivedAt }] of passes.entries()) {
    const windows = (receivedAt - startedAt + TOLERANCE_MS) / windowMs;
    const begun = most * (Math.floor(windows) + 1);
    const excess = at + 1 - (isBucket ? Math.max(begun, most + Math.floor(most * windows)) : begun);
    if (excess > worst) [worst, passed, inWindows] = [excess, at + 1, begun];
    if (excess > 0 && sentAt <= refusedAt && sentAt >= (early?.sentAt ?? 0)) early = { sentAt, begun };
  }
  if (worst === 0) return undefined;
  const countedAt = (early?.sentAt ?? 0) - lateMs(limit);
  const counted = passes.filter(({ receivedAt }) => receivedAt <= countedAt).length;
  if (early !== undefined && counted < early.begun) return { kind: 'overshoot', passed };
  // A limiter that counts late lets more pass in each of two windows.
  const late = refusedAt < Infinity ? 2 * mostUncounted(seen, limit) : 0;
  return { kind: passed > inWindows + most + late ? 'far more' : 'more', passed };
}

/** The most requests that may have passed while a limiter that counts late had not counted the first of them. */
const mostUncounted = ({ passes }: Look, limit: RateLimit): number => mostAtOnce(passes, lateMs(limit)) - 1;

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
type Seen = Look & BurstFinding;

const kinds = {
  vague: ['too slow', 'lost', 'may fit'],
  fit: ['fits', 'fits as a bucket', 'may fit'],
  more: ['more', 'far more', 'overshoot'],
} as const;

/** How many bursts show this. */
const count = (seen: readonly Seen[], some: readonly BurstFinding['kind'][]) =>
  seen.filter(({ kind }) => some.includes(kind)).length;

/**
 * Judges a stated limit by bursts. One that disagrees is not enough, unless more passed than two windows allow: a
 * window may end during a burst, or another client may use the limit. A limiter that counts late lets more pass, but not
 * when they are sent one at a time, with pauses.
 */
export function judgeBursts(bursts: readonly Burst[], limit: RateLimit): LimitJudgement {
  const seen = bursts.map(look).map((one): Seen => ({ ...one, ...findingOf(one, limit) }));
  const paused = seen.findLastIndex(({ isPaused }) => isPaused);
  if (decide(seen.slice(0, paused + 1), limit).kind !== 'kept') return decide(seen, limit);
  const more = count(
    seen.filter(({ isPaused }) => !isPaused),
    kinds.more,
  );
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
  const open: LimitJudgement = { kind: 'open', finding: last };
  const inTime = seen.filter((one) => one.kind !== 'overshoot');
  const hasPauses = seen.some(({ isPaused }) => isPaused);
  const again = (isPaused = hasPauses || inTime.length < seen.length): LimitJudgement =>
    seen.length < MAX_BURSTS ? { kind: 'again', isPaused } : open;
  if (count([last], kinds.vague) > 0 && count(seen, kinds.vague) < MAX_VAGUE) return again();
  if (kind === 'too slow' || kind === 'lost') return open;
  if (kind === 'overshoot') return again();
  if (kind === 'fewer' || kind === 'instead')
    return count(seen, [kind]) > 1 ? { kind: 'broken', finding: last } : again();
  // After bursts with pauses, only those show that more pass; in others of them, a window ended before the limit.
  const paused = inTime.filter(({ isPaused }) => isPaused);
  const atLimit = paused.filter(({ first }) => first.length <= limit.most);
  const counted = !hasPauses ? inTime : atLimit.length > 0 ? atLimit : paused;
  const broken = breakOf(counted, limit);
  if (broken !== undefined && !hasPauses)
    return mayCountLate(counted, limit) ? again(true) : { kind: 'broken', finding: broken };
  if ([...new Set([inTime, counted])].some((some) => isKept(some, limit))) return { kind: 'kept' };
  if (broken !== undefined) return { kind: 'broken', finding: broken };
  // Without more passes, most bursts must fit after an exact and certain one, otherwise all.
  const isEnough = count(seen, kinds.fit) > (kind === 'fits' ? count(seen, ['fewer']) : seen.length - 1);
  return count(counted, kinds.more) === 0 && isEnough ? { kind: 'kept' } : again();
}

/** Whether a limiter with this limit explains bursts of which some let more pass. */
function isKept(some: readonly Seen[], limit: RateLimit): boolean {
  const more = count(some, kinds.more);
  // Slow or lossy bursts agree by chance more often, unless each stopped at the limit.
  const isClear = some.every(
    ({ startedAt, refusedAt, isLossy }) => !isLossy && refusedAt - startedAt < 0.05 * limit.windowMs,
  );
  const isAtLimit = some.every(({ isPaused, first }) => isPaused && first.length === limit.most);
  const needed = isClear ? 2 : isAtLimit ? 3 : 4;
  return more > 0 && more + count(some, kinds.fit) >= needed && isExplained(some, limit, true);
}

/** The burst that shows that no limiter with this limit let so many pass. */
function breakOf(some: readonly Seen[], limit: RateLimit): Seen | undefined {
  const more = some.filter((one) => count([one], kinds.more) > 0);
  const isBroken = () => more.length > 1 && !isExplained(some, limit, false);
  return more.find(({ kind }) => kind === 'far more') ?? (isBroken() ? more.at(-1) : undefined);
}

/** Whether a limiter that counts late may have let more pass in each window. */
function mayCountLate(some: readonly Seen[], limit: RateLimit): boolean {
  const most = limit.most + Math.max(...some.map((one) => mostUncounted(one, limit)));
  return some.every(({ refusals }) => refusals.length > 0) && isExplained(some, { ...limit, most }, false);
}
