import { scopes, type RateLimit, type Scope } from './limit.ts';

/** A refusal of a key. It ended between `least` and `most`, in ms. */
export interface EndedRefusal {
  readonly key: string;
  readonly least: number;
  readonly most: number;
}

/** A refusal, with the times of the requests that passed before it. */
export interface RefusalPeriod extends Omit<EndedRefusal, 'key'> {
  readonly passes: readonly number[];
}

/** A limit that would explain the refusals, and how well: 1 if the same number of requests passed before each. */
type InferredLimit = RateLimit & { readonly fit: number };

/** A wider scope must fit better by at least this much. */
const MIN_FIT_GAIN = 0.1;

/**
 * The limit and the scope that explain refusals best.
 *
 * @param passesOf the times (ms) at which the requests of a scope were sent
 */
export function bestScope(
  refusals: readonly EndedRefusal[],
  passesOf: (key: string, scope: Scope) => readonly number[],
): (RateLimit & { readonly scope: Scope }) | undefined {
  let best: (InferredLimit & { readonly scope: Scope }) | undefined;
  for (const scope of scopes) {
    const found = inferLimit(refusals.map((one) => ({ ...one, passes: passesOf(one.key, scope) })));
    if (found !== undefined && (best === undefined || found.fit >= best.fit + MIN_FIT_GAIN))
      best = { ...found, scope };
  }
  return best;
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
  const sorted = refusals.map((one) => ({ ...one, passes: Float64Array.from(one.passes).toSorted() }));
  for (const windowMs of [...windows].toSorted((a, b) => a - b)) {
    if (windowMs <= 0) continue;
    const counts = sorted.map(
      (one) => placeOf(one.most, one.passes) - placeOf(one.least - windowMs, one.passes, true),
    );
    const threshold = Math.min(...counts);
    const score = threshold / windowMs;
    if (threshold === 0 || score < bestScore * 1.001) continue;
    bestScore = score;
    best = { most: threshold, windowMs, fit: threshold / Math.max(...counts) };
  }
  return best;
}

/** How many of the ascending times come before `at`; with `isAtToo`, also those at that time. */
function placeOf(at: number, times: Float64Array, isAtToo = false): number {
  let [from, to] = [0, times.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const time = times[middle]!;
    if (time < at || (isAtToo && time === at)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** A duration (ms) above `least`, up to `most`: whole minutes if possible, else whole seconds. */
const roundDuration = (least: number, most: number): number =>
  [60_000, 1000].map((unit) => Math.floor(most / unit) * unit).find((one) => one > Math.max(0, least)) ??
  most;
