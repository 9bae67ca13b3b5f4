import { TOLERANCE_MS, type Burst } from './history.ts';
import type { RateLimit } from './limit.ts';

/** When the server may have handled a request, in ms. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** A burst as a model of a limiter sees it. */
type Observed = ReturnType<typeof observe>;

function observe({ startedAt, history }: Burst) {
  const spans = (...results: readonly string[]) =>
    history
      .filter(({ result }) => results.includes(result))
      .map(({ sentAt, receivedAt }) => ({ from: sentAt - TOLERANCE_MS, to: receivedAt + TOLERANCE_MS }))
      .toSorted((a, b) => a.from - b.from);
  const [passes, counted] = [spans('passed'), spans('passed', 'lost', 'other')];
  const refusals = spans('refused').map((refusal) => ({
    ...refusal,
    /** How many requests may have been counted before. */
    begun: counted.filter(({ from }) => from <= refusal.to).length,
    /** When the next request passed, at the latest; Infinity if none did. */
    passedBy: Math.min(Infinity, ...passes.flatMap(({ from, to }) => (from > refusal.to ? to : []))),
  }));
  return { startedAt, passes, counted: counted.toSorted((a, b) => a.to - b.to), refusals };
}

/** How many requests a bucket gets back between two times. */
type Refill = (after: number, until: number) => number;

/** Whether a bucket, full at the start, may have let the passes through. It gets a part back at each tick. */
function mayPass({ passes }: Observed, most: number, part: number, tick: number, intervalMs: number) {
  let [level, nth] = [most, 0];
  let waiting: readonly Span[] = [];
  for (let next = tick; nth < passes.length || waiting.length > 0; next += intervalMs) {
    const from = nth;
    while (nth < passes.length && passes[nth]!.from < next) nth++;
    const asked = waiting.length + nth - from;
    const passed = Math.min(asked, Math.floor(level));
    const all = passed === asked ? [] : [...waiting, ...passes.slice(from, nth)];
    if (all.filter(({ to }) => to < next).length > passed) return false;
    // Those that can wait for the next tick come last.
    waiting = all.toSorted((a, b) => a.to - b.to).slice(passed);
    level = Math.min(most, level - passed + part);
  }
  return true;
}

/** Whether a bucket, full at the start, may have been empty at each refusal. */
function mayRefuse({ startedAt, counted, refusals }: Observed, most: number, refill: Refill): boolean {
  let [level, at, nth] = [most, startedAt - TOLERANCE_MS, 0];
  return refusals.every(({ from, begun, passedBy }) => {
    // The later requests are counted, the less is left.
    for (; nth < counted.length && counted[nth]!.to <= from; nth++) {
      const { to } = counted[nth]!;
      level = Math.min(most, level + refill(at, to)) - 1;
      at = to;
    }
    return refill(from, passedBy) > 0 && Math.min(most, level + refill(at, from)) - (begun - nth) < 1;
  });
}

/** Whether a bucket with even refill can have been empty at each refusal. */
export const mayBeBucket = (burst: Burst, { most, windowMs }: RateLimit): boolean =>
  mayRefuse(observe(burst), most, (after, until) => ((until - after) * most) / windowMs);

/** A kind of limiter that keeps a limit, if its windows or refills begin at a phase (ms). */
interface Model {
  /** Whether it is known to refuse for longer than explained here, as after a ban. */
  readonly mayRefuseLonger: boolean;
  /** The phases to try. A refill may move later, up to the end of a request, without a change. */
  readonly phases: (ends: readonly number[]) => Iterable<number>;
  readonly mayPass: (seen: Observed, phase: number) => boolean;
  readonly mayRefuse: (seen: Observed, phase: number) => boolean;
}

/** A bucket that is refilled in equal parts, so many per window. One part: clock-aligned windows. */
function bucketIn(parts: number, { most, windowMs }: RateLimit): Model {
  const [part, intervalMs] = [most / parts, windowMs / parts];
  const ticks = (at: number, phase: number) => Math.floor((at - phase) / intervalMs);
  return {
    mayRefuseLonger: parts === 1,
    phases: (ends) => new Set(ends.map((end) => Math.floor(end % intervalMs))),
    mayPass: (seen, phase) =>
      mayPass(seen, most, part, phase + (ticks(seen.startedAt, phase) + 1) * intervalMs, intervalMs),
    mayRefuse: (seen, phase) =>
      mayRefuse(seen, most, (after, until) => Math.floor(part) * (ticks(until, phase) - ticks(after, phase))),
  };
}

/** Number of phases that are tried for weighted windows. */
const PHASES = 200;

/** Windows that count a part of the one before. */
function weightedWindows({ most, windowMs }: RateLimit): Model {
  const windowAt = (at: number, phase: number) => Math.floor((at - phase) / windowMs);
  /** What counts at a time, of so many requests by window. */
  const weight = (counts: ReadonlyMap<number, number>, now: number, phase: number) => {
    const nth = windowAt(now, phase);
    const into = (now - phase) / windowMs - nth;
    return (counts.get(nth) ?? 0) + (1 - into) * (counts.get(nth - 1) ?? 0);
  };
  const add = (counts: Map<number, number>, nth: number) => counts.set(nth, (counts.get(nth) ?? 0) + 1);
  return {
    mayRefuseLonger: false,
    phases: () => Array.from({ length: PHASES }, (_, nth) => (nth * windowMs) / PHASES),
    mayPass: ({ passes }, phase) => {
      const counts = new Map<number, number>();
      return passes.every(({ from, to }, nth) => {
        add(counts, windowAt(from, phase));
        return nth < most || weight(counts, to, phase) <= most;
      });
    },
    mayRefuse: ({ counted, refusals }, phase) =>
      refusals.every((refusal) => {
        const counts = new Map<number, number>();
        // The later requests are counted, the more count now.
        for (const { from, to } of counted)
          if (from <= refusal.to) add(counts, windowAt(Math.min(to, refusal.from), phase));
        return weight(counts, refusal.from, phase) + 1.5 >= most;
      }),
  };
}

/** Parts in which buckets are refilled, beside one every second or every tenth of it. */
const PARTS = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60];

const modelsOf = (limit: RateLimit): readonly Model[] => [
  ...[...PARTS, limit.windowMs / 1000, limit.windowMs / 100]
    .filter((parts) => parts >= 1 && parts < limit.most)
    .concat(limit.most)
    .map((parts) => bucketIn(parts, limit)),
  weightedWindows(limit),
];

/**
 * Whether one kind of limiter explains all bursts, at some phase of its windows or refills.
 *
 * @param isStrict whether windows must explain each refusal too
 */
export function isExplained(bursts: readonly Burst[], limit: RateLimit, isStrict: boolean): boolean {
  const all = bursts.map(observe);
  const ends = all.flatMap(({ passes, refusals }) => [...passes, ...refusals].map(({ to }) => to));
  return modelsOf(limit).some((model) =>
    [...model.phases(ends)].some(
      (phase) =>
        all.every((seen) => model.mayPass(seen, phase)) &&
        ((model.mayRefuseLonger && !isStrict) || all.every((seen) => model.mayRefuse(seen, phase))),
    ),
  );
}
