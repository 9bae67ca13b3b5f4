import { chunk, columns, printable } from './text.ts';

/** Index of the first character in which two texts differ; the length of both where none does. */
function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return Math.min(characterStart(a, at), characterStart(b, at));
}

/** The index itself, or the one before where it lies in the middle of a surrogate pair. */
function characterStart(text: string, index: number): number {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff ? index - 1 : index;
}

/**
 * Names the first code points that differ, because letters that look the same may not be. Undefined
 * where the texts are equal, or both characters are ASCII.
 */
export function differingCodePoints(expected: string, actual: string): string | undefined {
  const at = firstDifference(expected, actual);
  const [wanted, got] = [expected.codePointAt(at), actual.codePointAt(at)];
  const named = (codePoint: number | undefined) =>
    codePoint === undefined ? 'the end' : `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
  return Math.max(wanted ?? 0, got ?? 0) < 0x80
    ? undefined
    : `${named(got)} where ${named(wanted)} is expected`;
}

/** Columns of either text that are shown at most. */
const MAX_SHOWN = 600;
/** A common beginning of more columns than this is cut to its last characters. */
const MAX_BEGINNING = 300;
const KEPT_OF_BEGINNING = 30;

/** A line of a comparison: of one of the two texts, or a mark under them. */
export interface AlignedLine {
  readonly of: 'expected' | 'actual' | 'mark';
  readonly text: string;
}

/**
 * Two texts in pairs of lines, one under the other, with a caret under the first character that differs.
 *
 * @param expected any text
 * @param actual any text, however long or hostile
 * @param width columns of a line, 40 or more
 */
export function aligned(expected: string, actual: string, width: number): readonly AlignedLine[] {
  const at = firstDifference(expected, actual);
  const isLong = columns(printable(expected.slice(0, at), MAX_SHOWN)) > MAX_BEGINNING;
  const from = isLong ? characterStart(expected, at - KEPT_OF_BEGINNING) : 0;
  const linesOf = (text: string) =>
    chunk((from > 0 ? '…' : '') + printable(text.slice(from), MAX_SHOWN), width);
  const [wanted, got, same] = [linesOf(expected), linesOf(actual), linesOf(expected.slice(0, at))];
  const last = columns(same.at(-1) ?? '');
  // The next character stands behind the last one, or at the beginning of a new line.
  const caret =
    last < width ? { line: Math.max(0, same.length - 1), column: last } : { line: same.length, column: 0 };
  const names = differingCodePoints(expected, actual);
  const marks = [`${' '.repeat(caret.column)}^`, ...(names === undefined ? [] : [names])];
  const isMarked = at > 0 && expected !== actual;
  const lines: AlignedLine[] = [];
  for (let pair = 0; pair < Math.max(wanted.length, got.length, 1); pair++) {
    // The first pair is shown whole, also where a text is empty.
    for (const [of, text] of [
      ['expected', wanted[pair]],
      ['actual', got[pair]],
    ] as const)
      if (text !== undefined || pair === 0) lines.push({ of, text: text ?? '' });
    if (isMarked && caret.line === pair) lines.push(...marks.map((text) => ({ of: 'mark', text }) as const));
  }
  return lines;
}

/** A stretch of a text: as in the other text, other than there, or left out (then without text). */
export interface Stretch {
  readonly is: 'same' | 'other' | 'cut';
  readonly text: string;
}

/** Two texts to be shown side by side. */
export interface Difference {
  readonly expected: readonly Stretch[];
  readonly actual: readonly Stretch[];
}

/** What both texts have around the difference is cut to so many code units where it has more. */
const MAX_SAME = 300;
const KEPT_OF_SAME = 60;
/** Code units up to which what differs is compared letter by letter. */
const MAX_COMPARED = 600;
/** Texts that share less than this part of the shorter one have no difference worth marking. */
const MIN_SHARED = 1 / 4;

const cut: Stretch = { is: 'cut', text: '' };
const same = (text: string): readonly Stretch[] => (text === '' ? [] : [{ is: 'same', text }]);

/**
 * Where two texts differ: between their common beginning and their common end, and there letter by
 * letter where both have as many of them.
 *
 * @param expected any text, however long
 * @param actual any text, however long
 */
export function difference(expected: string, actual: string): Difference {
  if (expected === actual) return { expected: same(expected), actual: same(actual) };
  const from = firstDifference(expected, actual);
  const end = commonEnd(expected, actual, from);
  if (from + end < Math.min(expected.length, actual.length) * MIN_SHARED)
    return { expected: same(expected), actual: same(actual) };
  const beginning = expected.slice(0, from);
  const ending = expected.slice(expected.length - end);
  const head =
    from > MAX_SAME
      ? [cut, ...same(beginning.slice(characterStart(beginning, from - KEPT_OF_SAME)))]
      : same(beginning);
  const tail =
    end > MAX_SAME ? [...same(ending.slice(0, characterStart(ending, KEPT_OF_SAME))), cut] : same(ending);
  const [wanted, got] = compared(
    expected.slice(from, expected.length - end),
    actual.slice(from, actual.length - end),
  );
  return { expected: [...head, ...wanted, ...tail], actual: [...head, ...got, ...tail] };
}

/** Length of the common end, outside the common beginning of so many code units. */
function commonEnd(a: string, b: string, from: number): number {
  const most = Math.min(a.length, b.length) - from;
  let length = 0;
  while (length < most && a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length))
    length += 1;
  const isTorn = [a, b].some((text) => characterStart(text, text.length - length) !== text.length - length);
  return isTorn ? length - 1 : length;
}

/** What stands between the common beginning and end. A side that has nothing there keeps an empty stretch. */
function compared(expected: string, actual: string): readonly [readonly Stretch[], readonly Stretch[]] {
  if (Math.max(expected.length, actual.length) <= MAX_COMPARED) {
    const [wanted, got] = [[...expected], [...actual]];
    const others = wanted.map((character, at) => character !== got[at]);
    // A few letters that happen to be the same would only confuse.
    if (wanted.length === got.length && others.filter(Boolean).length <= others.length / 2)
      return [stretches(wanted, others), stretches(got, others)];
  }
  return [[{ is: 'other', text: expected }], [{ is: 'other', text: actual }]];
}

function stretches(characters: readonly string[], others: readonly boolean[]): readonly Stretch[] {
  const found: { is: Stretch['is']; text: string }[] = [];
  for (const [at, character] of characters.entries()) {
    const is = others[at] === true ? 'other' : 'same';
    const last = found.at(-1);
    if (last?.is === is) last.text += character;
    else found.push({ is, text: character });
  }
  return found;
}
