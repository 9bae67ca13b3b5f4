import { printable } from './text.ts';

/** Only this module has the symbol, so nothing else can pass for markup: least of all a record read from a file. */
const made = Symbol('markup');

/** Markup that `html` made: the only thing that goes into a page as it is. */
export interface Markup {
  readonly [made]: string;
}

/** What may stand in `html`. */
export type Part = Markup | string | number | undefined | readonly Part[];

const MAX_TEXT = 600;

/**
 * Markup from a template. A text is shown as it is: `<`, `&` and quotes are escaped, what nobody would
 * see is made visible (`\u{…}`), and what is longer than 600 columns is cut. Attributes must be quoted.
 * The same escapes are right in XML.
 */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { [made]: literals.reduce((whole, literal, at) => whole + written(parts[at - 1]) + literal) };
}

/** The same for one text that may have so many columns. */
export const text = (value: string, most: number): Markup => ({ [made]: escaped(printable(value, most)) });

/** A style sheet of ours: nothing in it is escaped, so that its hash is that of the text. */
export function styleElement(css: string): Markup {
  if (css.includes('</')) throw new Error('a style sheet must not hold </');
  return { [made]: `<style>${css}</style>` };
}

/** What was made, as text. */
export const source = (markup: Markup): string => markup[made];

function written(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string') return source(text(part, MAX_TEXT));
  return made in part ? part[made] : part.map(written).join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (value: string) => value.replace(/[&<>"']/g, (character) => entities[character]!);

/**
 * A text to be read letter by letter. What `printable` writes as an escape is set off, so that nobody
 * takes it for letters that were sent, and a line break is shown and obeyed.
 *
 * @param most columns at most; `…` stands for what is cut off
 */
export const visible = (value: string, most: number): Markup => ({
  [made]: printable(value, most, (piece, isEscape) => {
    if (!isEscape) return escaped(piece);
    return piece === LINE_BREAK ? `<i class="quiet">${piece}</i><br />` : `<i>${piece}</i>`;
  }),
});

const LINE_BREAK = printable('\n', Infinity);
