import { count } from '../units.ts';
import { failedGroups, openGroups, type Group } from './groups.ts';
import { html, type Markup } from './markup.ts';
import { outcomeMark } from './outcome.ts';
import type { Scene } from './scene.ts';

/** Requirements of a group that are named; the rest it counts. */
const MOST_NAMED = 8;

/** What a reader has to know before all else: what failed, what was not verified, what is our own bug. */
export function glance(scene: Scene): Markup {
  const { requirements, notes } = scene.record;
  const broken = requirements.filter(({ outcome }) => outcome === 'broken');
  const ours = broken.length === 0 ? [] : [{ title: '', rows: broken, remark: () => '' }];
  const open = (isObserved: boolean) =>
    openGroups(requirements.filter(({ level }) => (level === 'observed') === isObserved));
  const notObserved = open(true);
  return html`<div class="glance">
    ${panel('Failed', failedGroups(requirements), 'findings', scene)}
    ${panel('Not verified', open(false), 'requirements', scene)}
    ${ours.length === 0 ? undefined : panel('Broken, by a bug of ours', ours, 'findings', scene)}
    ${notObserved.length === 0 ? undefined : panel('Not observed', notObserved, 'observed', scene)}
    ${notes.map((note) => html`<p class="note">${note}</p>`)}
  </div>`;
}

/** @param all anchor of where all of them stand */
function panel(title: string, groups: readonly Group[], all: string, scene: Scene): Markup {
  const number = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  return html`<section>
    <h2>${title} <span class="count">${count(number)}</span></h2>
    ${groups.map((group) => list(group, all, scene))}
  </section>`;
}

function list({ title, rows, remark }: Group, all: string, { anchorOf }: Scene): Markup {
  const named = rows.length > MOST_NAMED ? rows.slice(0, MOST_NAMED - 1) : rows;
  const items = named.map((row) => {
    const words = remark(row);
    return html`<li>
      ${outcomeMark(row)} <a href="#${anchorOf(row)}">${row.title}</a>
      <small><code>${row.id}</code>${words === '' ? '' : `: ${words}`}</small>
    </li>`;
  });
  const more = rows.length - named.length;
  return html`${title === '' ? undefined : html`<h3>${title}</h3>`}
    <ul>
      ${items}
      ${more === 0 ? undefined : html`<li class="more"><a href="#${all}">and ${count(more)} more</a></li>`}
    </ul>`;
}
