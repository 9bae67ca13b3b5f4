import type { Part, Samples } from './part.ts';

/** Where figures come from. */
export interface Conditions {
  readonly date: string;
  readonly machine: string;
  readonly node: string;
  /** Of the packages that were measured. */
  readonly versions: Readonly<Record<string, string>>;
  readonly rounds: number;
  /** One-minute load average before and after: above the number of processors, others were at work. */
  readonly load: readonly [before: number, after: number];
}

/** The table of a part in Markdown, and under it how the figures were taken. */
export function table({ rows, columns }: Pick<Part, 'rows' | 'columns'>, samples: Samples, how: Conditions) {
  const lines = [
    [rows, ...columns.map(({ title }) => title)],
    ['---', ...columns.map(() => '---')],
    ...Object.entries(samples).map(([name, own]) => [name, ...columns.map(({ cell }) => cell(own, samples))]),
  ];
  return [...lines.map((cells) => `| ${cells.join(' | ')} |`), '', caption(how), ''].join('\n');
}

function caption({ date, machine, node, versions, rounds, load }: Conditions): string {
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const [before, after] = load.map((value) => value.toFixed(1));
  return `${rounds === 1 ? 'One round' : `Medians of ${rounds} alternating rounds, in brackets the middle half; ratios are of the same round`}. ${[machine, `Node ${node}`, ...packages].join(', ')}; ${date.slice(0, 10)}, load average ${before} to ${after}.`;
}
