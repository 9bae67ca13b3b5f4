import { endpoints } from './endpoints.ts';

/** A text that no output may hold, and the name that replaces it. */
export interface Secret {
  readonly value: string;
  /** Such as `<key northwind/active>`. */
  readonly name: string;
  /** Id of the partner that owns the secret. Where the value contains this id, that part is not secret. */
  readonly owner?: string | null;
}

/** One way to write a secret, prepared for the search. */
export interface SecretForm {
  readonly name: string;
  readonly text: string;
  readonly folded: string;
  /** How many characters of it, side by side, reveal the secret. If it is the whole length, only the whole does. */
  readonly minLength: number;
  /** For each character, whether it is secret, that is, not part of a well-known word. */
  readonly isSecret: readonly boolean[];
  /** Whether it counts only as a separate word in its exact letter case. */
  readonly isWord: boolean;
}

/** Shorter texts occur in ordinary sentences, so they cannot be hidden. */
const MIN_SECRET = 4;
/** A text with fewer different characters, such as `00000000`, occurs within numbers. */
const MIN_VARIETY = 4;
/** A text of this length does not occur within a word by chance, nor does a part of this length. */
const MIN_PART = 8;
/** A part with fewer different characters may occur by chance. */
export const MIN_PART_VARIETY = 6;
const MAX_LAYERS = 4;

/**
 * A text of the same length, in which letters in either case, and what base64 and base64url write for the same,
 * are equal. No other letter than İ gets longer in lower case.
 */
export const fold = (text: string) =>
  text.replaceAll('İ', 'i').toLowerCase().replaceAll('-', '+').replaceAll('_', '/');

/** Words of the interface and of JSON. They are never secret. */
const interfaceWords: readonly string[] = [
  ...Object.keys(endpoints),
  ...Object.values(endpoints).flatMap(({ path, parameter }) => [path, parameter]),
  ...Object.values(endpoints).flatMap(({ messages }) => Object.values<string>(messages)),
  ...'is_under_ib date_joined amountInUsd executedAt authorization'.split(' '),
  ...'application/json true false null'.split(' '),
].map((word) => word.toLowerCase());

/**
 * The forms of a secret: as it is, in hexadecimal, and in base64 at any place of a longer text.
 * None if it cannot be hidden: too short, or a word that the interface or the fixture contains anyway.
 */
export function secretForms({ value, name, owner }: Secret): readonly SecretForm[] {
  const known = owner ? [...interfaceWords, owner.toLowerCase()] : interfaceWords;
  if (value.length < MIN_SECRET || known.some((word) => word.includes(value.toLowerCase()))) return [];
  const variety = new Set(value).size;
  const isLong = value.length >= MIN_PART && variety >= MIN_VARIETY;
  const [, ...decoded] = layersOf(value);
  const part = Math.max(MIN_PART, Math.ceil(value.length / 2));
  const formOf = (text: string, perCharacter: number, words: readonly string[] = []): SecretForm => ({
    name,
    text,
    folded: fold(text),
    minLength:
      variety < MIN_PART_VARIETY ? text.length : Math.min(text.length, Math.ceil(part * perCharacter)),
    isSecret: secretsIn(text.toLowerCase(), words),
    isWord: false,
  });
  return [
    { ...formOf(value, 1, known), isWord: !isLong },
    ...[
      // A secret that contains %20 loses it when the escapes around it are decoded.
      ...decoded.map(({ text }) => formOf(text, text.length / value.length, known)),
      formOf(Buffer.from(value).toString('hex'), 2),
      ...[0, 1, 2].map((offset) => formOf(base64Core(value, offset), 4 / 3)),
    ].filter(({ text }) => text.length >= MIN_PART),
  ];
}

function secretsIn(text: string, known: readonly string[]): readonly boolean[] {
  const isSecret = Array.from({ length: text.length }, () => true);
  for (const word of known)
    for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1))
      isSecret.fill(false, at, at + word.length);
  return isSecret;
}

/** The base64 characters that depend on the text alone, if `offset` bytes (modulo 3) stand before it. */
function base64Core(text: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
  return bytes.toString('base64').slice([0, 2, 3][offset], Math.floor((bytes.length * 8) / 6));
}

/** A text with layers of escapes decoded. */
export interface Layer {
  readonly text: string;
  /** The index in the original text of a character, or of the end. */
  readonly from: (at: number) => number;
}

/** An escape: percent-encoding (RFC 3986 2.1), of JSON and of programming languages, of HTML and XML. Else plain text. */
const TOKEN =
  /(?:%|\\x)([0-9a-f]{2})|\\u\{?([0-9a-f]{2,6})\}?|&#x([0-9a-f]{1,6});|\\(["'\\/`$])|&#(\d{1,7});|&(amp|lt|gt|quot|apos);|[^%\\&]+|[^]/gi;

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** A text, and what it is after each layer of its escapes is decoded. */
export function layersOf(text: string): readonly Layer[] {
  let last: Layer = { text, from: (at) => at };
  const layers = [last];
  while (layers.length <= MAX_LAYERS && /[%\\&]/.test(last.text)) {
    const from: number[] = [];
    let decoded = '';
    for (const match of last.text.matchAll(TOKEN)) {
      const character = characterOf(match);
      const piece = character ?? match[0];
      for (let unit = 0; unit < piece.length; unit++)
        from.push(last.from(match.index + (character === undefined ? unit : 0)));
      decoded += piece;
    }
    // Every escape is longer than its character.
    if (decoded.length === last.text.length) break;
    from.push(last.from(last.text.length));
    last = { text: decoded, from: (at) => from[at]! };
    layers.push(last);
  }
  return layers;
}

function characterOf([, byte, braced, hex, plain, decimal, entity = '']: RegExpExecArray) {
  const digits = byte ?? braced ?? hex ?? decimal;
  if (digits === undefined) return plain ?? entities[entity.toLowerCase()];
  const code = parseInt(digits, decimal === undefined ? 16 : 10);
  return code <= 0x10_ffff ? String.fromCodePoint(code) : '\ufffd';
}
