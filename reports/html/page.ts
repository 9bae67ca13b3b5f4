import { createHash } from 'node:crypto';
import {
  MAX_COMMAND,
  MAX_LIST,
  headlineText,
  shownSections,
  wordsWithFix,
  type Block,
  type Fact,
  type Finding,
  type Item,
  type Matrix,
  type Report,
  type Section,
} from '../document.ts';
import { html, styleElement, text, toText, type Markup } from '../markup.ts';
import { count } from '../text.ts';
import { differenceWords, diffTexts } from '../text-difference.ts';
import { clauses } from '../../schemas/generated/interface.ts';
import { timelineMarkup, trialMarkup } from './pictures.ts';
import { style } from './generated/style.ts';

/** Number of expanded findings. The others are collapsed. */
const MAX_OPEN = 10;
/** Maximum columns of a part of a comparison, and of another exact text. */
const MAX_STRETCH = 1200;
const MAX_EXACT = 2000;

/** Allows only the page's own style, by its hash. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`;

/**
 * Prints a report as one HTML file without scripts and other files, so that it still opens years later. No text
 * becomes markup, and invisible characters are made visible.
 */
export function toHtml(report: Report): string {
  const { headline, about, conclusion, command, next } = report;
  const { words, numbers, mark, tone } = headline;
  const anchors = anchorsOf(report);
  // What is wrong comes first.
  const rank = ({ kind }: Section) => (kind === undefined ? 1 : 0);
  const sections = shownSections(report).toSorted((one, other) => rank(one) - rank(other));
  const links = sections.map(({ title }, at) => html`<a href="#section-${at}">${title}</a>`);
  const step =
    next && ('command' in next ? commandBlock('Next', next.command) : html`<p>Next: ${next.words}</p>`);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${text(headlineText(report), MAX_LIST)}</title>
        ${styleElement(style)}
      </head>
      <body>
        <header class="verdict of-${tone}">
          <p class="quiet">${about}</p>
          <h1><span aria-hidden="true">${mark}</span> ${words}</h1>
          <p class="numbers">${text(numbers, MAX_LIST)}</p>
          ${step}
        </header>
        <main>
          <nav aria-label="Sections">${links}</nav>
          ${sections.map(
            ({ title, blocks }, at) =>
              html`<section id="section-${at}" aria-labelledby="title-${at}">
                <h2 id="title-${at}">${title}</h2>
                ${blocks.map((block) => blockMarkup(block, anchors))}
              </section>`,
          )}
          <section id="conclusion" aria-label="The run in sentences">
            ${conclusion.map((block) => blockMarkup(block, anchors))}
            ${command && commandBlock('The run', command)}
          </section>
          ${clausesMarkup(sections)}
        </main>
      </body>
    </html>`;
  return `${toText(page)}\n`;
}

/** An id with a `/`, as the page's own anchors have none. */
const PLAIN_ID = /^(?=.{1,200}$)[\w.-]+(?:\/[\w.-]+)+$/;

type Anchors = ReturnType<typeof anchorsOf>;

/**
 * Makes the anchors of findings. An anchor is the id, so that links work for later runs. An id of other characters, or
 * of an earlier finding, gets a number instead.
 */
function anchorsOf({ sections }: Report) {
  const found = sections.flatMap(({ blocks }) => blocks.filter((block) => block.kind === 'finding'));
  const places = new Map(found.map((finding, at) => [finding, at]));
  const firsts = new Map(found.toReversed().map((finding) => [finding.anchor, finding]));
  const of = (finding: Finding) =>
    firsts.get(finding.anchor) === finding && PLAIN_ID.test(finding.anchor)
      ? finding.anchor
      : `finding-${places.get(finding)}`;
  const named = (name = '') => (firsts.has(name) ? of(firsts.get(name)!) : undefined);
  // The first row of a requirement is its place. Hostile ids cannot clash: a row has a number.
  const rows = sections
    .flatMap(({ blocks }) => blocks.flatMap((block) => (block.kind === 'list' ? block.items : [])))
    .filter(({ level }) => level !== undefined);
  const rowIds = new Map(rows.map((item, at) => [item, `row-${at}`]));
  const firstRows = new Map(rows.toReversed().map((item) => [item.name, rowIds.get(item)!]));
  return {
    of,
    named,
    rowOf: (item: Item) => rowIds.get(item),
    rowNamed: (name: string) => firstRows.get(name),
    isOpen: (finding: Finding) => places.get(finding)! < MAX_OPEN,
  };
}

function blockMarkup(block: Block, anchors: Anchors): Markup {
  switch (block.kind) {
    case 'text':
      return html`<p class="${block.tone ?? 'plain'}">${text(block.text, MAX_LIST)}</p>`;
    case 'list':
      return html`${block.title === undefined ? undefined : html`<h3>${block.title}</h3>`}
      ${rowsMarkup(block.items, anchors)}`;
    case 'matrix':
      return matrixMarkup(block, anchors);
    case 'finding':
      return findingMarkup(block, anchors);
    case 'timeline':
      return timelineMarkup(block.timeline);
    case 'trial':
      return trialMarkup(block.id, block.streams);
  }
}

/** Entries, and those that passed folded, one line each. */
function rowsMarkup(items: readonly Item[], anchors: Anchors): Markup {
  const passed = items.filter(({ level, tone }) => level !== undefined && tone === 'good');
  const others = items.filter((item) => !passed.includes(item));
  const list = (some: readonly Item[]) =>
    html`<ul>
      ${some.map((item) => itemMarkup(item, anchors))}
    </ul>`;
  if (passed.length === 0) return list(others);
  return html`${others.length === 0 ? undefined : list(others)}
    <details class="passed">
      <summary>${count(passed.length)} passed</summary>
      ${list(passed)}
    </details>`;
}

function itemMarkup(item: Item, anchors: Anchors): Markup {
  const { mark, tone, name, title, anchor, level } = item;
  const words = wordsWithFix(item);
  const target = anchors.named(anchor);
  const shown = html`<code>${name}</code>`;
  const id = level === undefined ? undefined : anchors.rowOf(item);
  return html`<li class="row" ${id === undefined ? undefined : html`id="${id}"`}>
    <span class="mark ${tone}" aria-hidden="true">${mark}</span>
    <div>
      ${title === undefined || tone === 'good' ? undefined : html`<span class="title">${title}</span>`}
      ${target === undefined ? shown : html`<a href="#${target}">${shown}</a>`}
      ${level === undefined ? undefined : html`<span class="quiet">${level}</span>`}
      ${words === '' ? undefined : html`<span class="remark">${text(words, MAX_LIST)}</span>`}
    </div>
  </li>`;
}

function matrixMarkup({ columns, rows }: Matrix, anchors: Anchors): Markup {
  const cell = ({ mark, tone, name, words, anchor }: Item) => {
    const label = `${name}: ${words}`;
    const target = anchors.named(anchor) ?? anchors.rowNamed(name);
    const shown = html`<span aria-hidden="true">${mark}</span> ${name.split('/').at(-1)}`;
    return target === undefined
      ? html`<span class="cell ${tone}" title="${label}">${shown}</span>`
      : html`<a class="cell ${tone}" href="#${target}" title="${label}">${shown}</a>`;
  };
  return html`<table class="matrix">
      <thead>
        <tr>
          <th scope="col">suite</th>
          ${columns.map((column) => html`<th scope="col">${column}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ name, words, cells }) =>
            html`<tr>
              <th scope="row">${name}<small>${words}</small></th>
              ${cells.map((items, at) => html`<td data-column="${columns[at]}">${items.map(cell)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
    <p class="quiet">
      ✓ passed, ✗ failed, ? not verified, · observed, – left out, ! a bug of ib-conformance
    </p>`;
}

function findingMarkup(finding: Finding, anchors: Anchors): Markup {
  const { mark, tone, title, facts } = finding;
  return html`<details
    class="finding of-${tone}"
    id="${anchors.of(finding)}"
    ${anchors.isOpen(finding) ? html`open` : undefined}
  >
    <summary>
      <h3><span class="mark ${tone}" aria-hidden="true">${mark}</span> ${title}</h3>
    </summary>
    ${facts.map(factMarkup)}
  </details>`;
}

/** The text of each section of the interface that a finding cites, folded. */
function clausesMarkup(sections: readonly Section[]): Markup | undefined {
  const facts = sections.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.kind === 'finding' ? block.facts : [])),
  );
  const cited = new Set(facts.flatMap((fact) => clauseOf(fact)?.split('; ') ?? []));
  const known = Object.entries(clauses).filter(([name]) => cited.has(name));
  if (known.length === 0) return undefined;
  return html`<section id="interface" aria-labelledby="title-interface">
    <h2 id="title-interface">The interface</h2>
    ${known.map(([name, words]) => {
      const parts = words.split('`').map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`));
      // A link opens what is around its target.
      return html`<details class="clause">
        <summary>${name}</summary>
        <p id="${clauseAnchor(name)}">${parts}</p>
      </details>`;
    })}
  </section>`;
}

const clauseOf = (fact: Fact): string | undefined =>
  fact.kind === 'prose' && fact.label === 'clause' ? fact.text : undefined;

/** No finding has such an anchor: it has no `/`. */
const clauseAnchor = (name: string) => `clause-${name.toLowerCase().replaceAll(/[^a-z\d]+/g, '-')}`;

/** Links each section of the interface in a clause. */
function clauseLinks(cited: string): Markup {
  const names = cited.split('; ');
  if (!names.some((name) => Object.hasOwn(clauses, name))) return text(cited, MAX_LIST);
  const links = names.map((name) =>
    Object.hasOwn(clauses, name) ? html`<a href="#${clauseAnchor(name)}">${name}</a>` : text(name, MAX_LIST),
  );
  return html`${links.flatMap((link, at) => (at === 0 ? [link] : ['; ', link]))}`;
}

function factMarkup(fact: Fact): Markup {
  if (fact.kind === 'comparison') return comparison(fact.expected, fact.actual);
  if (fact.kind === 'command') return commandBlock(fact.label, fact.text);
  const clause = clauseOf(fact);
  const shown =
    clause !== undefined
      ? clauseLinks(clause)
      : fact.kind === 'prose'
        ? text(fact.text, MAX_LIST)
        : html`<code>${text(fact.text, MAX_EXACT)}</code>`;
  return html`<dl class="fact">
    <dt>${fact.label}</dt>
    <dd>${shown}</dd>
  </dl>`;
}

/** Renders expected beside actual, with the difference marked. */
function comparison(expected: string, actual: string): Markup {
  const { before, after, ...middle } = diffTexts(expected, actual);
  const isMarked = before + after !== '' && expected !== actual;
  const names = differenceWords(expected, actual);
  const side = (title: string, tone: 'good' | 'bad', differing: string) => {
    const [start, middlePart, end] = [before, differing, after].map((part) => text(part, MAX_STRETCH));
    const isEmpty = before + differing + after === '';
    const shown = [start, isMarked ? html`<mark>${middlePart}</mark>` : middlePart, end];
    return html`<div class="side ${tone}">
      <h4>${title}</h4>
      <code class="block">${isEmpty ? html`<span class="quiet">(nothing)</span>` : shown}</code>
    </div>`;
  };
  return html`<div class="comparison">
    ${side('Expected', 'good', middle.expected)} ${side('Actual', 'bad', middle.actual)}
    ${names === undefined ? undefined : html`<p class="letters">${names}</p>`}
  </div>`;
}

/** Renders a command to copy. A click selects all of it. */
function commandBlock(title: string, line: string): Markup {
  return html`<div class="command">
    <p class="label">${title}</p>
    <code class="block">${text(line, MAX_COMMAND)}</code>
  </div>`;
}
