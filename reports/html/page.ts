import type { RunRecord } from '../../schemas/generated/types.ts';
import { conclusion } from '../conclusion.ts';
import { anchorsOf } from './anchors.ts';
import { causes } from './causes.ts';
import { choiceIds } from './filter.ts';
import { findings } from './findings.ts';
import { glance } from './glance.ts';
import { html, source, type Markup } from './markup.ts';
import { matrix } from './matrix.ts';
import { policyOf } from './policy.ts';
import { rerun } from './rerun.ts';
import { judged, observed } from './rows.ts';
import type { Scene } from './scene.ts';
import { styles } from './style/index.ts';
import { traffic } from './traffic.ts';
import { verdict } from './verdict.ts';

/** A part of the page that can be linked to; left out where it has nothing to show. */
interface Section {
  readonly anchor: string;
  readonly title: string;
  readonly of: (scene: Scene) => Markup | undefined;
}

const sections = [
  { anchor: 'likely-cause', title: 'Likely cause', of: ({ record }) => causes(record) },
  { anchor: 'matrix', title: 'Matrix', of: matrix },
  { anchor: 'findings', title: 'Findings', of: findings },
  { anchor: 'requirements', title: 'Requirements', of: judged },
  { anchor: 'observed', title: 'Where the interface is silent', of: observed },
  { anchor: 'traffic', title: 'Traffic', of: ({ record }) => traffic(record) },
  { anchor: 'rerun', title: 'Run it again', of: ({ record }) => rerun(record) },
] as const satisfies readonly Section[];

/**
 * The report as one HTML file that needs no other and runs no script: to be opened years later, from wherever
 * it was kept. No text of the record becomes markup, and what nobody would see is made visible.
 */
export function renderHtml(record: RunRecord): string {
  const taken = [...sections.map(({ anchor }) => anchor), ...choiceIds];
  const scene: Scene = { record, anchorOf: anchorsOf(record.requirements, taken) };
  const shown = sections.flatMap(({ anchor, title, of }) => {
    const markup = of(scene);
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
        <meta http-equiv="Content-Security-Policy" content="${policyOf(styles)}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${conclusion(record)[0]}</title>
        ${styles}
      </head>
      <body>
        ${verdict(record)}
        <main>
          ${glance(scene)}
          <nav aria-label="Sections">${links}</nav>
          ${parts}
        </main>
      </body>
    </html>`;
  return `${source(page)}\n`;
}
