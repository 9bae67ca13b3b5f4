import { printable } from './text.ts';

/**
 * Writes texts of a record as GitHub Markdown, each on one line. Text that could become a link, a mention, an
 * emoji, a heading, math or HTML is written as code.
 */

/** Text that Markdown shows unchanged, if its underscores are escaped. */
const PLAIN = /^(?:[\p{L}\p{N} ,;.’"'()/%?!–…+=_-]|:(?= ))+$/u;
/** Text that GitHub turns into a link: addresses, commits, issues. */
const LINKED = /www\.|\bGH-\d|\b[\da-f]{7,40}\b/i;

/** Writes text as code. */
export function code(text: string, most: number): string {
  const shown = printable(text, most);
  if (shown.trim() === '') return '(blank)';
  const ticks = fenceFor(shown, 1);
  const isPadded = /^[ `]|[ `]$/.test(shown);
  return isPadded ? `${ticks} ${shown} ${ticks}` : ticks + shown + ticks;
}

/** Writes text as code in a table cell, with `|` escaped. */
export const codeCell = (text: string, most: number): string =>
  code(text.replaceAll('|', String.raw`\u{7c}`), most);

/** Writes plain text unchanged, other text as code. Not for the beginning of a line. */
export function prose(text: string, most: number): string {
  const shown = printable(text, most).trim();
  return PLAIN.test(shown) && !LINKED.test(shown) ? shown.replaceAll('_', String.raw`\_`) : code(shown, most);
}

/** Writes printable lines as a code block. */
export function codeBlock(language: 'text' | 'sh', lines: readonly string[]): string {
  const fence = fenceFor(lines.join('\n'), 3);
  return [`${fence}${language}`, ...lines, fence].join('\n');
}

function fenceFor(text: string, least: number): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  return '`'.repeat(Math.max(least, longest + 1));
}

/** Bytes for a last line that says how many blocks were left out. */
const CLOSING_BYTES = 100;

/** Joins blocks of Markdown, the most important first, to at most `most` bytes. A last line counts what is left out. */
export function fitBlocks(blocks: readonly string[], most: number): string {
  let room = most - CLOSING_BYTES;
  const end = blocks.findIndex((block) => (room -= Buffer.byteLength(block) + 2) < 0);
  if (end < 0) return joined(blocks);
  const left = `${blocks.length - end} more do not fit here. The json report has all of them.`;
  return joined([...blocks.slice(0, end), left]);
}

/** Joins blocks with blank lines, but items of a list without them. */
const joined = (blocks: readonly string[]): string =>
  blocks
    .map((block, at) => block + (block.startsWith('- ') && blocks[at + 1]?.startsWith('- ') ? '\n' : '\n\n'))
    .join('')
    .replace(/\n\n$/, '\n');
