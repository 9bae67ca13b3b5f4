import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import { markOf, MAX_COMMAND } from '../results.ts';
import { printable } from '../text.ts';
import { html, text, type Markup, type Part } from '../markup.ts';

/** What the parts of the page are made of. */
export interface PageContext {
  readonly record: RunRecord;
  /** The `id` in the page that leads to a requirement. */
  readonly anchorOf: (result: RequirementResult) => string;
}

/**
 * The anchor of each requirement: its own id, so that a link outlives the run, unless that has
 * characters that ours do not have, is so long that it would be cut, or could be an anchor of the
 * page itself, which has no `/`.
 */
export const anchorsOf =
  (results: readonly RequirementResult[]): PageContext['anchorOf'] =>
  (result) =>
    result.id.length <= 200 && /^[\w.-]+(?:\/[\w.-]+)+$/.test(result.id)
      ? result.id
      : `requirement-${results.indexOf(result)}`;

/** How a requirement came out, in a word. */
export const outcomeWord = ({ outcome, level }: RequirementResult): string =>
  outcome === 'failed' && level !== 'required' ? 'failed (warning only)' : outcome;

/** The mark of a result, with words for readers who do not see it. */
export function outcomeMark(result: RequirementResult): Markup {
  const { mark, tone } = markOf(result);
  return html`<span class="mark ${tone}" role="img" aria-label="${outcomeWord(result)}">${mark}</span>`;
}

/** Whether a result stands in full among the findings, and not in its row alone. */
export function isFinding(result: RequirementResult): boolean {
  return (
    result.outcome === 'failed' ||
    result.outcome === 'broken' ||
    (result.outcome === 'inconclusive' && result.counterexample !== undefined)
  );
}

/** Names and what they stand for; those that stand for nothing are left out. */
export function definitions(name: string, values: Readonly<Record<string, string | undefined>>): Markup {
  const rows = Object.entries(values).map(([term, value]) =>
    value === undefined
      ? undefined
      : html`<div>
          <dt>${term}</dt>
          <dd>${value}</dd>
        </div>`,
  );
  return html`<dl class="${name}">${rows}</dl>`;
}

/** The clause of a requirement, and our reading where it leaves room. */
export const clause = ({ clause: name, reading }: RequirementResult): Markup =>
  definitions('clause', { Clause: name, 'Our reading': reading });

/** A command to copy: a click selects all of it. */
export function command(title: string, line: string, note?: Markup): Markup {
  const isWhole = printable(line, MAX_COMMAND) === line;
  return html`<div class="command">
    <p class="label">${title}</p>
    <code class="block">${text(line, MAX_COMMAND)}</code>
    ${isWhole ? undefined : html`<p class="quiet">Escaped or cut. The json report has the full text.</p>`}
    ${note === undefined ? undefined : html`<p class="quiet">${note}</p>`}
  </div>`;
}

/** A table; the first cell of a row is its heading. */
export function table(name: string, headings: readonly string[], rows: readonly (readonly Part[])[]): Markup {
  const body = rows.map(
    ([heading, ...cells]) =>
      html`<tr>
        <th scope="row">${heading}</th>
        ${cells.map((cell) => html`<td>${cell}</td>`)}
      </tr>`,
  );
  return html`<table class="${name}">
    <thead>
      <tr>
        ${headings.map((heading) => html`<th scope="col">${heading}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${body}
    </tbody>
  </table>`;
}
