/** A text as it reads when its escapes are undone, and where each of its characters came from. */
export interface Reading {
  readonly text: string;
  /** Index in the text that was given, of each character and of the end. */
  readonly from: readonly number[];
}

/** Percent-encoding (RFC 3986 2.1), escapes of JSON and of programming languages, and of HTML and XML. */
const ESCAPE =
  /%([0-9a-f]{2})|\\u\{?([0-9a-f]{2,6})\}?|\\x([0-9a-f]{2})|\\(["'\\/`$])|&#x([0-9a-f]{1,6});|&#(\d{1,7});|&(amp|lt|gt|quot|apos);/gi;

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** What is escaped more often than this is no longer the target's usual way of writing. */
const MOST_TIMES = 4;

/** A text without its escapes, one layer after the other; nothing where it has none. */
export function unescaped(text: string): readonly Reading[] {
  const readings: Reading[] = [];
  let last: Reading | undefined;
  while (readings.length < MOST_TIMES) {
    last = withoutOneLayer(last?.text ?? text, last?.from);
    if (last === undefined) break;
    readings.push(last);
  }
  return readings;
}

function withoutOneLayer(text: string, before: readonly number[] | undefined): Reading | undefined {
  if (!/[%\\&]/.test(text)) return undefined;
  const origin = (at: number) => before?.[at] ?? at;
  const from: number[] = [];
  let read = '';
  let at = 0;
  const keepUntil = (end: number) => {
    for (let index = at; index < end; index++) from.push(origin(index));
    read += text.slice(at, end);
  };
  for (const match of text.matchAll(ESCAPE)) {
    keepUntil(match.index);
    const character = characterOf(match);
    for (let unit = 0; unit < character.length; unit++) from.push(origin(match.index));
    read += character;
    at = match.index + match[0].length;
  }
  if (at === 0) return undefined;
  keepUntil(text.length);
  from.push(origin(text.length));
  return { text: read, from };
}

function characterOf([, percent, braced, byte, plain, hex, decimal, entity]: RegExpExecArray): string {
  if (plain !== undefined) return plain;
  if (entity !== undefined) return entities[entity.toLowerCase()]!;
  const code = decimal === undefined ? parseInt(percent ?? braced ?? byte ?? hex!, 16) : Number(decimal);
  return code <= 0x10_ffff ? String.fromCodePoint(code) : '\ufffd';
}
