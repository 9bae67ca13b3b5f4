import { endpoints } from '../../schemas/endpoints.ts';
import type { RequirementResult } from '../../schemas/generated/types.ts';
import { markOf } from '../marks.ts';
import { count } from '../units.ts';
import { bySuite } from '../by-suite.ts';
import { html, type Markup } from './markup.ts';
import { outcomeWord } from './outcome.ts';
import type { Scene } from './scene.ts';

const columns = Object.keys(endpoints);

/** Every requirement as a mark: suites down, endpoints across. */
export function matrix({ record, anchorOf }: Scene): Markup | undefined {
  if (record.requirements.length === 0) return undefined;
  const cell = (rows: readonly RequirementResult[]) => {
    const marks = rows.map((row) => {
      const label = `${row.id}: ${outcomeWord(row)}`;
      const { mark, tone } = markOf(row);
      return html`<a class="${tone}" href="#${anchorOf(row)}" title="${label}" aria-label="${label}"
        >${mark}</a
      >`;
    });
    return html`<td>${marks}</td>`;
  };
  const rows = [...bySuite(record.requirements)].map(
    ([suite, results]) =>
      html`<tr>
        <th scope="row">${suite}</th>
        ${columns.map((column) => cell(results.filter((result) => columnOf(result) === column)))}
        ${cell(results.filter((result) => columnOf(result) === undefined))}
      </tr>`,
  );
  return html`<table class="matrix">
      <thead>
        <tr>
          <th scope="col">suite</th>
          ${columns.map((column) => html`<th scope="col">${column}</th>`)}
          <th scope="col">both of them</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
    <p class="legend">${legend(record.requirements)}</p>`;
}

/** What the marks mean, of those that there are. */
function legend(results: readonly RequirementResult[]): readonly Markup[] {
  const byWord = new Map(results.map((result) => [outcomeWord(result), result]));
  return [...byWord].map(([word, result]) => {
    const number = results.filter((other) => outcomeWord(other) === word).length;
    return html`<span
      ><span class="mark ${markOf(result).tone}" aria-hidden="true">${markOf(result).mark}</span>${word}
      ${count(number)}</span
    >`;
  });
}

/** The second segment of an id; undefined where that is no endpoint. */
function columnOf({ id }: RequirementResult): string | undefined {
  const [, subject] = id.split('/', 2);
  return columns.find((column) => column === subject);
}
