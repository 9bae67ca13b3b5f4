/**
 * What never reaches a terminal as it is: controls (ANSI escapes begin with one), format characters
 * (bidi overrides, zero widths), lone surrogates, unassigned and private ones, marks that stack on
 * the letter before, and every space and line break but U+0020.
 */
const UNPRINTABLE = /^(?! )[\p{C}\p{M}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

/** What terminals give two columns: emoji, East Asian scripts, full-width forms. */
const WIDE =
  /^[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\u{3000}-\u{303e}\u{ff01}-\u{ff60}\u{ffe0}-\u{ffe6}]/u;

/**
 * Text of unknown origin made safe to show: what a terminal would act on, or a reader not see,
 * becomes a visible `\u{…}` escape. The result is one line.
 *
 * @param text whatever a target sent, or a record holds
 * @param most columns of the result at most; what is cut off shows as `…`
 */
export function printable(text: string, most: number): string {
  let shown = '';
  let used = 0;
  let fitting = 0;
  for (const character of text) {
    const piece = UNPRINTABLE.test(character) ? escapeOf(character) : character;
    used += columns(piece);
    if (used > most) return `${shown.slice(0, fitting)}…`;
    shown += piece;
    // As far as an ellipsis would still fit behind it.
    if (used < most) fitting = shown.length;
  }
  return shown;
}

/** Columns that printable text takes on a terminal. */
export function columns(text: string): number {
  let sum = 0;
  for (const character of text) sum += WIDE.test(character) ? 2 : 1;
  return sum;
}

/** Printable text with spaces after it, to fill so many columns. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - columns(text)));
}

function escapeOf(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
