import type { RunRecord } from '../../schemas/generated/types.ts';
import { command } from './command.ts';
import { html, type Markup } from './markup.ts';

/** How to repeat the run, and how far to trust it. */
export function rerun({ rerun: line, seed, canary }: RunRecord): Markup | undefined {
  if (line === undefined && canary === undefined) return undefined;
  const caught = canary?.map((fault, at) => html`${at === 0 ? '' : ' and '}<code>${fault}</code>`);
  return html`${line === undefined ? undefined : command('With the same inputs', `${line} --seed ${seed}`)}
  ${
    caught === undefined
      ? undefined
      : html`<p class="quiet">
          Before the run the suites passed the mock, and caught it with the faults ${caught}: they can pass,
          and they can fail.
        </p>`
  }`;
}
