import type { Spread } from './spread.ts';

/** What a mock server weighs. */
export interface Footprint {
  readonly name: string;
  readonly version: string;
  readonly coldStartMs: Spread;
  /** How many times the bare server's start of the same round, the median of that. */
  readonly timesBare: number;
  readonly restMb: Spread;
  /** `du` of node_modules, in MB (2^20 bytes). */
  readonly installedMb: number;
  /** Packages that npm installs for it. */
  readonly packages: number;
}

/** The figures and where they come from. */
export interface Footprints {
  readonly date: string;
  readonly machine: string;
  readonly node: string;
  readonly rounds: number;
  /** One-minute load average before and after: above the number of processors, others were at work. */
  readonly load: readonly [before: number, after: number];
  readonly rows: readonly Footprint[];
}

/** A Markdown table, and under it how they were taken. */
export function footprintTable({ date, machine, node, rounds, load, rows }: Footprints): string {
  const cells = rows.map(({ name, version, coldStartMs, timesBare, restMb, installedMb, packages }) =>
    [
      `${name} ${version}`,
      spread(coldStartMs),
      timesBare.toFixed(1),
      spread(restMb),
      `${installedMb.toFixed(1)} MB`,
      String(packages),
    ].join(' | '),
  );
  return [
    '| | cold start to the first 200, ms | times bare polka | memory at rest, MB | installed | packages |',
    '| --- | --- | --- | --- | --- | --- |',
    ...cells.map((row) => `| ${row} |`),
    '',
    `Medians of ${rounds} alternating starts, in brackets the middle half; the ratio is of starts in the same round. ${machine}, Node ${node}, ${date.slice(0, 10)}; load average ${load.map((value) => value.toFixed(1)).join(' to ')}.`,
    '',
  ].join('\n');
}

const spread = ({ median, lowerQuartile, upperQuartile }: Spread) =>
  `${median.toFixed(0)} (${lowerQuartile.toFixed(0)} to ${upperQuartile.toFixed(0)})`;
