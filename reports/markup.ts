import { printable } from './text.ts';

/** Only this module has the symbol, so nothing else can be markup, such as a record read from a file. */
const made = Symbol('markup');

/** Markup from `html`. Nothing else goes into a page without escapes. */
export interface Markup {
  readonly [made]: string;
}

/** A value in a template of `html`. */
export type Part = Markup | string | number | undefined | readonly Part[];

const MAX_TEXT = 600;

/**
 * Makes markup from a template. In a text, `<`, `&` and quotes are escaped, invisible characters are made
 * visible (`\u{…}`), and what is longer than 600 columns is cut. Attributes must be quoted.
 * The escapes are also correct in XML.
 */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { [made]: literals.reduce((whole, literal, at) => whole + written(parts[at - 1]) + literal) };
}

/** Makes markup from a text with at most `most` columns. */
export const text = (value: string, most: number): Markup => ({ [made]: escaped(printable(value, most)) });

/** Makes a style element from our own CSS, without escapes, so that the hash of the text matches. */
export function styleElement(css: string): Markup {
  if (css.includes('</')) throw new Error('a style sheet must not contain </');
  return { [made]: `<style>${css}</style>` };
}

/** Returns markup as text. */
export const toText = (markup: Markup): string => markup[made];

function written(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string') return toText(text(part, MAX_TEXT));
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
