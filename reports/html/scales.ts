/** A place on an axis, in percent of the width of its chart. */
export interface Tick {
  readonly at: number;
  readonly label: string;
}

/** Places of values on an axis, in percent, and its ticks. */
export interface Scale {
  readonly place: (value: number) => number;
  readonly ticks: readonly Tick[];
}

/** Ticks beside the first, at most. */
const MAX_TICKS = 6;

/**
 * An axis on which every tick is the same multiple of the one before: twice, four times …
 *
 * @param least greater than 0
 * @param most not less
 * @param label writes a value
 */
export function logScale(least: number, most: number, label: (value: number) => string): Scale {
  const from = Math.floor(Math.log2(least));
  const doublings = Math.max(1, Math.ceil(Math.log2(most)) - from);
  const stride = Math.ceil(doublings / MAX_TICKS);
  const steps = Math.ceil(doublings / stride);
  return {
    place: (value) => Math.min(100, Math.max(0, ((Math.log2(value) - from) / (stride * steps)) * 100)),
    ticks: Array.from({ length: steps + 1 }, (_, step) => ({
      at: (step / steps) * 100,
      label: label(2 ** (from + step * stride)),
    })),
  };
}

/**
 * Ticks of an axis that begins at 0, at round values: 1, 2 or 5 times a power of ten.
 *
 * @param end value at the end of the axis, greater than 0
 * @param label writes a value
 */
export function roundTicks(end: number, label: (value: number) => string): readonly Tick[] {
  const power = 10 ** Math.floor(Math.log10(end / MAX_TICKS));
  const step = power * ([1, 2, 5].find((times) => end / (power * times) <= MAX_TICKS) ?? 10);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, nth) => ({
    at: ((nth * step) / end) * 100,
    label: label(nth * step),
  }));
}

/** Which part of a label stands at a place, so that all of it is visible. */
export function anchorAt(at: number): 'start' | 'middle' | 'end' {
  if (at < 10) return 'start';
  return at > 90 ? 'end' : 'middle';
}

/** `12.34%` */
export const percent = (part: number) => `${Number(part.toFixed(2))}%`;
