import { SLACK, type Burst, type Rule } from './history.ts';

/** When the server may have met a request, in ms. */
interface Span {
  readonly from: number;
  readonly to: number;
}

interface Refusal extends Span {
  /** Ends of the requests that may have been counted before it, the latest first. */
  readonly before: readonly number[];
  /** The same, from the one on that makes the limit full. */
  readonly full: readonly number[];
  /** When the next pass had surely come, in ms; infinite where none did. */
  readonly letInBy: number;
}

/** What a limiter must be able to do to have answered like this. */
interface Seen {
  readonly startedAt: number;
  readonly passes: readonly Span[];
  readonly refusals: readonly Refusal[];
}

/** A limiter as a bucket that holds the limit, and gets it back in so many parts a window. */
interface Bucket {
  readonly parts: number;
  /** Parts that it got back after one time, until the other. */
  readonly ticks: (after: number, until: number) => number;
}

const divisorsOf60 = Array.from({ length: 60 }, (_, nth) => nth + 1).filter((parts) => 60 % parts === 0);

/** How often in a window a bucket may be refilled; a single time stands for clock-aligned windows as well. */
const partsOf = ({ most, windowMs }: Rule) => [
  ...[...divisorsOf60, windowMs / 1000, windowMs / 100].filter((parts) => parts >= 1 && parts < most),
  most,
];

/** Phases at which windows that count those before in part are tried. */
const PHASES = 200;

/** Whether an evenly refilled bucket can have been empty whenever a request of the burst was refused. */
export function mayBeBucket(burst: Burst, { most, windowMs }: Rule): boolean {
  const ticks = (after: number, until: number) => ((until - after) * most) / windowMs;
  return mayRefuse(seenIn(burst, most), most, { parts: most, ticks });
}

/**
 * Whether a limiter with clock-aligned windows, or a bucket that is refilled at intervals, can have let pass what
 * passed in all bursts, whenever its windows begin; with `isStrict` also whether it can have refused what was
 * refused. Without it, windows may refuse for longer: there are bans.
 */
export function isExplained(bursts: readonly Burst[], rule: Rule, isStrict: boolean): boolean {
  const { most, windowMs } = rule;
  const all = bursts.map((burst) => seenIn(burst, most));
  // Whatever explains all of them still does so where a tick is moved on to the end of one, but not beyond it.
  const edges = all.flatMap(({ passes, refusals }) => [...passes, ...refusals].map(({ to }) => to));
  const isBucket = partsOf(rule).some((parts) => {
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

function seenIn({ startedAt, history }: Burst, most: number): Seen {
  const spans = (...results: readonly string[]): readonly Span[] =>
    history
      .filter(({ result }) => results.includes(result))
      .map(({ sentAt, receivedAt }) => ({ from: sentAt - SLACK, to: receivedAt + SLACK }))
      .toSorted((a, b) => a.to - b.to);
  const [passes, counted] = [spans('passed'), spans('passed', 'lost', 'other').toReversed()];
  const refusals = spans('refused').map(({ from, to }) => {
    const before = counted.filter((other) => other.from <= to).map((other) => other.to);
    const letInBy = passes.find((pass) => pass.from > to)?.to ?? Number.POSITIVE_INFINITY;
    return { from, to, before, full: before.slice(most - 1), letInBy };
  });
  return { startedAt, passes, refusals };
}

/** Whether the bucket, full at the start of a burst, can have let pass what passed. */
function mayPass(
  { startedAt, passes }: Seen,
  most: number,
  { parts, ticks }: Bucket,
  tick: number,
  intervalMs: number,
): boolean {
  const lastAt = passes.at(-1)?.to ?? startedAt;
  let since = startedAt - SLACK;
  // At a tick it held no more than the limit.
  for (let next = tick; since < lastAt; since = next, next += intervalMs) {
    let count = 0;
    for (const { from, to } of passes)
      if (from >= since && ++count > most + (most / parts) * ticks(since, to)) return false;
  }
  return true;
}

/** Whether the bucket can have been empty whenever it refused, and until it was refilled. */
function mayRefuse({ refusals }: Seen, most: number, { parts, ticks }: Bucket): boolean {
  const part = Math.floor(most / parts);
  return refusals.every(
    ({ from, full, letInBy }) =>
      ticks(from, letInBy) > 0 &&
      full.some((since, over) => over + 1 > part * (since < from ? ticks(since, from) : 0)),
  );
}

/** Whether windows, in which those of the one before count in part, can have answered like this. */
function mayBeWeighted({ passes, refusals }: Seen, most: number, windowMs: number, phase: number): boolean {
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
