import { chunk, columns, compact, plural, printable, softChunk } from './text.ts';

/** Maximum columns of a common beginning or end. A longer one is cut to `KEPT_OF_SAME` characters. */
const MAX_SAME = 300;
const KEPT_OF_SAME = 40;
/** Minimum common part of the shorter text. With less, no difference is marked. */
const MIN_SHARED = 1 / 4;

/**
 * Finds the difference of two texts of any length, between their common beginning and their common end. Both
 * are empty if the texts have too little in common. `…` marks a cut.
 */
export function diffTexts(expected: string, actual: string) {
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

/** Returns the length of the common end. @param from length of the common beginning, which it excludes */
function commonEnd(a: Characters, b: Characters, from: number): number {
  const most = Math.min(a.length, b.length) - from;
  let length = 0;
  while (length < most && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length;
}

/**
 * Says in words what is hard to see: that fractions of a second have different numbers of digits, or which
 * characters that may look the same differ. Returns undefined if there is nothing to say.
 */
export function differenceWords(expected: string, actual: string): string | undefined {
  const [wanted, got] = [expected, actual].map((text) => /^(.*:\d\d)(?:[.,](\d+))?Z/s.exec(text));
  const [digits, given] = [wanted, got].map((found) => found?.[2]?.length ?? 0) as [number, number];
  if (wanted?.[1] !== undefined && wanted[1] === got?.[1] && digits !== given)
    return `${plural(digits, 'fraction digit')} expected, ${given} given`;
  return differingCodePoints(expected, actual);
}

/**
 * Names the first code points that differ, because different letters may look the same. Returns undefined
 * if the texts are equal or both characters are ASCII.
 */
function differingCodePoints(expected: string, actual: string): string | undefined {
  const texts = [[...expected], [...actual]] as const;
  const [wanted, got] = texts.map((text) => text[firstDifference(...texts)]?.codePointAt(0));
  const named = (codePoint: number | undefined) =>
    codePoint === undefined ? 'the end' : `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
  return Math.max(wanted ?? 0, got ?? 0) < 0x80 ? undefined : `${named(got)} instead of ${named(wanted)}`;
}

const MAX_SHOWN = 600;

/**
 * Breaks two texts, of any length and content, into pairs of lines, with a caret below the first character
 * that differs. If they have too little in common, one comes after the other, broken where that reads best.
 *
 * @param width columns of a line, 40 or more
 * @returns lines with the name of their text; a mark has no name
 */
export function alignTexts(expected: string, actual: string, width: number): readonly Line[] {
  const { before, after, ...middle } = diffTexts(expected, actual);
  const isAligned = before + after !== '';
  const linesOf = (label: Line['label'], text: string) =>
    (isAligned ? chunk : softChunk)(printable(text, MAX_SHOWN), width).map((line): Line => ({
      label,
      text: line,
    }));
  const wanted = linesOf('expected', before + middle.expected + after);
  const got = linesOf('actual', before + middle.actual + after);
  if (!isAligned) return [...wanted, ...got];
  const same = chunk(printable(before, MAX_SHOWN), width);
  const last = columns(same.at(-1) ?? '');
  // The next character is after the last one, or at the beginning of a new line.
  const caret = last < width ? { line: same.length - 1, column: last } : { line: same.length, column: 0 };
  const marks = compact(`${' '.repeat(caret.column)}^`, differenceWords(expected, actual));
  const pairs = Array.from({ length: Math.max(wanted.length, got.length) }, (_, line) => [
    ...compact(wanted[line], got[line]),
    ...(caret.line === line && expected !== actual ? marks.map((text): Line => ({ label: '', text })) : []),
  ]);
  return pairs.flat();
}

interface Line {
  readonly label: 'expected' | 'actual' | '';
  readonly text: string;
}
