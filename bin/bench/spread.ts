/** Where the middle half of some figures lies. */
export interface Spread {
  readonly median: number;
  readonly lowerQuartile: number;
  readonly upperQuartile: number;
}

/** The spread of at least one figure; between two of them in proportion. */
export function spreadOf(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b);
  const at = (share: number) => {
    const place = share * (sorted.length - 1);
    const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
    return low + (high - low) * (place % 1);
  };
  return { median: at(0.5), lowerQuartile: at(0.25), upperQuartile: at(0.75) };
}
