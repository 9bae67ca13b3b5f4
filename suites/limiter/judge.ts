import { SLACK, type Rule, type Sighting } from './history.ts';

/** Counted requests from rest: since when, and what became of each, in the order of sending. */
export interface Burst {
  /** ms of the engine's clock; no request of the run was sent for two windows before it. */
  readonly startedAt: number;
  readonly history: readonly Sighting[];
  /** Requests under way at the same time, at most. */
  readonly inFlight: number;
  /** Whether a request was refused although an evenly refilled bucket would have held one by then. */
  readonly isBucketRuledOut: boolean;
}

/** What one burst says about a promised limit. */
export type Finding =
  /**
   * A common kind of limiter with that limit answers like this. Unless `isCertain`, lost requests may hide that
   * fewer passed; unless `isExact`, more passed, and only the time that it took allows for it.
   */
  | { readonly kind: 'fits'; readonly isCertain: boolean; readonly isExact: boolean }
  /** A 429 came although at most so many requests can have been counted. */
  | { readonly kind: 'fewer'; readonly before: number }
  /** More passed than the limit allows; by more than two full windows where `isBeyondTwoWindows`. */
  | {
      readonly kind: 'more';
      readonly passed: number;
      readonly allowed: number;
      /** Whether those in flight explain what passed too many before the first 429: the limiter may count after its look-up. */
      readonly isOvershoot: boolean;
      readonly isBeyondTwoWindows: boolean;
    }
  /** Where 429 was due, something else came: `503`, or that the connection was reset. */
  | { readonly kind: 'instead'; readonly passed: number; readonly words: string }
  /** No 429, and the window ended before more requests had passed than it may let through. */
  | { readonly kind: 'tooSlow' }
  /** Too many requests got no answer. */
  | { readonly kind: 'lost'; readonly words: string };

/** So many requests in a row without a pass and without a 429 are no accident. */
const IN_A_ROW = 3;

/**
 * Compares one burst from rest with the promised limit (Limits).
 *
 * A lost request is read both ways: the server may have counted it, and it may not have passed. How long a
 * refusal lasts is not judged. "more" allows for fixed, clock-aligned, sliding and weighted windows, and
 * for buckets that hold the limit and refill as much per window, evenly or at intervals.
 */
export function judgeBurst(burst: Burst, rule: Rule): Finding {
  const { startedAt, history, inFlight, isBucketRuledOut } = burst;
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
  const firstRefusedAt = Math.min(Number.POSITIVE_INFINITY, ...refusals.map(({ receivedAt }) => receivedAt));
  let overshoot = 0;
  let worst: { readonly passed: number; readonly allowed: number; readonly inWindows: number } | undefined;
  for (const [at, { sentAt, receivedAt }] of passes.entries()) {
    const passed = at + 1;
    const windows = (receivedAt - startedAt + SLACK) / windowMs;
    const inWindows = most * (Math.floor(windows) + 1);
    const allowed = isBucketRuledOut ? inWindows : Math.max(inWindows, most + Math.floor(most * windows));
    if (sentAt <= firstRefusedAt) overshoot = Math.max(overshoot, passed - allowed);
    if (passed - allowed > (worst === undefined ? 0 : worst.passed - worst.allowed))
      worst = { passed, allowed, inWindows };
  }
  if (worst !== undefined)
    return {
      kind: 'more',
      passed: worst.passed,
      allowed: worst.allowed,
      isOvershoot: overshoot > 0 && overshoot < inFlight,
      isBeyondTwoWindows: worst.passed > worst.inWindows + most,
    };
  if (refusals.length > 0) {
    const passed = passes.filter(({ sentAt }) => sentAt <= firstRefusedAt).length;
    return { kind: 'fits', isCertain: passed >= most, isExact: passed <= most };
  }
  const tail = history.slice(history.findLastIndex(({ result }) => result === 'passed') + 1);
  if (passes.length >= most && tail.length >= IN_A_ROW)
    return { kind: 'instead', passed: passes.length, words: tail[0]!.words ?? '' };
  const lost = history.find(({ result }) => result === 'lost');
  if (lost !== undefined && passes.length <= 2 * most) return { kind: 'lost', words: lost.words ?? '' };
  return { kind: 'tooSlow' };
}

/** Requests that the server may have counted before it refused one. */
const countedBefore = (history: readonly Sighting[], refusal: Sighting) =>
  history.filter(({ result, sentAt }) => result !== 'refused' && sentAt <= refusal.receivedAt + SLACK).length;

/** What bursts from rest come to. */
export type Judgement =
  | { readonly kind: 'kept'; readonly why?: 'boundary' | 'counts-later' | 'once' }
  | { readonly kind: 'broken'; readonly finding: Finding }
  | { readonly kind: 'open'; readonly finding: Finding }
  /** It takes another burst; one request at a time where `oneAtATime`. */
  | { readonly kind: 'again'; readonly oneAtATime: boolean };

/** Four at different phases of the window decide; the first may only show an overshoot. */
const MOST_BURSTS = 5;

/**
 * Judges a promised limit by bursts from rest. A break must recur: a window boundary may fall into one burst,
 * or somebody else may have used the limit before it. A limiter that counts after its look-up lets as many more
 * through as are in flight; one request at a time it does not.
 */
export function judgeBursts(bursts: readonly Burst[], rule: Rule): Judgement {
  const findings = bursts.map((burst) => judgeBurst(burst, rule));
  const [first] = findings;
  const last = findings.at(-1);
  if (first === undefined || last === undefined) return { kind: 'again', oneAtATime: false };
  const again: Judgement =
    findings.length === MOST_BURSTS
      ? { kind: 'open', finding: last }
      : { kind: 'again', oneAtATime: findings.some(isOvershoot) };
  if (last.kind === 'fits') {
    if (findings.length === 1) return last.isCertain ? { kind: 'kept' } : again;
    const breaks = findings.filter(({ kind }) => kind !== 'fits');
    // A slow burst fits a bucket that refills, and excuses no quick one in which fewer or more passed.
    if (!last.isExact && breaks.some(({ kind }) => kind === 'fewer')) return again;
    const isUnclear = breaks.some(({ kind }) => kind === 'more') ? !last.isExact : breaks.length > 1;
    return isUnclear ? { kind: 'open', finding: breaks[0]! } : { kind: 'kept', why: excuseOf(first) };
  }
  if (last.kind === 'tooSlow' || last.kind === 'lost') return { kind: 'open', finding: last };
  if (last.kind !== first.kind && first.kind !== 'fits') return { kind: 'open', finding: last };
  const same = findings.filter(({ kind }) => kind === last.kind).length;
  if (last.kind !== 'more') return same > 1 ? { kind: 'broken', finding: last } : again;
  if (last.isOvershoot) return again;
  if (last.isBeyondTwoWindows) return { kind: 'broken', finding: last };
  const counted = bursts.filter((_, at) => !isOvershoot(findings[at]!));
  if (!isExplainedByWindows(counted, rule, false)) return { kind: 'broken', finding: last };
  // Slow bursts and those with losses agree by chance more often.
  const needed = counted.every((burst) => isClear(burst, rule)) ? 2 : 4;
  return counted.length >= needed && isExplainedByWindows(counted, rule, true)
    ? { kind: 'kept', why: 'boundary' }
    : again;
}

/** Whether all of it is known, and the limit was reached early in the window. */
function isClear({ startedAt, history }: Burst, { windowMs }: Rule): boolean {
  const refusal = history.find(({ result }) => result === 'refused');
  const isQuick = refusal !== undefined && refusal.receivedAt - startedAt < 0.05 * windowMs;
  return isQuick && history.every(({ result }) => result !== 'lost');
}

const isOvershoot = (finding: Finding) => finding.kind === 'more' && finding.isOvershoot;

const excuseOf = (first: Finding) =>
  first.kind !== 'more' ? 'once' : first.isOvershoot ? 'counts-later' : 'boundary';

/**
 * Whether windows of that length, one after another, can have let no more than the limit through in each,
 * wherever they begin; with `isStrict` also whether each refusal came in a window that may have been full.
 * A ban may refuse for longer.
 */
function isExplainedByWindows(
  bursts: readonly Burst[],
  { most, windowMs }: Rule,
  isStrict: boolean,
): boolean {
  // The server met a request at an instant in between.
  const all = bursts.flatMap(({ history }) =>
    history.map(({ result, sentAt, receivedAt }) => ({
      result,
      from: sentAt - SLACK,
      to: receivedAt + SLACK,
    })),
  );
  const passes = all.filter(({ result }) => result === 'passed');
  const refusals = isStrict ? all.filter(({ result }) => result === 'refused') : [];
  // Whatever explains all of them still does so where the edge is moved on to the end of one.
  const edges = [...passes, ...refusals].map(({ to }) => to);
  return edges.some((edge) => {
    const windowOf = (instant: number) => Math.floor((instant - edge) / windowMs);
    const counts = new Map<number, number>();
    const isWithin = passes.every(({ from, to }) => {
      const window = windowOf(from);
      if (windowOf(to) !== window) return true;
      const count = (counts.get(window) ?? 0) + 1;
      counts.set(window, count);
      return count <= most;
    });
    const mayBeFull = ({ from, to }: (typeof all)[number]) =>
      [windowOf(from), windowOf(to)].some(
        (window) =>
          all.filter(
            (other) =>
              other.result !== 'refused' &&
              other.from <= to &&
              windowOf(other.from) <= window &&
              windowOf(other.to) >= window,
          ).length >= most,
      );
    const isLetInAgain = (refusal: (typeof all)[number]) =>
      passes.some(({ from, to }) => from > refusal.to && windowOf(to) === windowOf(refusal.from));
    return isWithin && refusals.every((refusal) => mayBeFull(refusal) && !isLetInAgain(refusal));
  });
}
