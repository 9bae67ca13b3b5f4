/** What one measurement came to: figures by name; those that do not apply are missing. */
export type Sample = Readonly<Record<string, number>>;

/** A column of a table: its head, and a cell for a row's samples beside those of the first row. */
export interface Column {
  readonly title: string;
  readonly cell: (own: readonly Sample[], first: readonly Sample[]) => string;
}

/** Three digits: more would be noise. */
const digits = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** The value below which a share of the figures lies. */
function quantile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return low + (high - low) * (place % 1);
}

/** The median of a figure, and in brackets its middle half. */
export const spread = (title: string, figure: string): Column => ({
  title,
  cell: (own) => {
    const figures = own.flatMap((sample) => sample[figure] ?? []);
    if (figures.length === 0) return '';
    const [low, median, high] = [0.25, 0.5, 0.75].map((share) => digits.format(quantile(figures, share)));
    return low === high ? median! : `${median} (${low} to ${high})`;
  },
});

/** How many times the figure of the first row in the same round: the median. */
export const ratio = (title: string, figure: string): Column => ({
  title,
  cell: (own, first) => {
    const ratios = own.flatMap((sample, round) => {
      const [value, yardstick] = [sample[figure], first[round]?.[figure]];
      return value === undefined || yardstick === undefined ? [] : [value / yardstick];
    });
    return ratios.length === 0 ? '' : digits.format(quantile(ratios, 0.5));
  },
});

/** A table in Markdown. */
export function table(
  heading: string,
  columns: readonly Column[],
  rows: Readonly<Record<string, readonly Sample[]>>,
): string {
  const [first = []] = Object.values(rows);
  const lines = [
    [heading, ...columns.map(({ title }) => title)],
    ['---', ...columns.map(() => '---')],
    ...Object.entries(rows).map(([name, own]) => [name, ...columns.map(({ cell }) => cell(own, first))]),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

const END = '<!-- end of figures -->';

/**
 * A page in which the text between the markers of a part is replaced.
 *
 * @throws Error if it has no such markers
 */
export function withFigures(page: string, part: string, text: string): string {
  const begin = `<!-- figures: ${part} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(END, from);
  if (from === -1 || to === -1) throw new Error(`there is no ${begin} … ${END}`);
  return `${page.slice(0, from)}${begin}\n\n${text}\n${page.slice(to)}`;
}
