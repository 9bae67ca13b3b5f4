import type { RunRecord } from '../../schemas/generated/types.ts';
import { conclusion } from '../conclusion.ts';
import { count, duration, several } from '../units.ts';
import { html, type Markup } from './markup.ts';

const marks = { conformant: '✓', nonconformant: '✗', incomplete: '?' } as const satisfies Record<
  RunRecord['verdict'],
  string
>;

/** The verdict with its numbers, and what was run against what. */
export function verdict(record: RunRecord): Markup {
  const [headline] = conclusion(record);
  const colon = headline.indexOf(': ');
  const rows = facts(record).map(
    ([name, value]) =>
      html`<div>
        <dt>${name}</dt>
        <dd>${value}</dd>
      </div>`,
  );
  return html`<header class="verdict ${record.verdict}">
    <p class="by">ib-conformance ${record.version}: verification of a partner lookup server</p>
    <h1><span aria-hidden="true">${marks[record.verdict]}</span> ${headline.slice(0, colon)}</h1>
    <p class="numbers">${headline.slice(colon + 2)}</p>
    <dl class="facts">${rows}</dl>
  </header>`;
}

function facts(record: RunRecord): readonly (readonly [name: string, value: string])[] {
  const { target, partner, startedAt, durationMs, requests, rateLimited, seed } = record;
  const waited = `, ${duration(rateLimited.waitedMs)} of it waiting out ${several(rateLimited.answers, 'answer')} with status 429`;
  return [
    ['target', target],
    ...(partner === undefined ? [] : [['partner', partner] as const]),
    ['started', startedAt],
    ['took', `${duration(durationMs)}${rateLimited.answers > 0 ? waited : ''}`],
    ['requests', count(requests)],
    ['seed', String(seed)],
  ];
}
