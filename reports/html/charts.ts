import type { EndpointTraffic, Traffic, TrafficStep } from '../../schemas/generated/types.ts';
import { count, latency, plural } from '../text.ts';
import { html, type Markup } from '../markup.ts';
import { table, type PageContext } from './parts.ts';

/** Height of a plot, and of the space above the bars of a histogram for the names of the markers, in pixels. */
const HEIGHT = 120;
const ABOVE = 34;
/** Height of the axis labels below a plot, in pixels. */
const BELOW = 22;

/** Renders latencies and the traffic over time. */
export function traffic({ record: { traffic: figures } }: PageContext): Markup | undefined {
  if (figures === undefined) return undefined;
  const rows = figures.endpoints.map(({ endpoint, answers, medianMs, p95Ms, p99Ms, maxMs }) => [
    endpoint,
    count(answers),
    ...[medianMs, p95Ms, p99Ms, maxMs].map(latency),
  ]);
  return html`${table('figures', ['endpoint', 'answers', 'median', '95 %', '99 %', 'slowest'], rows)}
    <div class="histograms">${figures.endpoints.map(histogram)}</div>
    ${timeline(figures.timeline)}`;
}

function histogram({ endpoint, histogram: buckets, medianMs, p95Ms }: EndpointTraffic): Markup {
  const [first] = buckets;
  const last = buckets.at(-1);
  if (first === undefined || last === undefined) return html``;
  const scale = logScale(first.fromMs, last.toMs, latency);
  const most = Math.max(...buckets.map(({ answers }) => answers));
  const bars = buckets.map(({ fromMs, toMs, answers }) => {
    const height = Math.max(1, (answers / most) * (HEIGHT - ABOVE));
    const [left, right] = [scale.place(fromMs), scale.place(toMs)];
    const title = `${latency(fromMs)} to ${latency(toMs)}: ${count(answers)}`;
    return bar('bar', left, right - left, HEIGHT - height, height, title);
  });
  const words = `Latency of ${endpoint}: median ${latency(medianMs)}, 95th percentile ${latency(p95Ms)}`;
  return html`<figure>
    <figcaption>Latency of ${endpoint}</figcaption>
    <svg role="img" aria-label="${words}" width="100%" height="${HEIGHT + BELOW}">
      ${axis(scale.ticks)} ${bars} ${marker('median', medianMs, 11, scale.place(medianMs))}
      ${marker('95 %', p95Ms, 26, scale.place(p95Ms))}
    </svg>
  </figure>`;
}

function marker(name: string, ms: number, y: number, at: number): Markup {
  return html`<line class="marker" x1="${percent(at)}" x2="${percent(at)}" y1="${y + 3}" y2="${HEIGHT}" />
    <text class="marker-name" x="${percent(at)}" y="${y}" text-anchor="${anchorAt(at)}"
      >${name} ${latency(ms)}</text
    >`;
}

const kinds = [
  { tone: 'answers', name: 'other answers', of: ({ answers, limited }: TrafficStep) => answers - limited },
  { tone: 'limited', name: 'answers with status 429', of: ({ limited }: TrafficStep) => limited },
  { tone: 'troubles', name: 'without an answer', of: ({ troubles }: TrafficStep) => troubles },
];

function timeline({ stepMs, steps }: Traffic['timeline']): Markup | undefined {
  if (steps.length === 0) return undefined;
  const most = Math.max(1, ...steps.map(({ answers, troubles }) => answers + troubles));
  const totals = kinds
    .map(({ of, tone, name }) => ({ tone, name, total: steps.reduce((sum, step) => sum + of(step), 0) }))
    .filter(({ total }) => total > 0)
    .map(({ tone, name, total }) => ({ tone, words: `${count(total)} ${name}` }));
  const legend = totals.map(({ tone, words }) => html`<span class="key ${tone}">${words}</span>`);
  const width = 100 / steps.length;
  const bars = steps.map((step, at) => {
    let below = 0;
    return kinds.map(({ of, tone, name }) => {
      const number = of(step);
      if (number <= 0) return undefined;
      // Rare answers must be visible, too.
      const height = Math.max(2, (number / most) * (HEIGHT - 4));
      below += height;
      return bar(tone, at * width, width, HEIGHT - below, height, `${count(number)} ${name}`);
    });
  });
  return html`<figure>
    <figcaption>Answers over time: at most ${plural(most, 'request')} in ${timeOf(stepMs)}</figcaption>
    <svg
      role="img"
      aria-label="Over the run: ${totals.map(({ words }) => words).join(', ')}"
      width="100%"
      height="${HEIGHT + BELOW}"
    >
      ${axis(roundTicks(stepMs * steps.length, timeOf))} ${bars}
    </svg>
    <p class="legend">${legend}</p>
  </figure>`;
}

const timeOf = (ms: number) => (ms < 120_000 ? latency(ms) : `${Number((ms / 60_000).toPrecision(3))} min`);

/** Renders a bar of a chart: `x` and `width` in percent, `y` and `height` in pixels. */
function bar(tone: string, x: number, width: number, y: number, height: number, title: string): Markup {
  return html`<rect
    class="${tone}"
    x="${percent(x)}"
    width="${percent(Math.max(0, width))}"
    y="${Number(y.toFixed(1))}"
    height="${Number(height.toFixed(1))}"
  >
    <title>${title}</title>
  </rect>`;
}

/** Renders grid lines and the labels of an axis. Labels at the ends stay inside the chart. */
function axis(ticks: ReturnType<typeof roundTicks>): Markup {
  return html`${ticks.map(
    ({ at, label }) =>
      html`<line class="grid" x1="${percent(at)}" x2="${percent(at)}" y1="0" y2="${HEIGHT}" />
        <text class="tick" x="${percent(at)}" y="${HEIGHT + 16}" text-anchor="${anchorAt(at)}"
          >${label}</text
        >`,
  )}`;
}

const MAX_TICKS = 6;

/** Makes a logarithmic axis from `least` (above 0) to `most`. */
function logScale(least: number, most: number, label: (value: number) => string) {
  const from = Math.floor(Math.log2(least));
  const doublings = Math.max(1, Math.ceil(Math.log2(most)) - from);
  const stride = Math.ceil(doublings / MAX_TICKS);
  const end = stride * Math.ceil(doublings / stride);
  const place = (value: number) => Math.min(100, Math.max(0, ((Math.log2(value) - from) / end) * 100));
  const values = Array.from({ length: end / stride + 1 }, (_, nth) => 2 ** (from + nth * stride));
  return { place, ticks: values.map((value) => ({ at: place(value), label: label(value) })) };
}

/** Returns ticks of an axis from 0 to `end` (above 0) at round values: 1, 2 or 5 times a power of ten. */
function roundTicks(end: number, label: (value: number) => string) {
  const power = 10 ** Math.floor(Math.log10(end / MAX_TICKS));
  const step = power * ([1, 2, 5].find((times) => end / (power * times) <= MAX_TICKS) ?? 10);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, nth) => ({
    at: ((nth * step) / end) * 100,
    label: label(nth * step),
  }));
}

/** Returns the `text-anchor` that keeps a label at this place visible. */
function anchorAt(at: number): 'start' | 'middle' | 'end' {
  if (at < 10) return 'start';
  return at > 90 ? 'end' : 'middle';
}

/** `12.34%` */
const percent = (part: number) => `${Number(part.toFixed(2))}%`;
