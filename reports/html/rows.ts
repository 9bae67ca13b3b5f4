import type { RequirementResult } from '../../schemas/generated/types.ts';
import { bySuite, outcomes, wordsOf } from '../results.ts';
import { count } from '../text.ts';
import { html, visible, type Markup } from '../markup.ts';
import { clause, isFinding, outcomeMark, type PageContext } from './parts.ts';

const MAX_DATA = 2000;

/** Renders a row per judged requirement, with a filter for outcomes. */
export function judgedRows(context: PageContext): Markup | undefined {
  const { requirements } = context.record;
  if (requirements.length === 0) return undefined;
  const results = requirements.filter(({ level }) => level !== 'observed');
  return html`${filter(requirements)} ${suites(results, context)}`;
}

/** Renders the observed requirements. */
export function observedRows(context: PageContext): Markup | undefined {
  const results = context.record.requirements.filter(({ level }) => level === 'observed');
  if (results.length === 0) return undefined;
  return html`<p class="quiet">
      What this server does where the interface is silent. This does not affect the verdict.
    </p>
    ${suites(results, context)}`;
}

/** Renders the filter for outcomes, which works by the style sheet, without a script. */
function filter(results: readonly RequirementResult[]): Markup {
  const choices = outcomes
    .map((outcome) => ({ outcome, number: results.filter((result) => result.outcome === outcome).length }))
    .filter(({ number }) => number > 0)
    .map(
      ({ outcome, number }) =>
        html`<label
          ><input type="radio" name="show" id="show-${outcome}" /> ${outcome} ${count(number)}</label
        >`,
    );
  return html`<fieldset class="filter">
    <legend>Show</legend>
    <label><input type="radio" name="show" id="show-all" checked /> all ${count(results.length)}</label>
    ${choices}
  </fieldset>`;
}

function suites(results: readonly RequirementResult[], context: PageContext): readonly Markup[] {
  return [...bySuite(results)].map(
    ([suite, own]) =>
      html`<section class="suite">
        <h3>${suite} <span class="count">inputs</span></h3>
        ${own.map((result) => (isFinding(result) ? linkedRow(result, context) : row(result, context)))}
      </section>`,
  );
}

function linkedRow(result: RequirementResult, { anchorOf }: PageContext): Markup {
  const title = html`<a href="#${anchorOf(result)}">${result.title}</a>`;
  return html`<p class="row" data-outcome="${result.outcome}">${cells(result, title)}</p>`;
}

function row(result: RequirementResult, { anchorOf }: PageContext): Markup {
  const { title, level, outcome } = result;
  const anchor = anchorOf(result);
  const data = result.outcome === 'observed' ? result.data : undefined;
  return html`<details class="row" id="${anchor}" data-outcome="${outcome}">
    <summary>${cells(result, html`${title}`)}</summary>
    <p class="id"><span>${level}</span> <a href="#${anchor}">link to this</a></p>
    ${clause(result)} ${data && html`<code class="block">${visible(JSON.stringify(data), MAX_DATA)}</code>`}
  </details>`;
}

function cells(result: RequirementResult, title: Markup): Markup {
  const { id, cases, outcome } = result;
  const isTried = cases > 0 || outcome === 'passed';
  const words = wordsOf(result);
  return html`${outcomeMark(result)} <span class="title">${title}</span> <code class="of">${id}</code>
    <span class="cases">${isTried ? count(cases) : undefined}</span>
    ${words === '' ? undefined : html`<span class="remark">${words}</span>`}`;
}
