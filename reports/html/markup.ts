import { printable } from '../printable.ts';

/** Nobody else has it, so nobody else makes markup: least of all a record read from a file. */
const made = Symbol('markup');

/** Markup that `html` made: the one thing that goes into a page as it is. */
export interface Markup {
  readonly [made]: string;
}

/** What may stand in `html`. */
export type Part = Markup | string | number | undefined | readonly Part[];

/** Columns of a text that is put in without saying how many it may have. */
const MOST_TEXT = 600;

/**
 * Markup from a template. A text is shown, never obeyed: `<`, `&` and quotes are escaped, what nobody
 * would see is made visible (`\u{…}`), and what is longer than 600 columns is cut. Attributes are to be quoted.
 */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { [made]: literals.reduce((whole, literal, at) => whole + written(parts[at - 1]) + literal) };
}

/** The same for one text that may have so many columns. */
export function text(value: string, most: number): Markup {
  return { [made]: escaped(printable(value, most)) };
}

/** What was made, as text. */
export function source(markup: Markup): string {
  return markup[made];
}

function written(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string') return source(text(part, MOST_TEXT));
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
