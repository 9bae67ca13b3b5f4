import type { Traffic, TrafficStep } from '../../schemas/generated/types.ts';
import { count, latency, several } from '../units.ts';
import { axis, percent, pixels } from './axis.ts';
import { html, type Markup } from './markup.ts';
import { roundTicks } from './ticks.ts';

/** Pixels of the plot. */
const HEIGHT = 120;

/** What stands in a bar, from the bottom up. */
const kinds = [
  { of: ({ answers, limited }) => answers - limited, tone: 'answers', name: 'other answers' },
  { of: ({ limited }) => limited, tone: 'limited', name: 'answers with status 429' },
  { of: ({ troubles }) => troubles, tone: 'troubles', name: 'without an answer' },
] as const satisfies readonly {
  readonly of: (step: TrafficStep) => number;
  readonly tone: string;
  readonly name: string;
}[];

/** When answers came, which of them were 429s, and where none came. */
export function timeline({ stepMs, steps }: Traffic['timeline']): Markup | undefined {
  if (steps.length === 0) return undefined;
  const most = Math.max(1, ...steps.map(({ answers, troubles }) => answers + troubles));
  const totals = kinds
    .map(({ of, tone, name }) => ({ tone, name, total: steps.reduce((sum, step) => sum + of(step), 0) }))
    .filter(({ total }) => total > 0)
    .map(({ tone, name, total }) => ({ tone, words: `${count(total)} ${name}` }));
  const legend = totals.map(({ tone, words }) => html`<span class="key ${tone}">${words}</span>`);
  const spoken = totals.map(({ words }) => words).join(', ');
  return html`<figure>
    <figcaption>When answers came: at most ${several(most, 'request')} in ${timeOf(stepMs)}</figcaption>
    <svg role="img" aria-label="Over the run: ${spoken}" width="100%" height="${HEIGHT + 22}">
      ${axis(roundTicks(stepMs * steps.length, timeOf), HEIGHT)}
      ${steps.map((step, at) => bar(step, at / steps.length, 1 / steps.length, most))}
    </svg>
    <p class="legend">${legend}</p>
  </figure>`;
}

function bar(step: TrafficStep, at: number, width: number, most: number): Markup {
  let below = 0;
  const pieces = kinds.map(({ of, tone, name }) => {
    const number = of(step);
    if (number <= 0) return undefined;
    // What is rare is seen, too.
    const height = Math.max(2, (number / most) * (HEIGHT - 4));
    below += height;
    return html`<rect
      class="${tone}"
      x="${percent(at * 100)}"
      width="${percent(width * 100)}"
      y="${pixels(HEIGHT - below)}"
      height="${pixels(height)}"
    >
      <title>${count(number)} ${name}</title>
    </rect>`;
  });
  return html`${pieces}`;
}

const timeOf = (ms: number) => (ms < 120_000 ? latency(ms) : `${Number((ms / 60_000).toPrecision(3))} min`);
