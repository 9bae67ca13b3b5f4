import { printable } from './text.ts';

/**
 * Texts of a record as GitHub's Markdown, each on one line. What could become a link, a mention, an
 * emoji, a heading, math or HTML stands in code, where none of that happens.
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

/** Text in code, in a cell of a table, which a `|` would end. */
export const cell = (text: string, most: number): string =>
  code(text.replaceAll('|', String.raw`\u{7c}`), most);

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

function fenceFor(text: string, least: number): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  return '`'.repeat(Math.max(least, longest + 1));
}

/** A piece of a text that must not get too long. */
export interface Block {
  readonly text: string;
  /** Whether it may be left out where there is no room. */
  readonly isOptional?: boolean;
}

/**
 * Blocks of Markdown with a blank line between them. Where all of them would take more than `most`
 * bytes, the last optional ones are left out, and a last line says how many.
 */
export function fit(blocks: readonly Block[], most: number): string {
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

/** Items of a list follow each other line by line. */
function joined(blocks: readonly Block[]): string {
  const isItem = (block: Block | undefined) => block?.text.startsWith('- ') === true;
  return blocks
    .map((block, at) => block.text + (isItem(block) && isItem(blocks[at + 1]) ? '\n' : '\n\n'))
    .join('')
    .replace(/\n\n$/, '\n');
}
