import type { Sample, Samples } from './part.ts';
import { spreadOf } from './spread.ts';

/** A column of a table: its head, and a cell for each entrant, empty where the entrant has no such figure. */
export interface Column {
  readonly title: string;
  readonly cell: (own: readonly Sample[], all: Samples) => string;
}

/** Three digits: more would be noise. */
const digits = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

const known = (figures: readonly (number | undefined)[]) =>
  figures.filter((figure): figure is number => figure !== undefined);

/** The median of a figure, and in brackets its middle half. */
export const spread = (title: string, figure: string): Column => ({
  title,
  cell: (own) => {
    const figures = known(own.map((sample) => sample[figure]));
    if (figures.length === 0) return '';
    const { median, lowerQuartile, upperQuartile } = spreadOf(figures);
    const [middle, from, to] = [median, lowerQuartile, upperQuartile].map((value) => digits.format(value));
    return from === to ? middle! : `${middle} (${from} to ${to})`;
  },
});

/** The median of what is made of an entrant's sample and another one's of the same round. */
const compared = (
  title: string,
  yardstick: string,
  of: (own: Sample, other: Sample) => number | undefined,
): Column => ({
  title,
  cell: (own, all) => {
    const figures = known(own.map((sample, round) => of(sample, all[yardstick]![round]!)));
    return figures.length === 0 ? '' : digits.format(spreadOf(figures).median);
  },
});

/** How many times another entrant's figure of the same round, the median of that. */
export const times = (title: string, figure: string, yardstick: string): Column =>
  compared(title, yardstick, ({ [figure]: own }, { [figure]: other }) =>
    own === undefined || other === undefined ? undefined : own / other,
  );

/** How much more than another entrant's a figure is for each one more of something, the median of that. */
export const forEachMore = (title: string, figure: string, of: string, yardstick: string): Column =>
  compared(title, yardstick, (own, other) => {
    const more = (name: string) => (own[name] ?? Number.NaN) - (other[name] ?? Number.NaN);
    const each = more(figure) / more(of);
    return Number.isFinite(each) ? each : undefined;
  });

/** The median of a figure that is a number of things. */
export const count = (title: string, figure: string): Column => ({
  title,
  cell: (own) => {
    const figures = known(own.map((sample) => sample[figure]));
    return figures.length === 0 ? '' : whole.format(spreadOf(figures).median);
  },
});
