import { SLACK, type Burst, type Rule, type Sighting } from './history.ts';
import { isExplained, mayBeBucket } from './models.ts';

/** What one burst says about a promised limit. */
export type Finding =
  /**
   * A common kind of limiter with that limit answers like this. Unless `isExact`, more passed within the window, as
   * a bucket lets them; unless `isCertain`, lost requests may hide that fewer passed.
   */
  | { readonly kind: 'fits'; readonly isExact: boolean; readonly isCertain: boolean }
  /** A 429 came although at most so many requests can have been counted. */
  | { readonly kind: 'fewer'; readonly before: number }
  /** More passed than the limit allows; by more than two full windows where `isBeyondTwoWindows`. */
  | {
      readonly kind: 'more';
      readonly passed: number;
      /** Whether those in flight explain what passed too many before the first 429: the limiter may count after its look-up. */
      readonly isOvershoot: boolean;
      readonly isBeyondTwoWindows: boolean;
    }
  /** Where 429 was due, another status came: `503`. */
  | { readonly kind: 'instead'; readonly passed: number; readonly words: string }
  /** The window may have ended before more requests had passed than it may let through. */
  | { readonly kind: 'tooSlow' }
  /** Too many requests got no answer. */
  | { readonly kind: 'lost' };

type Kind<Name extends Finding['kind']> = Extract<Finding, { readonly kind: Name }>;

/** What a broken promise looks like. */
export type Break = Kind<'fewer' | 'more' | 'instead'>;

/** Part of the limit that has to be seen to pass: the rest may have been lost. */
const ENOUGH = 9 / 10;

/** Parts of the window: within one a bucket must have refused and each answer must come, and a key is seen limited for the other. */
const [QUICK, WATCHED] = [0.4, 0.5];

/** So many answers in a row that are neither a pass nor a 429 are no accident. */
const IN_A_ROW = 3;

/**
 * Compares one burst from rest with the promised limit (Limits).
 *
 * A lost request is read both ways: the server may have counted it, and it may not have passed. How long a
 * refusal lasts is not judged. "more" allows for fixed, clock-aligned, sliding and weighted windows, and
 * for buckets that hold the limit and refill as much per window, evenly or at intervals.
 */
export function judgeBurst(burst: Burst, rule: Rule): Finding {
  const { startedAt, history, inFlight } = burst;
  const { most, windowMs } = rule;
  const passes = history
    .filter(({ result }) => result === 'passed')
    .toSorted((a, b) => a.receivedAt - b.receivedAt);
  const refusals = history.filter(({ result }) => result === 'refused');
  const before = Math.min(
    Number.POSITIVE_INFINITY,
    ...refusals.map((refusal) => countedBefore(history, refusal)),
  );
  if (before < most) return { kind: 'fewer', before };
  const isBucket = mayBeBucket(burst, rule);
  const firstRefusedAt = Math.min(Number.POSITIVE_INFINITY, ...refusals.map(({ receivedAt }) => receivedAt));
  const excesses = passes.map(({ sentAt, receivedAt }, at) => {
    const windows = (receivedAt - startedAt + SLACK) / windowMs;
    const inWindows = most * (Math.floor(windows) + 1);
    const allowed = isBucket ? Math.max(inWindows, most + Math.floor(most * windows)) : inWindows;
    return { passed: at + 1, excess: at + 1 - allowed, inWindows, isBefore: sentAt <= firstRefusedAt };
  });
  const [worst] = excesses.toSorted((a, b) => b.excess - a.excess);
  if (worst !== undefined && worst.excess > 0) {
    const overshoot = Math.max(...excesses.map(({ excess, isBefore }) => (isBefore ? excess : 0)));
    return {
      kind: 'more',
      passed: worst.passed,
      isOvershoot: overshoot > 0 && overshoot < inFlight,
      isBeyondTwoWindows: worst.passed > worst.inWindows + most,
    };
  }
  if (refusals.length > 0) {
    const first = passes.filter(({ sentAt }) => sentAt <= firstRefusedAt);
    if (first.length < ENOUGH * most) return { kind: 'lost' };
    const end = startedAt + windowMs;
    const isExact = passes.filter(({ receivedAt }) => receivedAt <= end).length <= most;
    const isQuick = isExact
      ? first.every(({ receivedAt }) => receivedAt <= end)
      : firstRefusedAt <= startedAt + QUICK * windowMs &&
        history.every((one) => one.result === 'lost' || one.receivedAt - one.sentAt <= QUICK * windowMs);
    // A shorter window would have let the key in meanwhile, and a bucket does.
    const watchedAt = passes[0]!.receivedAt + WATCHED * windowMs;
    const isWatched =
      refusals.some(({ sentAt }) => sentAt >= watchedAt && sentAt <= end) ||
      passes.some(({ sentAt, receivedAt }) => sentAt > firstRefusedAt && receivedAt <= end);
    if (!isQuick || !isWatched) return { kind: 'tooSlow' };
    return { kind: 'fits', isExact, isCertain: first.length >= most };
  }
  const tail = history.slice(history.findLastIndex(({ result }) => result === 'passed') + 1);
  // A front end may answer so; what got no answer at all may be the network's fault, and was perhaps never sent.
  const answered = tail.filter(({ receivedAt }) => receivedAt < Number.POSITIVE_INFINITY);
  if (passes.length >= most && answered.length >= IN_A_ROW)
    return { kind: 'instead', passed: passes.length, words: answered[0]!.words ?? '' };
  const isLost = history.some(({ result }) => result === 'lost');
  return { kind: isLost && passes.length <= 2 * most ? 'lost' : 'tooSlow' };
}

/** Requests that the server may have counted before it refused one. */
const countedBefore = (history: readonly Sighting[], refusal: Sighting) =>
  history.filter(
    ({ result, sentAt }) => (result === 'passed' || result === 'lost') && sentAt <= refusal.receivedAt,
  ).length;

/** What bursts from rest come to. */
export type Judgement =
  | { readonly kind: 'kept'; readonly countsLater?: true }
  | { readonly kind: 'broken'; readonly finding: Break }
  | { readonly kind: 'open'; readonly finding: Finding }
  /** It takes another burst; one request at a time where `oneAtATime`. */
  | { readonly kind: 'again'; readonly oneAtATime: boolean };

/** Four at different phases of the window decide; the first may only show an overshoot. */
const MOST_BURSTS = 5;

/** Bursts that leave something open, by their slowness or their losses, are tried so many times in all. */
const TRIES = 3;

/**
 * Judges a promised limit by bursts from rest. A break must recur: a window boundary may fall into one burst,
 * or somebody else may have used the limit before it. A limiter that counts after its look-up lets as many more
 * through as are in flight; one request at a time it does not.
 */
export function judgeBursts(bursts: readonly Burst[], rule: Rule): Judgement {
  const findings = bursts.map((burst) => judgeBurst(burst, rule));
  const last = findings.at(-1);
  if (last === undefined) return { kind: 'again', oneAtATime: false };
  const open: Judgement = { kind: 'open', finding: last };
  const again: Judgement =
    findings.length >= MOST_BURSTS ? open : { kind: 'again', oneAtATime: findings.some(isOvershoot) };
  const isGone = last.kind === 'lost' && bursts.at(-1)!.history.at(-1)!.result === 'lost';
  const isWorthAnother = !isGone && findings.filter(isVague).length < TRIES;
  if (isVague(last) && isWorthAnother) return again;
  if (last.kind === 'tooSlow' || last.kind === 'lost') return open;
  if (isOvershoot(last)) return again;
  if (last.kind === 'fewer' || last.kind === 'instead') {
    const same = findings.filter(({ kind }) => kind === last.kind).length;
    return same > 1 ? { kind: 'broken', finding: last } : again;
  }
  const more = findings.filter((one): one is Kind<'more'> => one.kind === 'more' && !one.isOvershoot);
  if (more.length > 0) {
    const counted = bursts.filter((_, at) => !isOvershoot(findings[at]!));
    const shown = more.length + findings.filter(({ kind }) => kind === 'fits').length;
    return judgeMore(counted, more, rule, shown) ?? again;
  }
  // What may be a bucket, or lost requests, excuses no other burst; a boundary in a burst excuses one in which fewer passed.
  const fits = findings.filter(({ kind }) => kind === 'fits').length;
  const fewer = findings.filter(({ kind }) => kind === 'fewer').length;
  const isSure = last.kind === 'fits' && last.isExact && last.isCertain;
  if (isSure ? fits <= fewer : fits < findings.length) return again;
  return findings.some(isOvershoot) ? { kind: 'kept', countsLater: true } : { kind: 'kept' };
}

/**
 * Judges bursts in some of which more passed; undefined: it takes another one.
 *
 * @param shown bursts that were quick enough to show something
 */
function judgeMore(
  bursts: readonly Burst[],
  more: readonly Kind<'more'>[],
  rule: Rule,
  shown: number,
): Judgement | undefined {
  const worst = more.find(({ isBeyondTwoWindows }) => isBeyondTwoWindows);
  if (worst !== undefined) return { kind: 'broken', finding: worst };
  if (more.length > 1 && !isExplained(bursts, rule, false)) return { kind: 'broken', finding: more.at(-1)! };
  // Slow bursts and those with losses agree by chance more often.
  const needed = bursts.every((burst) => isClear(burst, rule)) ? 2 : 4;
  return shown >= needed && isExplained(bursts, rule, true) ? { kind: 'kept' } : undefined;
}

/** A quicker burst, or one with fewer losses, would say more. */
const isVague = (finding: Finding) =>
  finding.kind === 'tooSlow' || finding.kind === 'lost' || (finding.kind === 'fits' && !finding.isCertain);

/** Whether all of it is known, and the limit was reached early in the window. */
function isClear({ startedAt, history }: Burst, { windowMs }: Rule): boolean {
  const refusal = history.find(({ result }) => result === 'refused');
  const isQuick = refusal !== undefined && refusal.receivedAt - startedAt < 0.05 * windowMs;
  return isQuick && history.every(({ result }) => result !== 'lost');
}

const isOvershoot = (finding: Finding) => finding.kind === 'more' && finding.isOvershoot;
