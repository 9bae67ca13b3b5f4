import type { Rule } from '../limiter/history.ts';

/** A limit that may be behind refusals. */
export interface Explanation extends Rule {
  /** How well the refusals agree: 1 where all came after equally many passes. */
  readonly fit: number;
}

/** What is known of a key that was refused. Times are ms. */
export interface Refusal {
  /** When counted requests that passed went out. */
  readonly passes: readonly number[];
  /** When the limiter let go: between these two. */
  readonly least: number;
  readonly most: number;
}

/**
 * The least strict limit that explains refusals: as long as a key was refused, at least so many of the passes
 * were no older than the window. This holds for fixed and sliding windows, and for buckets.
 */
export function explanation(refusals: readonly Refusal[]): Explanation | undefined {
  const { passes, least, most } = refusals.at(-1)!;
  let best: Explanation | undefined;
  let bestScore = 0;
  const windows = new Set(passes.map((at) => roundest(least - at, most - at)));
  for (const windowMs of [...windows].toSorted((a, b) => a - b)) {
    if (windowMs <= 0) continue;
    const counts = refusals.map(
      (one) => one.passes.filter((at) => at > one.least - windowMs && at < one.most).length,
    );
    const threshold = Math.min(...counts);
    // Most windows are whole seconds.
    const likeness = windowMs % 1000 === 0 ? 1.1 : 1;
    const score = (likeness * threshold) / windowMs;
    if (threshold === 0 || score < bestScore * 1.001) continue;
    bestScore = score;
    best = { most: threshold, windowMs, fit: threshold / Math.max(...counts) };
  }
  return best;
}

/** A length (ms) above `least` and up to `most`: whole minutes or seconds where there are any. */
const roundest = (least: number, most: number): number =>
  [60_000, 1000].map((unit) => Math.floor(most / unit) * unit).find((one) => one > Math.max(0, least)) ??
  most;
