import { createHash } from 'node:crypto';
import type { RunRecord } from '../../schemas/generated/types.ts';
import { count, duration } from '../text.ts';
import { verdictStyles, waitWords } from '../results.ts';
import { strengthSentences } from '../strength.ts';
import { conclusion } from '../verdict.ts';
import { findings } from './findings.ts';
import { style } from './generated/style.ts';
import { html, toText, styleElement, type Markup } from '../markup.ts';
import { glance, judgedRows, matrix, observedRows } from './overview.ts';
import { anchorsOf, command, definitions, type PageContext } from './parts.ts';

type Render = (context: PageContext) => Markup | undefined;
const sections: readonly (readonly [anchor: string, title: string, render: Render])[] = [
  ['matrix', 'Matrix', matrix],
  ['findings', 'Findings', findings],
  ['requirements', 'Requirements', judgedRows],
  ['observed', 'Where the interface is silent', observedRows],
  ['rerun', 'Run again', rerun],
];

/** Allows only the page's own style, by its hash. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`;

/**
 * Renders the report as one HTML file without scripts and other files, so that it still opens years
 * later. No text of the record becomes markup, and invisible characters are made visible.
 */
export function renderHtml(record: RunRecord): string {
  const context: PageContext = { record, anchorOf: anchorsOf(record.requirements) };
  const shown = sections.flatMap(([anchor, title, render]) => {
    const markup = render(context);
    return markup === undefined ? [] : [{ anchor, title, markup }];
  });
  const links = shown.map(({ anchor, title }) => html`<a href="#${anchor}">${title}</a>`);
  const parts = shown.map(
    ({ anchor, title, markup }) =>
      html`<section id="${anchor}" aria-labelledby="${anchor}-title">
        <h2 id="${anchor}-title">${title}</h2>
        ${markup}
      </section>`,
  );
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${conclusion(record)[0]}</title>
        ${styleElement(style)}
      </head>
      <body>
        ${header(record)}
        <main>
          ${glance(context)}
          <nav aria-label="Sections">${links}</nav>
          ${parts}
        </main>
      </body>
    </html>`;
  return `${toText(page)}\n`;
}

const MAX_LEVELS = 20;

function header(record: RunRecord): Markup {
  const { target, partner, startedAt, durationMs, requests, seed } = record;
  const [headline] = conclusion(record);
  const colon = headline.lastIndexOf(': ');
  const strengths = strengthSentences(record, MAX_LEVELS).map((one) => one.split(/: (.*)/s, 2));
  const facts = {
    target,
    partner,
    started: startedAt,
    duration: duration(durationMs) + waitWords(record),
    requests: count(requests),
    ...(Object.fromEntries(strengths) as Readonly<Record<string, string>>),
    seed: String(seed),
  };
  return html`<header class="verdict ${record.verdict}">
    <p class="by">ib-conformance ${record.version}: verification of a partner lookup server</p>
    <h1><span aria-hidden="true">${verdictStyles[record.verdict].mark}</span> ${headline.slice(0, colon)}</h1>
    <p class="numbers">${headline.slice(colon + 2)}</p>
    ${definitions('facts', facts)}
  </header>`;
}

function rerun({ record: { rerun: line, seed } }: PageContext): Markup | undefined {
  return line === undefined ? undefined : command('With the same inputs', `${line} --seed ${seed}`);
}
