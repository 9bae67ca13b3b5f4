import type { Tick } from './axis.ts';

/** Ticks beside the first, at most. */
const MOST = 6;

/**
 * Ticks of an axis that begins at 0, at round values: 1, 2 or 5 of a power of ten.
 *
 * @param end value at the end of the axis, greater than 0
 * @param label writes a value
 */
export function roundTicks(end: number, label: (value: number) => string): readonly Tick[] {
  const power = 10 ** Math.floor(Math.log10(end / MOST));
  const step = power * ([1, 2, 5].find((times) => end / (power * times) <= MOST) ?? 10);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, nth) => ({
    at: ((nth * step) / end) * 100,
    label: label(nth * step),
  }));
}
