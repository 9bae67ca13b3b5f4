import type { Failed, RunRecord } from '../../schemas/generated/types.ts';
import { count } from '../units.ts';
import { html, type Markup } from './markup.ts';
import { visible } from './visible.ts';

/** Failures that have to be alike before it is said that they are. */
const LEAST_ALIKE = 3;
/** Columns of what they have in common at most. */
const MOST_ACTUAL = 300;

/** What may be behind the failures: known faults that fail like the target, and one answer to many requests. */
export function causes({ diagnosis = [], requirements }: RunRecord): Markup | undefined {
  const failed = requirements.filter((result) => result.outcome === 'failed');
  const alike = mostAlike(failed);
  const parts = [
    ...(diagnosis.length === 0 ? [] : [suspicions(diagnosis)]),
    ...(alike === undefined
      ? []
      : [
          html`<p>${count(alike.number)} of ${count(failed.length)} failures have this in common:</p>
            <code class="block">${visible(alike.actual, MOST_ACTUAL)}</code>`,
        ]),
  ];
  return parts.length === 0 ? undefined : html`${parts}`;
}

function suspicions(diagnosis: NonNullable<RunRecord['diagnosis']>): Markup {
  const items = diagnosis.map(
    ({ fault, what, fit }) =>
      html`<li>
        <strong>${what}</strong>
        <small><code>${fault}</code> fits ${Math.round(fit * 100)} %</small>
      </li>`,
  );
  return html`<p class="quiet">
      Known faults that fail as this server does. The better one fits, the more of the same requirements fail
      with the same answers.
    </p>
    <ol>
      ${items}
    </ol>`;
}

/** What most of the failures got, where at least half of them, and three, got the very same. */
function mostAlike(
  failed: readonly Failed[],
): { readonly actual: string; readonly number: number } | undefined {
  const numbers = new Map<string, number>();
  for (const { actual } of failed) numbers.set(actual, (numbers.get(actual) ?? 0) + 1);
  const [first] = [...numbers].toSorted(([, one], [, other]) => other - one);
  if (first === undefined) return undefined;
  const [actual, number] = first;
  return number >= LEAST_ALIKE && number * 2 >= failed.length ? { actual, number } : undefined;
}
