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
  /** The same, folded. */
  readonly codes: Uint8Array;
  /** How many characters of it, side by side, reveal the secret. If it is the whole length, only the whole does. */
  readonly minLength: number;
  /** For each place, how many characters before it are secret, that is, not part of a well-known word. */
  readonly secretBefore: Uint32Array;
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

/** Characters that count as equal: letters in either case, and what base64 and base64url write for the same. */
export const folded: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code).toLowerCase().replace('-', '+').replace('_', '/');
  return character.charCodeAt(0);
});

/** Words of the interface and of JSON. They are never secret. */
const interfaceWords: readonly string[] = [
  ...Object.entries(endpoints).flatMap(([name, { path, parameter, messages }]) => [
    name,
    path,
    parameter,
    ...Object.values(messages),
  ]),
  'is_under_ib',
  'date_joined',
  'amountInUsd',
  'executedAt',
  'authorization',
  'application/json',
  'true',
  'false',
  'null',
].map((word) => word.toLowerCase());

/**
 * The forms of a secret: as it is, in hexadecimal, and in base64 at any place of a longer text.
 * None if it cannot be hidden: too short, or a word that the interface or the fixture contains anyway.
 */
export function secretForms({ value, name, owner }: Secret): readonly SecretForm[] {
  const known = owner ? [...interfaceWords, owner.toLowerCase()] : interfaceWords;
  const inLowerCase = value.toLowerCase();
  if (value.length < MIN_SECRET || known.some((word) => word.includes(inLowerCase))) return [];
  const variety = new Set(value).size;
  const isLong = value.length >= MIN_PART && variety >= MIN_VARIETY;
  const part = Math.max(MIN_PART, Math.ceil(value.length / 2));
  const formOf = (text: string, perCharacter: number, words: readonly string[] = []): SecretForm => ({
    name,
    text,
    codes: Uint8Array.from(text, (character) => folded[character.charCodeAt(0)] ?? 0),
    minLength:
      variety < MIN_PART_VARIETY ? text.length : Math.min(text.length, Math.ceil(part * perCharacter)),
    secretBefore: secretBefore(text.toLowerCase(), words),
    isWord: false,
  });
  return [
    { ...formOf(value, 1, known), isWord: !isLong },
    ...[
      // A secret that contains %20 loses it when the escapes around it are decoded.
      ...unescaped(value).map(({ text }) => formOf(text, text.length / value.length, known)),
      formOf(Buffer.from(value).toString('hex'), 2),
      ...[0, 1, 2].map((offset) => formOf(base64Core(value, offset), 4 / 3)),
    ].filter(({ text }) => text.length >= MIN_PART),
  ];
}

function secretBefore(text: string, known: readonly string[]): Uint32Array {
  const isKnown = new Uint8Array(text.length);
  for (const word of known)
    for (let at = 0; at + word.length <= text.length; at++)
      if (text.startsWith(word, at)) isKnown.fill(1, at, at + word.length);
  const before = new Uint32Array(text.length + 1);
  for (let at = 0; at < text.length; at++) before[at + 1] = before[at]! + (isKnown[at] === 1 ? 0 : 1);
  return before;
}

/** The base64 characters that depend on the text alone, if `offset` bytes (modulo 3) stand before it. */
function base64Core(text: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
  const firstOwn = [0, 2, 3][offset]!;
  return bytes.toString('base64').slice(firstOwn, Math.floor((bytes.length * 8) / 6));
}

/** A text with its escapes decoded. */
export interface Unescaped {
  readonly text: string;
  /** For each character, and for the end, the index in the original text. */
  readonly from: readonly number[];
}

/** An escape: percent-encoding (RFC 3986 2.1), of JSON and of programming languages, of HTML and XML. Else plain text. */
const TOKEN =
  /%([0-9a-f]{2})|\\u\{?([0-9a-f]{2,6})\}?|\\x([0-9a-f]{2})|\\(["'\\/`$])|&#x([0-9a-f]{1,6});|&#(\d{1,7});|&(amp|lt|gt|quot|apos);|[^%\\&]+|[^]/gi;

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** How many layers of escapes are decoded. */
const MAX_LAYERS = 4;

/** A text after each layer of escapes is decoded; empty if it has none. */
export function unescaped(text: string): readonly Unescaped[] {
  const layers: Unescaped[] = [];
  while (layers.length < MAX_LAYERS) {
    const last = layers.at(-1);
    const next = decodeLayer(last?.text ?? text, last?.from);
    if (next === undefined) break;
    layers.push(next);
  }
  return layers;
}

function decodeLayer(text: string, before: readonly number[] | undefined): Unescaped | undefined {
  if (!/[%\\&]/.test(text)) return undefined;
  const origin = (at: number) => before?.[at] ?? at;
  const from: number[] = [];
  let decoded = '';
  for (const match of text.matchAll(TOKEN)) {
    const character = characterOf(match);
    const piece = character ?? match[0];
    for (let unit = 0; unit < piece.length; unit++)
      from.push(origin(match.index + (character === undefined ? unit : 0)));
    decoded += piece;
  }
  // Every escape is longer than its character.
  if (decoded.length === text.length) return undefined;
  from.push(origin(text.length));
  return { text: decoded, from };
}

function characterOf([, percent, braced, byte, plain, hex, decimal, entity]: RegExpExecArray) {
  if (entity !== undefined) return entities[entity.toLowerCase()]!;
  const digits = percent ?? braced ?? byte ?? hex;
  if (digits === undefined && decimal === undefined) return plain;
  const code = digits === undefined ? Number(decimal) : parseInt(digits, 16);
  return code <= 0x10_ffff ? String.fromCodePoint(code) : '\ufffd';
}
