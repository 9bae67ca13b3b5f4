import type { EndpointTraffic, RunRecord } from '../../schemas/generated/types.ts';
import { count, latency } from '../units.ts';
import { histogram } from './histogram.ts';
import { html, type Markup } from './markup.ts';
import { timeline } from './timeline.ts';

/** How fast answers came, and when. */
export function traffic({ traffic: figures }: RunRecord): Markup | undefined {
  if (figures === undefined) return undefined;
  return html`<table class="figures">
      <thead>
        <tr>
          <th scope="col">endpoint</th>
          <th scope="col">answers</th>
          <th scope="col">median</th>
          <th scope="col">95 %</th>
          <th scope="col">99 %</th>
          <th scope="col">slowest</th>
        </tr>
      </thead>
      <tbody>
        ${figures.endpoints.map(row)}
      </tbody>
    </table>
    <div class="histograms">${figures.endpoints.map(histogram)}</div>
    ${timeline(figures.timeline)}`;
}

function row({ endpoint, answers, medianMs, p95Ms, p99Ms, maxMs }: EndpointTraffic): Markup {
  return html`<tr>
    <th scope="row">${endpoint}</th>
    <td>${count(answers)}</td>
    ${[medianMs, p95Ms, p99Ms, maxMs].map((ms) => html`<td>${latency(ms)}</td>`)}
  </tr>`;
}
