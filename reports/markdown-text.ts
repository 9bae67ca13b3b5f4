import { printable } from './printable.ts';

/**
 * Texts of a record as GitHub's Markdown. What could become a link, a mention, an emoji, a heading,
 * math or HTML there stands in code, where nothing of it does. All come out as one line.
 */

/** Prose that reads the same in Markdown, once its underscores are escaped. */
const PLAIN = /^(?:[\p{L}\p{N} ,;.’"'()/%?!–…+=_-]|:(?= ))+$/u;
/** Plain letters that GitHub makes a link of: addresses, commits, issues. */
const LINKED = /www\.|\bGH-\d|\b[\da-f]{7,40}\b/i;

/** Text in code. */
export function code(text: string, most: number): string {
  const shown = printable(text, most);
  if (shown.trim() === '') return '(blank)';
  const ticks = fenceFor(shown, 1);
  const isPadded = /^[ `]|[ `]$/.test(shown);
  return isPadded ? `${ticks} ${shown} ${ticks}` : ticks + shown + ticks;
}

/** Text in code, in a cell of a table, which a stroke would end. */
export function cell(text: string, most: number): string {
  return code(text.replaceAll('|', String.raw`\u{7c}`), most);
}

/** Prose as it is where it is plain, in code where it is not; never at the beginning of a line. */
export function prose(text: string, most: number): string {
  const shown = printable(text, most).trim();
  return PLAIN.test(shown) && !LINKED.test(shown) ? shown.replaceAll('_', String.raw`\_`) : code(shown, most);
}

/** Printable lines in a fence. */
export function fenced(language: 'text' | 'sh', lines: readonly string[]): string {
  const fence = fenceFor(lines.join('\n'), 3);
  return [`${fence}${language}`, ...lines, fence].join('\n');
}

/** More backticks than stand in a row in the text, and no fewer than `least`. */
function fenceFor(text: string, least: number): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  return '`'.repeat(Math.max(least, longest + 1));
}
