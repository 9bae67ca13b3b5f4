import type { Limit } from './world.ts';

/** Adds a request that is counted at `now` to those that still count: when each is forgotten, ascending. All in Unix ms. */
export type Count = (hits: number[], limit: Limit, now: number) => void;

/** Kinds of limiters that keep the promise "so many in a window" (Limits). */
export const limiters = {
  fixedWindow: (hits, { windowMs }, now) => void hits.push(hits[0] ?? now + windowMs),
  slidingWindow: (hits, { windowMs }, now) => void hits.push(now + windowMs),
  alignedWindow: (hits, { windowMs }, now) => void hits.push((Math.floor(now / windowMs) + 1) * windowMs),
  weightedWindow: (hits, { windowMs }, now) => {
    const end = (Math.floor(now / windowMs) + 1) * windowMs;
    const before = hits.filter((at) => at <= end).length;
    const count = hits.length - before + 1;
    // They count less and less throughout the next window.
    for (let nth = 0; nth < count; nth++) hits[before + nth] = end + (windowMs * (nth + 0.5)) / count;
  },
  bucket: (hits, { most, windowMs }, now) => void hits.push((hits.at(-1) ?? now) + windowMs / most),
  bucketAtIntervals: (hits, { most, windowMs }, now) => {
    const parts = Math.min(4, most);
    const [perInterval, intervalMs] = [Math.floor(most / parts), windowMs / parts];
    const intervals = Math.ceil((hits.length + 1) / perInterval);
    hits.push((Math.floor(now / intervalMs) + intervals) * intervalMs);
  },
  windowThenBan: (hits, { most, windowMs }, now) => {
    hits.push(hits[0] ?? now + windowMs);
    if (hits.length >= most) hits.fill(now + 3 * windowMs);
  },
} as const satisfies Readonly<Record<string, Count>>;
