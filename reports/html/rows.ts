import type { RequirementResult } from '../../schemas/generated/types.ts';
import { count } from '../units.ts';
import { bySuite } from '../by-suite.ts';
import { clause } from './clause.ts';
import { filter } from './filter.ts';
import { html, type Markup } from './markup.ts';
import { isFinding, outcomeMark, remark } from './outcome.ts';
import type { Scene } from './scene.ts';
import { visible } from './visible.ts';

/** Columns of the data of an observation at most. */
const MOST_DATA = 2000;

/** What is judged, a row each, with the choice of outcomes to show. */
export function judged(scene: Scene): Markup | undefined {
  const { requirements } = scene.record;
  if (requirements.length === 0) return undefined;
  const results = requirements.filter(({ level }) => level !== 'observed');
  return html`${filter(requirements)} ${suites(results, scene)}`;
}

/** What is only observed. */
export function observed(scene: Scene): Markup | undefined {
  const results = scene.record.requirements.filter(({ level }) => level === 'observed');
  if (results.length === 0) return undefined;
  return html`<p class="quiet">What this server does there. None of it is judged.</p>
    ${suites(results, scene)}`;
}

function suites(results: readonly RequirementResult[], scene: Scene): readonly Markup[] {
  return [...bySuite(results)].map(
    ([suite, own]) =>
      html`<section class="suite">
        <h3>${suite} <span class="count">inputs</span></h3>
        ${own.map((result) => (isFinding(result) ? linked(result, scene) : row(result, scene)))}
      </section>`,
  );
}

/** A row whose story is told among the findings. */
function linked(result: RequirementResult, { anchorOf }: Scene): Markup {
  const title = html`<a href="#${anchorOf(result)}">${result.title}</a>`;
  return html`<p class="row" data-outcome="${result.outcome}">${cells(result, title)}</p>`;
}

function row(result: RequirementResult, { anchorOf }: Scene): Markup {
  const { title, level, outcome } = result;
  const anchor = anchorOf(result);
  return html`<details class="row" id="${anchor}" data-outcome="${outcome}">
    <summary>${cells(result, html`${title}`)}</summary>
    <p class="id"><span>${level}</span> <a href="#${anchor}">link to this</a></p>
    ${clause(result)} ${data(result)}
  </details>`;
}

function cells(result: RequirementResult, title: Markup): Markup {
  const { id, cases, planned, outcome } = result;
  const of = planned === undefined ? '' : ` of ${count(planned)}`;
  const isTried = cases > 0 || outcome === 'passed';
  const words = remark(result);
  return html`${outcomeMark(result)} <span class="title">${title}</span> <code class="of">${id}</code>
    <span class="cases">${isTried ? `${count(cases)}${of}` : undefined}</span>
    ${words === '' ? undefined : html`<span class="remark">${words}</span>`}`;
}

function data(result: RequirementResult): Markup | undefined {
  if (result.outcome !== 'observed' || result.data === undefined) return undefined;
  return html`<code class="block">${visible(JSON.stringify(result.data), MOST_DATA)}</code>`;
}
