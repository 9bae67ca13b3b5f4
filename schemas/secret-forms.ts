import { endpoints } from './endpoints.ts';

/** A text that no output may hold, and the name that replaces it. */
export interface Secret {
  readonly value: string;
  /** Such as `<key northwind/active>`. */
  readonly name: string;
  /** Id of the partner that owns the secret. Where the value contains this id, that part is not secret. */
  readonly owner?: string | null;
}

/** A secret, prepared for the search. The lists tell of each of its characters. */
export interface SearchedSecret {
  readonly name: string;
  readonly folded: string;
  /** Whether parts of it may occur by chance. */
  readonly isWholeOnly: boolean;
  /** Not part of a known word, nor of a beginning that another secret has, too. */
  readonly isSecret: readonly boolean[];
  /** Secret, and a letter or digit that is not part of a word. */
  readonly isRandom: readonly boolean[];
}

/** One way to write a secret. */
export interface SecretForm {
  readonly secret: SearchedSecret;
  readonly text: string;
  readonly folded: string;
  /** For each of its characters, the place in the secret of what it tells. */
  readonly places: readonly number[];
  /** Shorter parts are not looked for. */
  readonly minLength: number;
  /** Whether it counts only as a separate word in its exact letter case. */
  readonly isWord: boolean;
  /** Without separators, to be found where others stand between its characters. */
  readonly isCompact: boolean;
  /** Its letters and digits, with blanks where it has separators. */
  readonly spelled: string;
}

/** Shorter texts occur in ordinary sentences, so they cannot be hidden. */
const MIN_SECRET = 4;
/** A text with fewer different characters, such as `00000000`, occurs within numbers. */
const MIN_WORD_VARIETY = 4;
/** A text of this length does not occur within a word by chance, nor does a part of this length. */
export const MIN_PART = 8;
/** A part with fewer different characters may occur by chance. */
export const MIN_VARIETY = 6;
/** Parts of this length are looked for, and added up. */
export const MIN_PIECE = 6;
/** Forms are found by sequences of so many characters. */
export const GRAM = 4;
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
 * The ways to write secrets: as they are, backwards, in hexadecimal, as the numbers of their bytes, and in base64
 * at any place of a longer text; each also without separators. None for a secret that cannot be hidden: too short,
 * or a word that the interface or the fixture contains anyway.
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

/** @param shared how many characters at its beginning another secret has, too */
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
  // Of what is hardly longer than the beginning that it shares, all is secret.
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
    spelled: spelled(fold(text)),
  });
  // A secret that contains %20 loses it when the escapes around it are decoded.
  const [plain, ...decoded] = layersOf(value).map(({ text, from }) => formOf(text, from));
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

/** The form without separators, where it has some and enough is left. */
function compactForm(form: SecretForm): readonly SecretForm[] {
  const { text, places } = compacted(form.folded);
  if (text.length < MIN_PART || text === form.folded) return [];
  const minLength = Math.min(form.minLength, text.length);
  return [
    { ...form, text, folded: text, places: places.map((at) => form.places[at]!), minLength, isCompact: true },
  ];
}

/** A folded text without separators, and where its characters were. */
export function compacted(folded: string): { readonly text: string; readonly places: readonly number[] } {
  const places: number[] = [];
  const isKept = (code: number) => (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
  for (let at = 0; at < folded.length; at++) if (isKept(folded.charCodeAt(at))) places.push(at);
  return { text: spelled(folded).replaceAll(' ', ''), places };
}

/** A folded text with blanks in the place of what separates its letters and digits. */
export const spelled = (folded: string) => folded.replaceAll(/[^a-z0-9]+/g, ' ').trim();

/** A short run of letters that can be spoken. */
const isWordLike = (text: string) =>
  text.length > 2 && text.length <= 12 && /[aeiouy]/i.test(text) && !/[^aeiouy]{5}/i.test(text);

/** The base64 characters that depend on the text alone, if `offset` bytes (modulo 3) stand before it. */
function base64Core(text: Buffer, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), text]);
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
