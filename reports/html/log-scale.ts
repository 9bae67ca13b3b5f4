import type { Tick } from './axis.ts';

/** Ticks at most. */
const MOST_TICKS = 7;

/** Places of values on an axis, in percent, and the ticks that it has. */
export interface Scale {
  readonly place: (value: number) => number;
  readonly ticks: readonly Tick[];
}

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
  const stride = Math.ceil(doublings / (MOST_TICKS - 1));
  const steps = Math.ceil(doublings / stride);
  return {
    place: (value) => bounded(((Math.log2(value) - from) / (stride * steps)) * 100),
    ticks: Array.from({ length: steps + 1 }, (_, step) => ({
      at: (step / steps) * 100,
      label: label(2 ** (from + step * stride)),
    })),
  };
}

const bounded = (part: number) => Math.min(100, Math.max(0, part));
