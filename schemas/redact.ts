import {
  compacted,
  fold,
  GRAM,
  decodeLayers,
  MIN_PART,
  MIN_PIECE,
  MIN_VARIETY,
  secretForms,
  withBlanks,
} from './secret-forms.ts';
import type { Secret, SecretForm } from './secret-forms.ts';

/** Replaces secrets by their names. A second call changes nothing more. */
export type Redact = (text: string) => string;

/** A part of a text that is also in a form of a secret. */
interface Piece {
  readonly form: SecretForm;
  /** Range of characters in the form; `last` is exclusive. */
  readonly first: number;
  readonly last: number;
  readonly start: number;
  readonly end: number;
  /** Whether separators were ignored. */
  readonly isLoose: boolean;
  /** Whether it is the whole form, and not only its words in a sentence. */
  readonly isWhole: boolean;
}

/** Whether a header field of a request may contain a secret, by its name. */
export const carriesSecret = (field: string): boolean =>
  /auth|bearer|cookie|credential|jwt|key|pass|secret|session|signature|token/i.test(field);

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const UUID_LENGTH = 36;
const NAME = /<[^<>]*>/g;

/**
 * Makes a function that replaces each secret with its name, in any of these forms: unchanged, backwards, in
 * another letter case, percent-encoded, with escapes of JSON or HTML, in base64 (also inside a longer text), in
 * hexadecimal, as the numbers of its bytes, and with separators between its characters.
 *
 * A part of a secret is replaced, too, if it is too long to occur by chance: 8 or more characters that are half
 * of the secret ones, or 8 or more random characters that are a quarter of them (6, if that is half of them).
 * Random characters may be in several pieces. Known words and a beginning common to two secrets are not secret.
 *
 * Not replaced: parts of UUIDs, the names themselves, secrets of fewer than 4 characters, and secrets that
 * are part of their partner's id or a word of the interface. A secret of fewer than 8 characters is
 * replaced only where it is a separate word.
 */
export function redactorOf(secrets: readonly Secret[]): Redact {
  const names = new Set(secrets.map(({ name }) => name));
  // Built at first use, because most test servers never log.
  let index: Index | undefined;
  const once = (text: string): string => {
    index ??= indexOf(secretForms(secrets));
    const found: Piece[] = [];
    for (const layer of decodeLayers(text))
      for (const piece of piecesIn(layer.text, index))
        found.push({ ...piece, start: layer.from(piece.start), end: layer.from(piece.end) });
    return found.length === 0 ? text : replacePieces(text, revealingPieces(withoutNames(text, found, names)));
  };
  return (text) => {
    const clean = once(text);
    // A short secret beside another one is a word only after the other one is replaced.
    return clean === text ? text : once(clean);
  };
}

/** A place of a gram in a form, linked to the next place of the same gram. */
interface Place {
  readonly form: SecretForm;
  readonly at: number;
  readonly next: Place | undefined;
}

type Index = ReadonlyMap<number, Place>;

/** Appends a character to a gram: the last four characters of a text as a number. */
const withNext = (gram: number, code: number) => (gram << 8) | (code & 0xff);

/** Indexes grams of all forms, so densely that each part of `minLength` contains one. */
function indexOf(forms: readonly SecretForm[]): Index {
  const index = new Map<number, Place>();
  for (const form of forms)
    for (let at = 0; at + GRAM <= form.folded.length; at += form.minLength - GRAM + 1) {
      let gram = 0;
      for (let end = at; end < at + GRAM; end++) gram = withNext(gram, form.folded.charCodeAt(end));
      const next = index.get(gram);
      // In a repetitive secret, the first place is enough.
      if (next?.form !== form) index.set(gram, { form, at, next });
    }
  return index;
}

/** Finds the pieces of forms in a text, with and without its separators. */
function* piecesIn(text: string, index: Index): Generator<Piece> {
  const folded = fold(text);
  yield* commonPieces(text, folded, undefined, index);
  const compact = compacted(folded);
  yield* commonPieces(text, compact.text, compact.places, index);
}

/** @param places original places of the characters of a text without separators */
function* commonPieces(text: string, folded: string, places: readonly number[] | undefined, index: Index) {
  /** The last piece of each form: where the form would begin, and where the piece ends. */
  const before = new Map<SecretForm, { readonly origin: number; readonly end: number }>();
  let gram = 0;
  for (let at = 0; at < folded.length; at++) {
    gram = withNext(gram, folded.charCodeAt(at));
    if (at < GRAM - 1) continue;
    for (let place = index.get(gram); place !== undefined; place = place.next) {
      const { form } = place;
      const origin = at - GRAM + 1 - place.at;
      const known = before.get(form);
      if (known?.origin === origin && at < known.end) continue;
      let [first, last] = [place.at, place.at];
      while (first > 0 && folded[origin + first - 1] === form.folded[first - 1]) first--;
      while (last < form.folded.length && folded[origin + last] === form.folded[last]) last++;
      const [begin, behind] = [origin + first, origin + last];
      before.set(form, { origin, end: behind });
      if (form.isWord ? places || !isWordAt(text, begin, behind, form) : last - first < form.minLength)
        continue;
      const [start, end] = places ? [places[begin]!, places[behind - 1]! + 1] : [begin, behind];
      const isLoose = places !== undefined || form.isCompact;
      const isWhole =
        last - first === form.folded.length &&
        (!isLoose || (last >= MIN_LOOSE && withBlanks(fold(text.slice(start, end))) !== form.withBlanks));
      yield { form, first, last, start, end, isLoose, isWhole };
    }
  }
}

const isWordAt = (text: string, start: number, end: number, form: SecretForm) =>
  text.slice(start, end) === form.text && !/[a-z0-9]/i.test((text[start - 1] ?? '') + (text[end] ?? ''));

/** Drops pieces inside a name and parts of UUIDs, which only look like a secret. */
function withoutNames(text: string, pieces: readonly Piece[], names: ReadonlySet<string>): readonly Piece[] {
  /** The end of the name or UUID that contains a character. */
  const [nameEnds, uuidEnds] = [new Uint32Array(text.length), new Uint32Array(text.length)];
  for (const { 0: name, index } of text.matchAll(NAME))
    if (names.has(name)) nameEnds.fill(index + name.length, index, index + name.length);
  for (const { 0: uuid, index } of text.matchAll(UUID))
    uuidEnds.fill(index + uuid.length, index, index + uuid.length);
  return pieces.filter(
    ({ start, end }) => end > nameEnds[start]! && (end > uuidEnds[start]! || end - start === UUID_LENGTH),
  );
}

/** Returns the pieces that reveal a secret, alone or together. */
function revealingPieces(pieces: readonly Piece[]): readonly Piece[] {
  const inOrder = pieces.toSorted((a, b) => a.start - b.start || b.end - a.end);
  const combined = [...new Set(pieces.map(({ form }) => form.secret))].flatMap((secret) => {
    const random = inOrder.filter((piece) => piece.form.secret === secret && hasRandom(piece));
    const places = new Set<number>();
    let behind = 0;
    for (const piece of random)
      // A part of a repetitive secret is in several places.
      if (piece.start >= behind) {
        behind = piece.end;
        for (const at of randomPlaces(piece)) places.add(at);
      }
    const total = secret.isRandom.filter(Boolean).length;
    const enough = Math.max(Math.min(MIN_PART, Math.max(MIN_PIECE, total / 2)), total / 4);
    return places.size >= enough && isVaried([...places].map((at) => secret.folded[at])) ? random : [];
  });
  return [...pieces.filter(revealsAlone), ...combined];
}

const randomPlaces = ({ form: { places, secret }, first, last }: Piece) =>
  places.slice(first, last).filter((at) => secret.isRandom[at]);

const hasRandom = (piece: Piece) =>
  new Set(randomPlaces(piece)).size >= GRAM && /[a-z]/.test(piece.form.folded.slice(piece.first, piece.last));

function revealsAlone({ form, first, last, isLoose, isWhole }: Piece): boolean {
  const { secret, folded, places } = form;
  if (isWhole) return true;
  const revealed = [...new Set(places.slice(first, last))];
  const secretPlaces = revealed.filter((at) => (isLoose ? secret.isRandom : secret.isSecret)[at]);
  return (
    !secret.isWholeOnly &&
    revealed.length >= MIN_PART &&
    2 * secretPlaces.length >= secret.isSecret.filter(Boolean).length &&
    isVaried(folded.slice(first, last))
  );
}

/** Minimum length of words whose separators differ from those of the secret. */
const MIN_LOOSE = 12;

const isVaried = (characters: Iterable<unknown>) => new Set(characters).size >= MIN_VARIETY;

/** Replaces pieces with names. Overlapping pieces get the name of the longer one. */
function replacePieces(text: string, pieces: readonly Piece[]): string {
  let [clean, name, end, longest] = ['', '', 0, 0];
  for (const piece of pieces.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const length = piece.end - piece.start;
    if (piece.start >= end) {
      clean += name + text.slice(end, piece.start);
      longest = 0;
    }
    if (length > longest) [longest, name] = [length, piece.form.secret.name];
    end = Math.max(end, piece.end);
  }
  return clean + name + text.slice(end);
}

/** Removes secrets from message, stack and causes of an error. */
export function redactError(error: unknown, redact: Redact): unknown {
  if (!(error instanceof Error)) return new Error(redact(String(error)));
  error.message = redact(error.message);
  if (error.stack !== undefined) error.stack = redact(error.stack);
  if (error.cause !== undefined) error.cause = redactError(error.cause, redact);
  return error;
}
