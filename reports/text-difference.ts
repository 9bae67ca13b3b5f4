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
  const first = firstDifference(wanted, got);
  const same = commonEnd(wanted, got, first);
  if (first + same < Math.min(wanted.length, got.length) * MIN_SHARED)
    return { before: '', expected, actual, after: '' };
  const { from, end } = wholeNumbers(wanted, got, first, same);
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

/** A number that stands alone, at the end of a text. */
const NUMBER = /(?:^|[\s"([{,]|":)(-?[\d.]*)$/;

/** Takes numbers whole: of 250.5 and 25050, the end is no difference by itself. */
function wholeNumbers(wanted: Characters, got: Characters, first: number, same: number) {
  const digits = NUMBER.exec(wanted.slice(0, first).join(''))?.[1]?.length ?? 0;
  const from = first - digits;
  const isInNumber = [wanted, got].every((text) => /^-?\d/.test(text.slice(from).join('')));
  if (!isInNumber) return { from: first, end: same };
  const rest = same === 0 ? '' : wanted.slice(-same).join('');
  return { from, end: same - /^[\d.]*/.exec(rest)![0].length };
}

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
  const [wanted, got] = [middle.expected, middle.actual].map((text) =>
    printable(before + text + after, MAX_SHOWN),
  ) as [string, string];
  const named = (label: Line['label'], lines: readonly string[]) =>
    lines.map((text): Line => ({ label, text }));
  if (before + after === '')
    return [...named('expected', softChunk(wanted, width)), ...named('actual', softChunk(got, width))];
  const from = printable(before, MAX_SHOWN).length;
  const lines = softChunk(wanted, width);
  // The line with the difference, and where it begins.
  let [at, start] = [0, 0];
  while (at < lines.length - 1 && start + lines[at]!.length <= from) start += lines[at++]!.length;
  const rest = got.slice(start);
  const soft = softChunk(rest, width);
  const [whole = ''] = chunk(rest, width);
  const others =
    soft[0]!.length > from - start ? soft : [whole, ...softChunk(rest.slice(whole.length), width)];
  const isFull = columns(wanted.slice(start, from)) >= width;
  const caret = isFull
    ? { line: at + 1, column: 0 }
    : { line: at, column: columns(wanted.slice(start, from)) };
  const pairs = [
    named('expected', lines),
    named(
      'actual',
      [...lines.slice(0, at), ...others].filter((line) => line !== ''),
    ),
  ] as const;
  const marks = compact(`${' '.repeat(caret.column)}^`, differenceWords(expected, actual));
  return Array.from({ length: Math.max(...pairs.map(({ length }) => length)) }, (_, line) => [
    ...compact(...pairs.map((some) => some[line])),
    ...(caret.line === line && expected !== actual ? named('', marks) : []),
  ]).flat();
}

interface Line {
  readonly label: 'expected' | 'actual' | '';
  readonly text: string;
}
