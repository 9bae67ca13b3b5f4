import type { RequirementResult } from '../../schemas/generated/types.ts';
import { outcomes } from '../marks.ts';
import { count } from '../units.ts';
import { html, type Markup } from './markup.ts';

/** Shows the rows of one outcome: the style does it (`filterStyle`), no script is needed. */
export function filter(results: readonly RequirementResult[]): Markup {
  const choices = outcomes
    .map((outcome) => ({ outcome, number: results.filter((result) => result.outcome === outcome).length }))
    .filter(({ number }) => number > 0)
    .map(
      ({ outcome, number }) =>
        html`<label
          ><input type="radio" name="show" id="${choiceId(outcome)}" /> ${outcome} ${count(number)}</label
        >`,
    );
  return html`<fieldset class="filter">
    <legend>Show</legend>
    <label><input type="radio" name="show" id="show-all" checked /> all ${count(results.length)}</label>
    ${choices}
  </fieldset>`;
}

/** Hides what was not chosen, but for what was linked to. */
export const filterStyle = html`<style>
  ${outcomes.map((outcome) => hiding(outcome))}
</style>`;

function hiding(outcome: string): Markup {
  const kept = html`.row:is([data-outcome=${outcome}], :target)`;
  return html`main:has(#${choiceId(outcome)}:checked) :is(.row:not(${kept}), .suite:not(:has(${kept})),
  #observed:not(:has(${kept}))) { display: none; } `;
}

/** Ids that the choices take. */
export const choiceIds: readonly string[] = ['show-all', ...outcomes.map(choiceId)];

function choiceId(outcome: string): string {
  return `show-${outcome}`;
}
