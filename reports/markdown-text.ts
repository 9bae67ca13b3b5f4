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

/** A part of a text with a maximum size. */
export interface Block {
  readonly text: string;
  /** Whether the block may be omitted if the text is too long. */
  readonly isOptional?: boolean;
}

/**
 * Joins blocks of Markdown with blank lines. If the text has more than `most` bytes, omits the last optional
 * blocks, and a last line says how many.
 */
export function fitBlocks(blocks: readonly Block[], most: number): string {
  const whole = joined(blocks);
  if (Buffer.byteLength(whole) <= most) return whole;
  const closing = (left: number) => ({
    text: `${left} more do not fit here. The json report has all of them.`,
  });
  let room =
    most - Buffer.byteLength(joined([...blocks.filter((block) => !block.isOptional), closing(99_999)]));
  let isFull = false;
  const kept = blocks.filter(({ text, isOptional }) => {
    if (!isOptional) return true;
    room -= Buffer.byteLength(text) + 2;
    isFull ||= room < 0;
    return !isFull;
  });
  return joined([...kept, closing(blocks.length - kept.length)]);
}

/** Joins blocks with blank lines, but items of a list without them. */
function joined(blocks: readonly Block[]): string {
  const isItem = (block: Block | undefined) => block?.text.startsWith('- ') === true;
  return blocks
    .map((block, at) => block.text + (isItem(block) && isItem(blocks[at + 1]) ? '\n' : '\n\n'))
    .join('')
    .replace(/\n\n$/, '\n');
}
