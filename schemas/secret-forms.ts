import { endpoints } from './endpoints.ts';

/** A text that no output may contain, and the name that replaces it. */
export interface Secret {
  readonly value: string;
  /** Such as `<key northwind/active>`. */
  readonly name: string;
  /** Id of the partner that owns the secret. This id inside the value is not secret. */
  readonly owner?: string | null;
}

/** A secret, prepared for the search. The lists have an entry per character. */
export interface SearchedSecret {
  readonly name: string;
  readonly folded: string;
  /** Whether only the whole secret counts, because its parts may occur by chance. */
  readonly isWholeOnly: boolean;
  /** Not part of a known word or of a beginning common to two secrets. */
  readonly isSecret: readonly boolean[];
  /** A secret letter or digit that is not part of a word. */
  readonly isRandom: readonly boolean[];
}

/** One way to write a secret. */
export interface SecretForm {
  readonly secret: SearchedSecret;
  readonly text: string;
  readonly folded: string;
  /** For each character, the place in the secret that it reveals. */
  readonly places: readonly number[];
  /** Minimum length of parts in the search. */
  readonly minLength: number;
  /** Whether it counts only as a separate word in its exact letter case. */
  readonly isWord: boolean;
  /** Whether it has no separators, to match text with other separators. */
  readonly isCompact: boolean;
  /** Its letters and digits, with blanks for separators. */
  readonly withBlanks: string;
}

/** Shorter secrets occur in ordinary sentences, so they cannot be hidden. */
const MIN_SECRET = 4;
/** A text with fewer different characters, such as `00000000`, occurs in numbers. */
const MIN_WORD_VARIETY = 4;
/** A text or part of this length does not occur in words by chance. */
export const MIN_PART = 8;
/** A part with fewer different characters may occur by chance. */
export const MIN_VARIETY = 6;
/** Minimum length of pieces that count together. */
export const MIN_PIECE = 6;
/** Length of the character sequences in the index of forms. */
export const GRAM = 4;
const MAX_LAYERS = 4;

/**
 * Normalizes letter case, and base64url to base64, and keeps the length. İ is the only letter that gets longer
 * in lower case.
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
 * Returns the forms of secrets: unchanged, backwards, in hexadecimal, as the numbers of their bytes, and in
 * base64 at any place of a longer text; each also without separators. A secret that cannot be hidden has no
 * form: it is too short, or the interface or the fixture contains it.
 */
export function secretForms(secrets: readonly Secret[]): readonly SecretForm[] {
  const sorted = [...new Set(secrets.map(({ value }) => value))].toSorted();
  const shared = new Map(
    sorted.map((value, at) => [
      value,
      Math.max(commonLength(value, sorted[at - 1]), commonLength(value, sorted[at + 1])),
    ]),
  );
  return secrets.flatMap((secret) => formsOf(secret, shared.get(secret.value)!));
}

function commonLength(one: string, other = ''): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}

/** @param shared length of the beginning that another secret has, too */
function formsOf({ value, name, owner }: Secret, shared: number): readonly SecretForm[] {
  const known = owner ? [...interfaceWords, owner.toLowerCase()] : interfaceWords;
  if (value.length < MIN_SECRET || known.some((word) => word.includes(value.toLowerCase()))) return [];
  const variety = new Set(value).size;
  const isLong = value.length >= MIN_PART && variety >= MIN_WORD_VARIETY;
  const isWholeOnly = variety < MIN_VARIETY;
  const isSecret = Array.from({ length: value.length }, () => true);
  const lower = value.toLowerCase();
  for (const word of known)
    for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + 1))
      isSecret.fill(false, at, at + word.length);
  // A secret that is hardly longer than its shared beginning is completely secret.
  if (value.length - shared >= MIN_PART) isSecret.fill(false, 0, shared);
  const isRandom = isSecret.map((one, at) => one && /[a-z0-9]/i.test(value[at]!));
  for (const { index, 0: word } of value.matchAll(/[A-Z]?[a-z]+|[A-Z]+/g))
    if (isWordLike(word)) isRandom.fill(false, index, index + word.length);
  const secret = { name, folded: fold(value), isWholeOnly, isSecret, isRandom };
  const formOf = (text: string, placeOf: (at: number) => number): SecretForm => ({
    secret,
    text,
    folded: fold(text),
    places: Array.from({ length: text.length }, (_, at) => placeOf(at)),
    minLength: isWholeOnly
      ? text.length
      : Math.max(GRAM, Math.floor((MIN_PIECE * text.length) / value.length)),
    isWord: false,
    isCompact: false,
    withBlanks: withBlanks(fold(text)),
  });
  // A secret that contains %20 loses it when the escapes around it are decoded.
  const [plain, ...decoded] = decodeLayers(value).map(({ text, from }) => formOf(text, from));
  const bytes = Buffer.from(value);
  const encoded = [
    bytes.toString('hex'),
    bytes.join(','),
    ...[0, 1, 2].map((offset) => base64Core(bytes, offset)),
  ];
  const others = [
    ...decoded,
    ...(isLong ? [formOf([...value].toReversed().join(''), (at) => value.length - 1 - at)] : []),
    ...encoded.map((text) => formOf(text, (at) => Math.floor((at * value.length) / text.length))),
  ];
  const forms = [{ ...plain!, isWord: !isLong }, ...others.filter(({ text }) => text.length >= MIN_PART)];
  return isWholeOnly || !isLong ? forms : [...forms, ...forms.flatMap(compactForm)];
}

/** Returns the form without separators, if it has some and is long enough without them. */
function compactForm(form: SecretForm): readonly SecretForm[] {
  const { text, places } = compacted(form.folded);
  if (text.length < MIN_PART || text === form.folded) return [];
  const minLength = Math.min(form.minLength, text.length);
  return [
    { ...form, text, folded: text, places: places.map((at) => form.places[at]!), minLength, isCompact: true },
  ];
}

/** Removes separators from a folded text. Returns the text and the original places of its characters. */
export function compacted(folded: string): { readonly text: string; readonly places: readonly number[] } {
  const places: number[] = [];
  const isKept = (code: number) => (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
  for (let at = 0; at < folded.length; at++) if (isKept(folded.charCodeAt(at))) places.push(at);
  return { text: withBlanks(folded).replaceAll(' ', ''), places };
}

/** Replaces separators in a folded text with blanks. */
export const withBlanks = (folded: string) => folded.replaceAll(/[^a-z0-9]+/g, ' ').trim();

/** Whether letters look like a word: few of them, and pronounceable. */
const isWordLike = (text: string) =>
  text.length > 2 && text.length <= 12 && /[aeiouy]/i.test(text) && !/[^aeiouy]{5}/i.test(text);

/** Returns the base64 characters that depend only on the text, if `offset` bytes (modulo 3) precede it. */
function base64Core(text: Buffer, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), text]);
  return bytes.toString('base64').slice([0, 2, 3][offset], Math.floor((bytes.length * 8) / 6));
}

/** An escape of a URL (RFC 3986 2.1), JSON, programming languages, HTML or XML; or plain text. */
const TOKEN =
  /(?:%|\\x)([0-9a-f]{2})|\\u\{?([0-9a-f]{2,6})\}?|&#x([0-9a-f]{1,6});|\\(["'\\/`$])|&#(\d{1,7});|&(amp|lt|gt|quot|apos);|[^%\\&]+|[^]/gi;

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Returns a text, and the text after each layer of its escapes is decoded. `from` returns the index in the original
 * text of a character or of the end.
 */
export function decodeLayers(text: string) {
  let last = { text, from: (at: number) => at };
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
