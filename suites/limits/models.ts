import { TOLERANCE_MS, type Burst } from './history.ts';
import type { RateLimit } from './limit.ts';

/** A burst as a limiter model sees it. */
type Observed = ReturnType<typeof observe>;

/** A token bucket that holds the limit and is refilled in `parts` equal parts per window. */
interface Bucket {
  readonly parts: number;
  /** Number of refills between two times. */
  readonly ticks: (after: number, until: number) => number;
}

const divisorsOf60 = Array.from({ length: 60 }, (_, nth) => nth + 1).filter((parts) => 60 % parts === 0);

/** Refills per window that are tried. One refill also models clock-aligned windows. */
const partsOf = ({ most, windowMs }: RateLimit) => [
  ...[...divisorsOf60, windowMs / 1000, windowMs / 100].filter((parts) => parts >= 1 && parts < most),
  most,
];

/** Number of phases that are tried for weighted windows. */
const PHASES = 200;

/** Whether a bucket with even refill can have been empty at each refusal. */
export function mayBeBucket(burst: Burst, { most, windowMs }: RateLimit): boolean {
  const ticks = (after: number, until: number) => ((until - after) * most) / windowMs;
  return mayRefuse(observe(burst, most), most, { parts: most, ticks });
}

/**
 * Whether clock-aligned windows, or a bucket refilled at intervals, explain the passes of all bursts, at some phase.
 * With `isStrict`, they must also explain the refusals. Otherwise windows may refuse for longer, because bans exist.
 *
 * @param mostParts the most parts in which a bucket is refilled
 */
export function isExplained(
  bursts: readonly Burst[],
  limit: RateLimit,
  isStrict: boolean,
  mostParts = Infinity,
): boolean {
  const { most, windowMs } = limit;
  const all = bursts.map((burst) => observe(burst, most));
  // A tick may move later, up to the end of a request, without a change. So only these phases are tried.
  const edges = all.flatMap(({ passes, refusals }) => [...passes, ...refusals].map(({ to }) => to));
  const isBucket = partsOf(limit).some((parts) => {
    if (parts > mostParts) return false;
    const intervalMs = windowMs / parts;
    return [...new Set(edges.map((edge) => Math.floor(edge % intervalMs)))].some((phase) => {
      const ticks = (after: number, until: number) =>
        Math.floor((until - phase) / intervalMs) - Math.floor((after - phase) / intervalMs);
      const tickBefore = (instant: number) => phase + Math.floor((instant - phase) / intervalMs) * intervalMs;
      return (
        all.every((seen) => mayPass(seen, most, { parts, ticks }, tickBefore(seen.startedAt), intervalMs)) &&
        ((parts === 1 && !isStrict) || all.every((seen) => mayRefuse(seen, most, { parts, ticks })))
      );
    });
  });
  if (isBucket || !isStrict) return isBucket;
  return Array.from({ length: PHASES }, (_, nth) => (nth * windowMs) / PHASES).some((phase) =>
    all.every((seen) => mayBeWeighted(seen, most, windowMs, phase)),
  );
}

function observe({ startedAt, history }: Burst, most: number) {
  /** When the server may have handled these requests, in ms. */
  const spans = (...results: readonly string[]) =>
    history
      .filter(({ result }) => results.includes(result))
      .map(({ sentAt, receivedAt }) => ({ from: sentAt - TOLERANCE_MS, to: receivedAt + TOLERANCE_MS }))
      .toSorted((a, b) => a.to - b.to);
  const [passes, counted] = [spans('passed'), spans('passed', 'lost', 'other').toReversed()];
  const refusals = spans('refused').map(({ from, to }) => {
    /** `to` of the requests that may have been counted before it, the latest first. */
    const before = counted.filter((other) => other.from <= to).map((other) => other.to);
    /** Latest time of the next pass, in ms; Infinity if there was none. */
    const passedBy = passes.find((pass) => pass.from > to)?.to ?? Number.POSITIVE_INFINITY;
    // `full` is `before` without the latest `most - 1`.
    return { from, to, before, full: before.slice(most - 1), passedBy };
  });
  return { startedAt, passes, refusals };
}

/** Whether the bucket, full at the start, explains the passes. */
function mayPass(
  { startedAt, passes }: Observed,
  most: number,
  { parts, ticks }: Bucket,
  tick: number,
  intervalMs: number,
): boolean {
  const lastAt = passes.at(-1)?.to ?? startedAt;
  let since = startedAt - TOLERANCE_MS;
  // A refill never exceeds the limit.
  for (let next = tick; since < lastAt; since = next, next += intervalMs) {
    let count = 0;
    for (const { from, to } of passes)
      if (from >= since && ++count > most + (most / parts) * ticks(since, to)) return false;
  }
  return true;
}

/** Whether the bucket can have been empty at each refusal, until its next refill. */
function mayRefuse({ refusals }: Observed, most: number, { parts, ticks }: Bucket): boolean {
  const part = Math.floor(most / parts);
  return refusals.every(
    ({ from, full, passedBy }) =>
      ticks(from, passedBy) > 0 &&
      full.some((since, over) => over + 1 > part * (since < from ? ticks(since, from) : 0)),
  );
}

/** Whether weighted windows, which count a part of the previous window, explain the burst. */
function mayBeWeighted(
  { passes, refusals }: Observed,
  most: number,
  windowMs: number,
  phase: number,
): boolean {
  const weight = (instants: readonly number[], now: number) => {
    const start = phase + Math.floor((now - phase) / windowMs) * windowMs;
    const part = 1 - (now - start) / windowMs;
    return instants.reduce((sum, at) => sum + (at >= start ? 1 : at >= start - windowMs ? part : 0), 0);
  };
  const starts = passes.map(({ from }) => from);
  return (
    passes.every(({ to }, nth) => nth < most || weight(starts.slice(0, nth + 1), to) <= most) &&
    refusals.every(({ from, before }) => weight(before, from) + 1.5 >= most)
  );
}
