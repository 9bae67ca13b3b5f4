import { endpointNames } from '../../schemas/endpoints.ts';
import type { RequirementResult } from '../../schemas/generated/types.ts';
import { bySuite, markOf, outcomes, wordsOf } from '../results.ts';
import { count } from '../text.ts';
import { byReason, grouped } from '../verdict.ts';
import { html, visible, type Markup } from '../markup.ts';
import { clause, endpointOf, isFinding, outcomeMark, outcomeWord, table, type PageContext } from './parts.ts';

const MAX_NAMED = 8;

interface Group {
  /** What the rows have in common; empty if the heading of the list says it. */
  readonly title: string;
  readonly rows: readonly RequirementResult[];
  /** Returns the words on a row, without the title. */
  readonly remark: (row: RequirementResult) => string;
}

/** Renders the summary: what failed, what was not verified, what is our own bug. */
export function glance(context: PageContext): Markup {
  const { requirements, notes } = context.record;
  const failed = requirements.filter(({ outcome }) => outcome === 'failed');
  const broken = requirements.filter(({ outcome }) => outcome === 'broken');
  const isObserved = ({ level }: RequirementResult) => level === 'observed';
  const failedGroups = [
    { title: '', rows: failed.filter(({ level }) => level === 'required'), remark: wordsOf },
    {
      title: 'Recommended: these only warn',
      rows: failed.filter(({ level }) => level !== 'required'),
      remark: wordsOf,
    },
  ];
  const brokenGroups = [{ title: '', rows: broken, remark: () => '' }];
  const notObserved = openGroups(requirements.filter(isObserved));
  return html`<div class="glance">
    ${panel('Failed', failedGroups, 'findings', context)}
    ${panel('Not verified', openGroups(requirements.filter((row) => !isObserved(row))), 'requirements', context)}
    ${broken.length === 0 ? undefined : panel('Broken (a bug of ib-conformance)', brokenGroups, 'findings', context)}
    ${notObserved.length === 0 ? undefined : panel('Not observed', notObserved, 'observed', context)}
    ${notes.map((note) => html`<p class="note">${note}</p>`)}
  </div>`;
}

/** Groups unverified rows by reason. If all rows of a group have the same words, the title has them. */
function openGroups(rows: readonly RequirementResult[]): readonly Group[] {
  const remark = (row: RequirementResult) => ('words' in row ? row.words : '');
  return [...byReason(rows)].map(([reason, group]) => {
    const [only = '', ...others] = new Set(group.map(remark));
    return others.length === 0
      ? { title: `${reason}: ${only}`, rows: group, remark: () => '' }
      : { title: reason, rows: group, remark };
  });
}

/** @param all anchor of the section with all rows */
function panel(title: string, groups: readonly Group[], all: string, context: PageContext): Markup {
  const number = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  return html`<section>
    <h2>${title} <span class="count">${count(number)}</span></h2>
    ${groups.map((group) => (group.rows.length === 0 ? undefined : list(group, all, context)))}
  </section>`;
}

function list({ title, rows, remark }: Group, all: string, { anchorOf }: PageContext): Markup {
  const named = rows.length > MAX_NAMED ? rows.slice(0, MAX_NAMED - 1) : rows;
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

/** Renders every requirement as a mark, with a row per suite and a column per endpoint. */
export function matrix({ record, anchorOf }: PageContext): Markup | undefined {
  if (record.requirements.length === 0) return undefined;
  const cell = (rows: readonly RequirementResult[]) => {
    return rows.map((row) => {
      const label = `${row.id}: ${outcomeWord(row)}`;
      const { mark, tone } = markOf(row);
      return html`<a class="${tone}" href="#${anchorOf(row)}" title="${label}" aria-label="${label}"
        >${mark}</a
      >`;
    });
  };

  const rows = [...bySuite(record.requirements)].map(([suite, results]) => [
    suite,
    ...[...endpointNames, undefined].map((name) => cell(results.filter((row) => endpointOf(row) === name))),
  ]);
  return html`${table('matrix', ['suite', ...endpointNames, 'both endpoints'], rows)}
    <p class="legend">${legend(record.requirements)}</p>`;
}

function legend(results: readonly RequirementResult[]): readonly Markup[] {
  return [...grouped(results, outcomeWord)].map(([word, rows]) => {
    const { mark, tone } = markOf(rows[0]);
    return html`<span
      ><span class="mark ${tone}" aria-hidden="true">${mark}</span>${word} ${count(rows.length)}</span
    >`;
  });
}

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
        ${own.map((result) => (isFinding(result) ? linkedRow(result, context) : ownRow(result, context)))}
      </section>`,
  );
}

function linkedRow(result: RequirementResult, { anchorOf }: PageContext): Markup {
  const title = html`<a href="#${anchorOf(result)}">${result.title}</a>`;
  return html`<p class="row" data-outcome="${result.outcome}">${cells(result, title)}</p>`;
}

function ownRow(result: RequirementResult, { anchorOf }: PageContext): Markup {
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
