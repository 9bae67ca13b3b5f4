import type { Timeline, TimelineRow, TriedStream } from '../../schemas/generated/types.ts';
import { waitWords } from '../../schemas/progress.ts';
import { html, type Markup } from '../markup.ts';
import { count, duration } from '../text.ts';

/** Sizes of a strip, in units of its drawing. It is stretched to the width of the page. */
const [WIDTH, HEIGHT] = [1000, 24];

/** A rectangle from the bottom of a strip: where it begins, how wide and, of 1, how high it is. */
type Bar = readonly [from: number, width: number, height: number];

/** Bars of a kind, for the colour. Labels say the same. */
interface Bars {
  readonly kind: string;
  readonly bars: readonly Bar[];
}

const outline = (bars: readonly Bar[]) =>
  bars
    .map(([from, width, height]) => {
      const high = Math.max(2, Math.round(height * HEIGHT));
      const wide = Math.max(1, width).toFixed(1);
      return `M${from.toFixed(1)} ${HEIGHT}v-${high}h${wide}v${high}z`;
    })
    .join('');

const strip = (label: string, all: readonly Bars[]): Markup =>
  html`<li>
    <span>${label}</span>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
      ${all.map(({ kind, bars }) => html`<path class="of-${kind}" d="${outline(bars)}" />`)}
    </svg>
  </li>`;

const figure = (caption: string, strips: readonly Markup[]): Markup =>
  html`<figure class="picture">
    <figcaption>${caption}</figcaption>
    <ul>
      ${strips}
    </ul>
  </figure>`;

/** Draws a run over time: a strip for each endpoint and status class, and one for each reason to wait. */
export function timelineMarkup({ secondsPerRow, rows }: Timeline): Markup {
  const seconds = Math.max(1, ...rows.map(({ from }) => from + secondsPerRow));
  const most = Math.max(1, ...rows.flatMap(({ answers }) => Object.values(answers)));
  const scale = WIDTH / seconds;
  const barsOf = (own: readonly TimelineRow[], heightOf: (row: TimelineRow) => number) =>
    own.flatMap((row): readonly Bar[] => {
      const height = heightOf(row);
      return height === 0 ? [] : [[row.from * scale, secondsPerRow * scale, height]];
    });
  const strips = [...new Set(rows.map(({ endpoint }) => endpoint))].flatMap((endpoint) => {
    const own = rows.filter((row) => row.endpoint === endpoint);
    const kinds = [...new Set(own.flatMap(({ answers }) => Object.keys(answers)))].toSorted();
    const reasons = [...new Set(own.flatMap(({ waits = [] }) => waits))];
    return [
      ...kinds.map((kind) => {
        const sum = own.reduce((total, { answers }) => total + (answers[kind] ?? 0), 0);
        const bars = barsOf(own, ({ answers }) => (answers[kind] ?? 0) / most);
        const what = kind === 'none' ? 'without an answer' : kind;
        return strip(`${endpoint}, ${what}: ${count(sum)}`, [{ kind, bars }]);
      }),
      ...reasons.map((reason) => {
        const bars = barsOf(own, ({ waits = [] }) => (waits.includes(reason) ? 1 / 3 : 0));
        return strip(`${endpoint} waits: ${waitWords[reason]}`, [{ kind: 'wait', bars }]);
      }),
    ];
  });
  const per = secondsPerRow === 1 ? 'a second' : `${secondsPerRow} seconds`;
  return figure(
    `The run over time, ${duration(1000 * seconds)} from left to right. The highest bar is ${count(most)} requests in ${per}.`,
    strips,
  );
}

/** As in the timeline. */
const kindOf = (status: number): string =>
  status === 429 ? '429' : status === 0 ? 'none' : `${Math.floor(status / 100)}xx`;

/** Runs of equal answers that a label names. */
const NAMED = 3;

/** Draws how a limit was tried: a strip of answers for each kind of request, with the number that is stated. */
export function trialMarkup(id: string, streams: readonly TriedStream[]): Markup {
  const lengthOf = ({ answers }: TriedStream) => answers.reduce((sum, one) => sum + one.count, 0);
  const longest = Math.max(1, ...streams.map((one) => Math.max(lengthOf(one), one.limitAt ?? 0)));
  const scale = WIDTH / longest;
  const strips = streams.map(({ kind, limitAt, answers }) => {
    let from = 0;
    const bars = answers.map(({ status, count: times }) => {
      const bar: Bar = [from * scale, times * scale, status === 429 ? 1 : 1 / 2];
      from += times;
      return { kind: kindOf(status), bar };
    });
    const kinds = [...new Set(bars.map(({ kind: one }) => one))];
    const words = answers.slice(0, NAMED).map((one) => `${count(one.count)} × ${one.status || 'no answer'}`);
    const told = `${kind}: ${words.join(', ')}${answers.length > NAMED ? ', …' : ''}`;
    return strip(limitAt === undefined ? told : `${told}; stated: ${count(limitAt)}`, [
      ...kinds.map((one) => ({
        kind: one,
        bars: bars.flatMap(({ kind: of, bar }) => (of === one ? [bar] : [])),
      })),
      { kind: 'stated', bars: limitAt === undefined ? [] : [[limitAt * scale - 2, 3, 1]] },
    ]);
  });
  return figure(
    `${id}: the answers in their order. High bars are 429, and a line is the stated number.`,
    strips,
  );
}
