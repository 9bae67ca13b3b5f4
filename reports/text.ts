import type { Checkup, RunRecord } from '../schemas/generated/types.ts';

/**
 * Characters that must not reach a terminal: controls (ANSI escapes begin with one), format characters
 * (bidi overrides, zero widths), lone surrogates, unassigned and private characters, combining marks,
 * and all spaces and line breaks except U+0020.
 */
const UNPRINTABLE = /^(?! )[\p{C}\p{M}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

/** Characters of two columns: emoji, East Asian scripts, full-width forms. */
const WIDE =
  /^[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\u{3000}-\u{303e}\u{ff01}-\u{ff60}\u{ffe0}-\u{ffe6}]/u;

/**
 * Makes untrusted text safe to show on one line. Characters that affect a terminal or are invisible become
 * a visible `\u{…}` escape.
 *
 * @param text any text of a target or a record
 * @param most maximum columns of the result; `…` marks a cut
 */
export function printable(text: string, most: number): string {
  let shown = '';
  let used = 0;
  let fitting = 0;
  for (const character of text) {
    const isHidden = UNPRINTABLE.test(character);
    const piece = isHidden ? `\\u{${character.codePointAt(0)!.toString(16)}}` : character;
    used += columns(piece);
    if (used > most) return `${shown.slice(0, fitting)}…`;
    shown += piece;
    // An ellipsis still fits after this.
    if (used < most) fitting = shown.length;
  }
  return shown;
}

/** Returns the width of printable text in columns of a terminal. */
export function columns(text: string): number {
  let sum = 0;
  for (const character of text) sum += WIDE.test(character) ? 2 : 1;
  return sum;
}

/** Pads printable text with spaces to a width. */
export const padded = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - columns(text)));

/**
 * Breaks printable text between words into lines of at most `width` columns (2 or more). Also breaks words
 * that are longer than a line. Several spaces count as one.
 */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((part) => part !== '')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && columns(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(...chunk(word, width));
  }
  return lines;
}

/** Wraps text, with all lines except the first indented, so that no other line looks like a first one. */
export const hanging = (text: string, width: number): readonly string[] =>
  wrap(text, width - 2).map((line, at) => (at === 0 ? line : `  ${line}`));

/** Breaks printable text into lines of at most `width` columns (2 or more), anywhere. Keeps every character. */
export function chunk(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let room = 0;
  for (const character of text) {
    room -= columns(character);
    if (room >= 0) lines[lines.length - 1] += character;
    else {
      lines.push(character);
      room = width - columns(character);
    }
  }
  return lines;
}

/** Breaks text like `chunk`, but after a space or a separator if one is in the second half of the line. */
export function softChunk(text: string, width: number): readonly string[] {
  const [line = ''] = chunk(text, width);
  if (line === text) return [line];
  const { index = -1 } = /[ ,;&?][^ ,;&?]*$/.exec(line) ?? {};
  const end = index < line.length / 2 ? line.length : index + 1;
  return [line.slice(0, end), ...softChunk(text.slice(end), width)];
}

/** Returns the items that are neither undefined nor false: `compact('a', isSet && 'b')`. */
export const compact = <Item>(...items: readonly (Item | false | undefined)[]): readonly Item[] =>
  items.filter((item): item is Item => item !== undefined && item !== false);

/** Quotes a word for a shell if necessary. */
export const shellWord = (word: string): string =>
  /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** Formats a whole number: `1,234`. Intl would take 20 ms to load. */
export const count = (value: number): string => String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ',');

/** Formats a number with a noun: `1 request`, `1,234 requests`. */
export const plural = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

/** Formats a time in milliseconds: `4.2 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${count(Math.floor(seconds / 60))} min ${seconds % 60} s`;
}

const colors = {
  good: [32, 39],
  bad: [31, 39],
  warning: [33, 39],
  unsure: [36, 39],
  ours: [35, 39],
  quiet: [2, 22],
  loud: [1, 22],
  plain: undefined,
} as const;

/** Meaning of a colour in a report. The text must say the same. */
export type Tone = keyof typeof colors;

/** A terminal or log for a report. */
export interface Screen extends ReturnType<typeof screenOf> {}

/** Makes a screen of 60 to 200 columns, with or without colour. */
export const screenOf = ({ color, width }: { readonly color: boolean; readonly width: number }) => ({
  width: Math.min(200, Math.max(60, width)),
  /** Paints with ANSI colours, or leaves the text as it is. */
  paint: (tone: Tone, text: string): string => {
    const code = colors[tone];
    return !color || code === undefined || text === '' ? text : `\u001b[${code[0]}m${text}\u001b[${code[1]}m`;
  },
});

/**
 * Characters that JSON allows in a string but that affect a terminal or an editor: DEL and the C1 controls,
 * format characters such as bidi overrides, line and paragraph separators.
 */
const AFFECTS_DISPLAY = /[\u{7f}-\u{9f}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Writes JSON with escapes for all characters that affect a terminal. */
export const safeJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replace(AFFECTS_DISPLAY, (character) =>
    Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  );

/** Renders a record as indented JSON. */
export const renderJson = (record: RunRecord | Checkup): string => `${safeJson(record, 2)}\n`;
