import { endpointNames } from '../../schemas/endpoints.ts';
import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import { markOf, MAX_COMMAND } from '../results.ts';
import { printable } from '../text.ts';
import { html, text, type Markup, type Part } from '../markup.ts';

/** What all parts of the page need. */
export interface PageContext {
  readonly record: RunRecord;
  /** Returns the anchor of a requirement. */
  readonly anchorOf: (result: RequirementResult) => string;
}

/**
 * Makes the function for the anchors of requirements. An anchor is the id, so that links work for later
 * runs. A foreign id with other characters, of more than 200 characters, or without a `/` (as the page's own
 * anchors) gets a number instead.
 */
export const anchorsOf =
  (results: readonly RequirementResult[]): PageContext['anchorOf'] =>
  (result) =>
    result.id.length <= 200 && /^[\w.-]+(?:\/[\w.-]+)+$/.test(result.id)
      ? result.id
      : `requirement-${results.indexOf(result)}`;

/** Returns the outcome of a requirement in words. */
export const outcomeWord = ({ outcome, level }: RequirementResult): string =>
  outcome === 'failed' && level !== 'required' ? 'failed (warning only)' : outcome;

/** Renders the mark of a result, with a label for screen readers. */
export function outcomeMark(result: RequirementResult): Markup {
  const { mark, tone } = markOf(result);
  return html`<span class="mark ${tone}" role="img" aria-label="${outcomeWord(result)}">${mark}</span>`;
}

/** Returns the endpoint in the id of a requirement; undefined if it is for both. */
export const endpointOf = ({ id }: RequirementResult) =>
  endpointNames.find((endpoint) => endpoint === id.split('/', 2)[1]);

/** Whether a result is a finding, and not only a row. */
export function isFinding(result: RequirementResult): boolean {
  return (
    result.outcome === 'failed' ||
    result.outcome === 'broken' ||
    (result.outcome === 'inconclusive' && result.counterexample !== undefined)
  );
}

/** Renders a definition list without undefined values. */
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

/** Renders the clause of a requirement, and our reading if the clause is ambiguous. */
export const clause = ({ clause: name, reading }: RequirementResult): Markup =>
  definitions('clause', { Clause: name, 'Our reading': reading });

/** Renders a command to copy. A click selects all of it. */
export function command(title: string, line: string, note?: Markup): Markup {
  const isWhole = printable(line, MAX_COMMAND) === line;
  return html`<div class="command">
    <p class="label">${title}</p>
    <code class="block">${text(line, MAX_COMMAND)}</code>
    ${isWhole ? undefined : html`<p class="quiet">Escaped or cut. The json report has the full text.</p>`}
    ${note === undefined ? undefined : html`<p class="quiet">${note}</p>`}
  </div>`;
}

/** Renders a table. The first cell of a row is its heading. */
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
