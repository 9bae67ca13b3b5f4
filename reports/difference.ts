import { chunk, columns, printable } from './text.ts';

/** Two texts: what both begin with, what differs, and what both end in. `…` stands for what was cut. */
export interface Difference {
  readonly before: string;
  readonly expected: string;
  readonly actual: string;
  readonly after: string;
}

/** What both texts have around the difference is cut to so many characters where it has more columns. */
const MAX_SAME = 300;
const KEPT_OF_SAME = 40;
/** Texts that share less than this part of the shorter one have no difference worth marking. */
const MIN_SHARED = 1 / 4;

/**
 * Where two texts differ: between their common beginning and their common end. Both are empty where
 * there is nothing to mark, because the texts have little in common.
 *
 * @param expected any text, however long
 * @param actual any text, however long
 */
export function difference(expected: string, actual: string): Difference {
  const [wanted, got] = [[...expected], [...actual]];
  const from = firstDifference(wanted, got);
  const end = commonEnd(wanted, got, from);
  if (from + end < Math.min(wanted.length, got.length) * MIN_SHARED)
    return { before: '', expected, actual, after: '' };
  const before = wanted.slice(0, from);
  const after = wanted.slice(wanted.length - end);
  return {
    before: isLong(before) ? `…${before.slice(-KEPT_OF_SAME).join('')}` : before.join(''),
    expected: wanted.slice(from, wanted.length - end).join(''),
    actual: got.slice(from, got.length - end).join(''),
    after: isLong(after) ? `${after.slice(0, KEPT_OF_SAME).join('')}…` : after.join(''),
  };
}

type Characters = readonly string[];

const isLong = (text: Characters) => columns(printable(text.join(''), 2 * MAX_SAME)) > MAX_SAME;

function firstDifference(a: Characters, b: Characters): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** Length of the common end, outside a common beginning of so many characters. */
function commonEnd(a: Characters, b: Characters, from: number): number {
  const most = Math.min(a.length, b.length) - from;
  let length = 0;
  while (length < most && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length;
}

/**
 * Names the first code points that differ, because letters that look the same may not be. Undefined
 * where the texts are equal, or both characters are ASCII.
 */
export function differingCodePoints(expected: string, actual: string): string | undefined {
  const texts = [[...expected], [...actual]] as const;
  const [wanted, got] = texts.map((text) => text[firstDifference(...texts)]?.codePointAt(0));
  const named = (codePoint: number | undefined) =>
    codePoint === undefined ? 'the end' : `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
  return Math.max(wanted ?? 0, got ?? 0) < 0x80 ? undefined : `${named(got)} instead of ${named(wanted)}`;
}

/** A line of a comparison: of one of the two texts, or a mark under them. */
export interface AlignedLine {
  readonly label: 'expected' | 'actual' | '';
  readonly text: string;
}

const MAX_SHOWN = 600;

/**
 * Two texts in pairs of lines, one under the other, with a caret under the first character that differs.
 *
 * @param expected any text
 * @param actual any text, however long or hostile
 * @param width columns of a line, 40 or more
 */
export function aligned(expected: string, actual: string, width: number): readonly AlignedLine[] {
  const { before, after, ...middle } = difference(expected, actual);
  const linesOf = (text: string) => chunk(printable(text, MAX_SHOWN), width);
  const [wanted = '', ...moreWanted] = linesOf(before + middle.expected + after);
  const [got = '', ...moreGot] = linesOf(before + middle.actual + after);
  const same = linesOf(before);
  const last = columns(same.at(-1) ?? '');
  // The next character stands behind the last one, or at the beginning of a new line.
  const caret = last < width ? { line: same.length - 1, column: last } : { line: same.length, column: 0 };
  const names = differingCodePoints(expected, actual);
  const marks = [`${' '.repeat(caret.column)}^`, ...(names === undefined ? [] : [names])];
  const pairs = Math.max(moreWanted.length, moreGot.length) + 1;
  return Array.from({ length: pairs }, (_, line) => [
    ...lineAs('expected', [wanted, ...moreWanted][line]),
    ...lineAs('actual', [got, ...moreGot][line]),
    ...(caret.line === line && expected !== actual ? marks.flatMap((text) => lineAs('', text)) : []),
  ]).flat();
}

const lineAs = (label: AlignedLine['label'], text: string | undefined): readonly AlignedLine[] =>
  text === undefined ? [] : [{ label, text }];
