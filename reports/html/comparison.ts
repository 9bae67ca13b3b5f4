import { codePointsAt, firstDifference } from '../first-difference.ts';
import { difference, type Stretch } from './difference.ts';
import { html, type Markup } from './markup.ts';
import { visible } from './visible.ts';

/** Columns of a stretch that are shown at most. */
const MOST = 1200;

/** Expected and actual side by side, with what differs marked. */
export function comparison(expected: string, actual: string): Markup {
  const stretches = difference(expected, actual);
  const names = codePointsAt(firstDifference(expected, actual), expected, actual);
  return html`<div class="comparison">
    ${side('Expected', 'good', stretches.expected)} ${side('Actual', 'bad', stretches.actual)}
    ${names === undefined || expected === actual ? undefined : html`<p class="letters">${names}</p>`}
  </div>`;
}

function side(title: string, tone: 'good' | 'bad', stretches: readonly Stretch[]): Markup {
  const shown = stretches.map((one) => write[one.is](one.text));
  const isEmpty = stretches.every(({ is, text }) => is !== 'cut' && text === '');
  return html`<div class="side ${tone}">
    <h4>${title}</h4>
    <code class="block">${isEmpty ? html`<span class="quiet">(nothing)</span>` : shown}</code>
  </div>`;
}

const write = {
  same: (text) => visible(text, MOST),
  other: (text) => html`<mark>${visible(text, MOST)}</mark>`,
  cut: () => html`<span class="quiet">…</span>`,
} as const satisfies Record<Stretch['is'], (text: string) => Markup>;
