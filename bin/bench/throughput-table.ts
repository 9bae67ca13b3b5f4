import type { Spread } from './spread.ts';

/** What a server bears. */
export interface Throughput {
  readonly name: string;
  /** Missing for what is of node itself. */
  readonly version?: string;
  readonly requestsPerSecond: Spread;
  /** As a share of the bare server's in the same round, the median of that; so below. */
  readonly timesBare: number;
  readonly p99Ms: Spread;
  readonly p99TimesBare: number;
  /** Resident memory when the load has ended, in MB (2^20 bytes). */
  readonly loadedMb: Spread;
}

/** The figures and where they come from. */
export interface Throughputs {
  readonly date: string;
  readonly machine: string;
  readonly node: string;
  readonly rounds: number;
  readonly connections: number;
  /** One-minute load average before and after. */
  readonly load: readonly [before: number, after: number];
  readonly rows: readonly Throughput[];
}

/** A Markdown table, and under it how they were taken. */
export function throughputTable(figures: Throughputs): string {
  const { date, machine, node, rounds, connections, load, rows } = figures;
  const cells = rows.map(
    ({ name, version = '', requestsPerSecond, timesBare, p99Ms, p99TimesBare, loadedMb }) =>
      [
        `${name} ${version}`.trim(),
        spread(requestsPerSecond, 0),
        timesBare.toFixed(timesBare < 0.1 ? 3 : 2),
        spread(p99Ms, 1),
        p99TimesBare.toFixed(1),
        spread(loadedMb, 0),
      ].join(' | '),
  );
  return [
    '| | requests a second | share of bare | p99, ms | times bare | memory after it, MB |',
    '| --- | --- | --- | --- | --- | --- |',
    ...cells.map((row) => `| ${row} |`),
    '',
    `Medians of ${rounds} alternating rounds through ${connections} connections, in brackets the middle half; the ratios are of the same round. ${machine}, Node ${node}, ${date.slice(0, 10)}; load average ${load.map((value) => value.toFixed(1)).join(' to ')}.`,
    '',
  ].join('\n');
}

const spread = ({ median, lowerQuartile, upperQuartile }: Spread, digits: number) =>
  `${median.toFixed(digits)} (${lowerQuartile.toFixed(digits)} to ${upperQuartile.toFixed(digits)})`;
