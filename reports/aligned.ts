import { characterStart, codePointsAt, firstDifference } from './first-difference.ts';
import { columns, printable } from './printable.ts';
import { chunk } from './wrap.ts';

/** Columns of either text that are shown at most. */
const MOST = 600;

/** A common beginning of more columns than this is cut to its last characters. */
const LONG = 300;
const KEPT = 30;

/** A line of a comparison: of one of the two texts, or a mark under them. */
export interface AlignedLine {
  readonly of: 'expected' | 'actual' | 'mark';
  readonly text: string;
}

/**
 * Two texts in pairs of lines of at most `width` columns, one under the other, with a caret under
 * the first character that differs. Where that is no ASCII character its code point is named, as
 * letters that look the same may not be.
 *
 * @param expected any text
 * @param actual any text, however long or hostile
 * @param width columns of a line, 40 or more
 */
export function aligned(expected: string, actual: string, width: number): readonly AlignedLine[] {
  const at = firstDifference(expected, actual);
  const isLong = columns(printable(expected.slice(0, at), MOST)) > LONG;
  const from = isLong ? characterStart(expected, at - KEPT) : 0;
  const shown = (text: string): string => (from > 0 ? '…' : '') + printable(text.slice(from), MOST);
  const wanted = chunk(shown(expected), width);
  const got = chunk(shown(actual), width);
  const caret = placeAfter(chunk(shown(expected.slice(0, at)), width), width);
  const isMarked = at > 0 && expected !== actual;
  return Array.from({ length: Math.max(wanted.length, got.length, 1) }, (_, pair) => [
    ...lineOf('expected', pair, wanted),
    ...lineOf('actual', pair, got),
    ...(isMarked && caret.line === pair ? marks(caret.column, expected, actual, at) : []),
  ]).flat();
}

/** The first pair is shown whole, also where a text is empty. */
function lineOf(of: 'expected' | 'actual', pair: number, lines: readonly string[]): readonly AlignedLine[] {
  const text = lines[pair] ?? (pair === 0 ? '' : undefined);
  return text === undefined ? [] : [{ of, text }];
}

/** Where the next character stands after these lines of so many columns. */
function placeAfter(
  lines: readonly string[],
  width: number,
): { readonly line: number; readonly column: number } {
  const column = columns(lines.at(-1) ?? '');
  if (lines.length === 0 || column < width) return { line: Math.max(0, lines.length - 1), column };
  return { line: lines.length, column: 0 };
}

function marks(column: number, expected: string, actual: string, at: number): readonly AlignedLine[] {
  const names = codePointsAt(at, expected, actual);
  return [
    { of: 'mark', text: `${' '.repeat(column)}^` },
    ...(names === undefined ? [] : [{ of: 'mark', text: names } as const]),
  ];
}
