import { endpoints } from './endpoints.ts';

/** A text that no output may contain, and the name that replaces it. */
export interface Secret {
  readonly value: string;
  /** Such as `<key northwind/active>`. */
  readonly name: string;
  /** Id of the partner that owns the secret. A secret that is part of this id is none. */
  readonly owner?: string | null;
}

/** Replaces secrets by their names. A second call changes nothing more. */
export type Redact = (text: string) => string;

/** One way to write a secret. */
interface Form extends Pick<Secret, 'name'> {
  readonly text: string;
  readonly folded: string;
  /** Whether it counts only as a separate word in its exact letter case. */
  readonly isWord: boolean;
  /** Number of characters before each place, and in all, that reveal a secret character. */
  readonly revealed: readonly number[];
  /** Minimum length of a part that counts. */
  readonly minLength: number;
}

/** A place in a text, and the name of the secret there. */
interface Piece extends Pick<Secret, 'name'> {
  readonly start: number;
  readonly end: number;
}

/** Shorter secrets occur in ordinary sentences, so they cannot be hidden. */
const MIN_SECRET = 4;
/** Shorter secrets and parts, and those with fewer different characters, may occur in words and numbers by chance. */
const MIN_LENGTH = 8;
const MIN_VARIETY = 4;
const MIN_PART_VARIETY = 6;
const MAX_LAYERS = 4;

/** Whether a header field of a request may contain a secret, by its name. */
export const carriesSecret = (field: string): boolean =>
  /auth|bearer|cookie|credential|jwt|key|pass|secret|session|signature|token/i.test(field);

/** Words of the interface and of JSON. They are never secret. */
const interfaceWords: readonly string[] = [
  ...Object.keys(endpoints),
  ...Object.values(endpoints).flatMap(({ path, parameter }) => [path, parameter]),
  ...Object.values(endpoints).flatMap(({ messages }) => Object.values<string>(messages)),
  ...'is_under_ib date_joined amountInUsd executedAt authorization'.split(' '),
  ...'application/json true false null'.split(' '),
].map((word) => word.toLowerCase());

/**
 * Makes a function that replaces each secret with its name, in any of these forms: unchanged, in another letter case,
 * percent-encoded, with escapes of JSON or HTML, in base64 (also inside a longer text), in hexadecimal, and as the
 * numbers of its bytes. A part is replaced, too: servers repeat the near misses of a key that they were sent. It has
 * 8 or more characters, and half of those that are neither a known word nor in a beginning common to two secrets.
 *
 * Not replaced: parts of UUIDs, the names themselves, secrets of fewer than 4 characters, and secrets that are part
 * of their partner's id or a word of the interface. A secret of fewer than 8 characters is replaced only where it is
 * a separate word.
 */
export function redactorOf(secrets: readonly Secret[]): Redact {
  const names = new Set(secrets.map(({ name }) => name));
  // Built at first use, because most test servers never log.
  let index: Index | undefined;
  const once = (text: string): string => {
    index ??= indexOf(formsOfAll(secrets));
    const found: Piece[] = [];
    for (const layer of decodeLayers(text))
      for (const { name, start, end } of piecesIn(layer.text, index))
        found.push({ name, start: layer.from(start), end: layer.from(end) });
    return found.length === 0 ? text : replacePieces(text, withoutNames(text, found, names));
  };
  return (text) => {
    const clean = once(text);
    // A short secret beside another one is a word only after the other one is replaced.
    return clean === text ? text : once(clean);
  };
}

function formsOfAll(secrets: readonly Secret[]): readonly Form[] {
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

/**
 * Returns the forms of a secret. One that cannot be hidden has none.
 *
 * @param shared length of the beginning that another secret has, too
 */
function formsOf({ value, name, owner }: Secret, shared: number): readonly Form[] {
  const known = owner ? [...interfaceWords, owner.toLowerCase()] : interfaceWords;
  const lower = value.toLowerCase();
  if (value.length < MIN_SECRET || known.some((word) => word.includes(lower))) return [];
  const isWord = value.length < MIN_LENGTH || new Set(value).size < MIN_VARIETY;
  const isSecret = Array.from(value, () => true);
  for (const word of known)
    for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + 1))
      isSecret.fill(false, at, at + word.length);
  // A secret that is hardly longer than its shared beginning is completely secret.
  if (value.length - shared >= MIN_LENGTH) isSecret.fill(false, 0, shared);
  const formOf = (text: string, placeOf = (at: number) => Math.floor((at * value.length) / text.length)) => {
    const revealed = [0];
    for (let at = 0; at < text.length; at++) revealed.push(revealed[at]! + Number(isSecret[placeOf(at)]));
    const minLength = Math.max(MIN_SECRET, Math.ceil((MIN_LENGTH * text.length) / value.length));
    return { name, text, folded: fold(text), isWord: false, revealed, minLength };
  };
  // A secret that contains %20 loses it when the escapes around it are decoded.
  const [plain, ...decoded] = decodeLayers(value).map(({ text, from }) => formOf(text, from));
  const bytes = Buffer.from(value);
  const encoded = [bytes.toString('hex'), bytes.join(), ...[0, 1, 2].map((at) => base64Core(bytes, at))];
  const others = [...decoded, ...encoded.map((text) => formOf(text))];
  return [{ ...plain!, isWord }, ...others.filter(({ text }) => text.length >= MIN_LENGTH)];
}

/** A place in a form. */
interface Place {
  readonly form: Form;
  readonly at: number;
}

/** Places by the four characters there, which are a number. */
type Index = ReadonlyMap<number, readonly Place[]>;

/** Appends a character to a sequence of four. */
const withNext = (sequence: number, code: number) => (sequence << 8) | (code & 0xff);

/** Indexes forms so densely that each part of `minLength` contains a place. */
function indexOf(forms: readonly Form[]): Index {
  const index = new Map<number, Place[]>();
  for (const form of forms)
    for (let at = 0; at + MIN_SECRET <= form.folded.length; at += form.minLength - MIN_SECRET + 1) {
      let sequence = 0;
      for (let end = at; end < at + MIN_SECRET; end++)
        sequence = withNext(sequence, form.folded.charCodeAt(end));
      const places = index.get(sequence);
      if (places === undefined) index.set(sequence, [{ form, at }]);
      // In a repetitive secret, the first place is enough.
      else if (places.at(-1)!.form !== form) places.push({ form, at });
    }
  return index;
}

/**
 * Normalizes letter case, and base64url to base64, and keeps the length. İ is the only letter that gets longer
 * in lower case.
 */
const fold = (text: string) =>
  text.replaceAll('İ', 'i').toLowerCase().replaceAll('-', '+').replaceAll('_', '/');

/** Returns the base64 characters that depend only on the text, if `offset` bytes (modulo 3) precede it. */
function base64Core(text: Buffer, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), text]);
  return bytes.toString('base64').slice([0, 2, 3][offset], Math.floor((bytes.length * 8) / 6));
}

function* piecesIn(text: string, index: Index): Generator<Piece> {
  const folded = fold(text);
  /** The last piece of each form: where the form would begin, and where the piece ends. */
  const before = new Map<Form, { readonly origin: number; readonly end: number }>();
  let sequence = 0;
  for (let at = 0; at < folded.length; at++) {
    sequence = withNext(sequence, folded.charCodeAt(at));
    for (const place of (at < MIN_SECRET - 1 ? undefined : index.get(sequence)) ?? []) {
      const { form } = place;
      const origin = at - MIN_SECRET + 1 - place.at;
      const known = before.get(form);
      if (known?.origin === origin && at < known.end) continue;
      let [first, last] = [place.at, place.at];
      while (first > 0 && folded[origin + first - 1] === form.folded[first - 1]) first--;
      while (last < form.folded.length && folded[origin + last] === form.folded[last]) last++;
      const [start, end] = [origin + first, origin + last];
      before.set(form, { origin, end });
      const isWhole = last - first === form.folded.length;
      if (form.isWord ? isWhole && isWordAt(text, start, end, form) : isWhole || isTelling(form, first, last))
        yield { name: form.name, start, end };
    }
  }
}

function isTelling({ folded, revealed, minLength }: Form, first: number, last: number): boolean {
  const isLong = last - first >= minLength && new Set(folded.slice(first, last)).size >= MIN_PART_VARIETY;
  return isLong && 2 * (revealed[last]! - revealed[first]!) >= revealed.at(-1)!;
}

const isWordAt = (text: string, start: number, end: number, form: Form) =>
  text.slice(start, end) === form.text && !/[a-z0-9]/i.test((text[start - 1] ?? '') + (text[end] ?? ''));

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const NAME = /<[^<>]*>/g;

/** Drops pieces inside a name and parts of UUIDs, which only look like a secret. */
function withoutNames(text: string, pieces: readonly Piece[], names: ReadonlySet<string>): readonly Piece[] {
  /** The end of the name or UUID that contains a character. */
  const ends = new Uint32Array(text.length);
  for (const { 0: found, index } of [...text.matchAll(UUID), ...text.matchAll(NAME)])
    if (names.has(found) || !found.startsWith('<'))
      ends.fill(index + found.length, index, index + found.length);
  const isWhole = ({ start, end }: Piece) =>
    end === ends[start] && ends[start - 1] !== end && text[start] !== '<';
  return pieces.filter((piece) => piece.end > ends[piece.start]! || isWhole(piece));
}

/** Replaces pieces with names. Overlapping pieces get the name of the longer one. */
function replacePieces(text: string, pieces: readonly Piece[]): string {
  let [clean, name, end, longest] = ['', '', 0, 0];
  for (const piece of pieces.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const length = piece.end - piece.start;
    if (piece.start >= end) {
      clean += name + text.slice(end, piece.start);
      longest = 0;
    }
    if (length > longest) [longest, name] = [length, piece.name];
    end = Math.max(end, piece.end);
  }
  return clean + name + text.slice(end);
}

/** An escape of a URL (RFC 3986 2.1), JSON, programming languages, HTML or XML; or plain text. */
const TOKEN =
  /(?:%|\\x)([0-9a-f]{2})|\\u\{?([0-9a-f]{2,6})\}?|&#x([0-9a-f]{1,6});|\\(["'\\/`$])|&#(\d{1,7});|&(amp|lt|gt|quot|apos);|[^%\\&]+|[^]/gi;

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Returns a text, and the text after each layer of its escapes is decoded. `from` returns the index in the original
 * text of a character or of the end.
 */
function decodeLayers(text: string) {
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

/** Removes secrets from message, stack and causes of an error. */
export function redactError(error: unknown, redact: Redact): unknown {
  if (!(error instanceof Error)) return new Error(redact(String(error)));
  error.message = redact(error.message);
  if (error.stack !== undefined) error.stack = redact(error.stack);
  if (error.cause !== undefined) error.cause = redactError(error.cause, redact);
  return error;
}
