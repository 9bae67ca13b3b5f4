import type { RequirementResult } from '../../schemas/generated/types.ts';
import { html, type Markup } from './markup.ts';

/** What a requirement stands on: the clause, and our reading where it leaves room. */
export function clause({ clause: name, reading }: RequirementResult): Markup {
  const ours = html`<div>
    <dt>Our reading</dt>
    <dd>${reading}</dd>
  </div>`;
  return html`<dl class="clause">
    <div>
      <dt>Clause</dt>
      <dd>${name}</dd>
    </div>
    ${reading === undefined ? undefined : ours}
  </dl>`;
}
