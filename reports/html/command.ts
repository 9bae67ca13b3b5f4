import { html, text, type Markup } from './markup.ts';
import { printable } from '../printable.ts';

/** Columns of a command at most: cut off, it is of no use. */
const MOST = 20_000;

/** A command to copy: a click selects all of it. */
export function command(title: string, line: string, note?: Markup): Markup {
  const isExact = printable(line, MOST) === line;
  return html`<div class="command">
    <p class="label">${title}</p>
    <code class="block">${text(line, MOST)}</code>
    ${isExact ? undefined : html`<p class="quiet">Escaped or cut: the json report has it whole.</p>`}
    ${note === undefined ? undefined : html`<p class="quiet">${note}</p>`}
  </div>`;
}
