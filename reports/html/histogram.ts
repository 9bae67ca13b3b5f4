import type { EndpointTraffic } from '../../schemas/generated/types.ts';
import { count, latency } from '../units.ts';
import { anchorAt, axis, percent, pixels } from './axis.ts';
import { logScale, type Scale } from './log-scale.ts';
import { html, type Markup } from './markup.ts';

/** Pixels of the plot, and of the room above its bars, where the lines are named. */
const HEIGHT = 120;
const ABOVE = 34;

/** The latencies of an endpoint as bars, and where the median and the 95th percentile lie. */
export function histogram({ endpoint, histogram: buckets, medianMs, p95Ms }: EndpointTraffic): Markup {
  const [first] = buckets;
  const last = buckets.at(-1);
  if (first === undefined || last === undefined) return html``;
  const scale = logScale(first.fromMs, last.toMs, latency);
  const most = Math.max(...buckets.map(({ answers }) => answers));
  const words = `Latencies of ${endpoint}: half of the answers within ${latency(medianMs)}, 95 % within ${latency(p95Ms)}`;
  return html`<figure>
    <figcaption>${endpoint}: how long answers took</figcaption>
    <svg role="img" aria-label="${words}" width="100%" height="${HEIGHT + 22}">
      ${axis(scale.ticks, HEIGHT)} ${buckets.map((bucket) => bar(bucket, most, scale))}
      ${marker('median', medianMs, 11, scale)} ${marker('95 %', p95Ms, 26, scale)}
    </svg>
  </figure>`;
}

function bar(
  { fromMs, toMs, answers }: EndpointTraffic['histogram'][number],
  most: number,
  { place }: Scale,
): Markup {
  const height = Math.max(1, (answers / most) * (HEIGHT - ABOVE));
  return html`<rect
    class="bar"
    x="${percent(place(fromMs))}"
    width="${percent(Math.max(0, place(toMs) - place(fromMs)))}"
    y="${pixels(HEIGHT - height)}"
    height="${pixels(height)}"
  >
    <title>${latency(fromMs)} to ${latency(toMs)}: ${count(answers)}</title>
  </rect>`;
}

function marker(name: string, ms: number, y: number, { place }: Scale): Markup {
  const at = place(ms);
  const side = anchorAt(at);
  return html`<line class="marker" x1="${percent(at)}" x2="${percent(at)}" y1="${y + 3}" y2="${HEIGHT}" />
    <text class="marker-name" x="${percent(at)}" y="${y}" text-anchor="${side}"
      >${name} ${latency(ms)}</text
    >`;
}
