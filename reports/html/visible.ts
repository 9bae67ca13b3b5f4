import { printable } from '../printable.ts';
import { html, text, type Markup } from './markup.ts';

/** Columns that the escape of a character has at most. */
const MOST_ESCAPE = 12;

/**
 * A text to be read letter by letter. What `printable` writes as an escape is set off, so that nobody takes it
 * for letters that were sent, and a line break is seen as well as obeyed.
 *
 * @param most columns at most; what is cut off shows as `…`
 */
export function visible(value: string, most: number): Markup {
  const shown = printable(value, most);
  const parts: Markup[] = [];
  let plain = 0;
  let at = 0;
  for (const character of value) {
    const piece = printable(character, MOST_ESCAPE);
    // From here on it was cut.
    if (!shown.startsWith(piece, at)) break;
    at += piece.length;
    if (piece === character) continue;
    const escape = character === '\n' ? lineBreak : html`<i>${piece}</i>`;
    parts.push(text(shown.slice(plain, at - piece.length), most), escape);
    plain = at;
  }
  return html`${parts}${text(shown.slice(plain), most)}`;
}

const lineBreak = html`<i class="quiet">${printable('\n', MOST_ESCAPE)}</i><br />`;
