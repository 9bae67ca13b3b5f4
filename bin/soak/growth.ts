import { spreadOf } from '../bench/spread.ts';

/** What the mock was seen to hold at one time. */
export interface Sample {
  /** Requests that were answered by then, warm-up not included. */
  readonly requests: number;
  readonly residentMb: number;
  readonly descriptors: number;
  readonly seconds: number;
}

/** By how much (MB) memory grew from the first fifth of some samples to the last, by their medians. */
export function growthOf(samples: readonly Sample[]): number {
  const fifth = Math.max(1, Math.floor(samples.length / 5));
  const residents = samples.map(({ residentMb }) => residentMb);
  return spreadOf(residents.slice(-fifth)).median - spreadOf(residents.slice(0, fifth)).median;
}

/** A row for each tenth of the samples, and the first. */
export function soakTable(samples: readonly Sample[]): string {
  const shown = samples.filter(
    (_, index) =>
      index === 0 ||
      Math.floor((index * 10) / samples.length) !== Math.floor(((index - 1) * 10) / samples.length) ||
      index === samples.length - 1,
  );
  return [
    '| requests | seconds | memory, MB | descriptors |',
    '| --- | --- | --- | --- |',
    ...shown.map(
      ({ requests, seconds, residentMb, descriptors }) =>
        `| ${requests} | ${seconds.toFixed(0)} | ${residentMb.toFixed(0)} | ${descriptors} |`,
    ),
    '',
  ].join('\n');
}
