import type { RateLimit } from '../limiter/limit.ts';

/** A rate limit that would explain the refusals. */
export interface InferredLimit extends RateLimit {
  /** How well the refusals agree: 1 if the same number of requests passed before each. */
  readonly fit: number;
}

/** A period in which a key was refused. Times are in ms. */
export interface RefusalPeriod {
  readonly passes: readonly number[];
  /** The limit ended between `least` and `most`. */
  readonly least: number;
  readonly most: number;
}

/**
 * The least strict limit that explains refusals: while a key was refused, at least `most` requests had passed
 * within the window. This holds for fixed windows, sliding windows and buckets.
 */
export function inferLimit(refusals: readonly RefusalPeriod[]): InferredLimit | undefined {
  const { passes, least, most } = refusals.at(-1)!;
  let best: InferredLimit | undefined;
  let bestScore = 0;
  const windows = new Set(passes.map((at) => roundDuration(least - at, most - at)));
  for (const windowMs of [...windows].toSorted((a, b) => a - b)) {
    if (windowMs <= 0) continue;
    const counts = refusals.map(
      (one) => one.passes.filter((at) => at > one.least - windowMs && at < one.most).length,
    );
    const threshold = Math.min(...counts);
    // Most windows are whole seconds.
    const roundBonus = windowMs % 1000 === 0 ? 1.1 : 1;
    const score = (roundBonus * threshold) / windowMs;
    if (threshold === 0 || score < bestScore * 1.001) continue;
    bestScore = score;
    best = { most: threshold, windowMs, fit: threshold / Math.max(...counts) };
  }
  return best;
}

/** A duration (ms) above `least`, up to `most`: whole minutes if possible, else whole seconds. */
const roundDuration = (least: number, most: number): number =>
  [60_000, 1000].map((unit) => Math.floor(most / unit) * unit).find((one) => one > Math.max(0, least)) ??
  most;
