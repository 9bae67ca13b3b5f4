import {
  compacted,
  fold,
  GRAM,
  isLetterOrDigit,
  layersOf,
  MIN_PART,
  MIN_PIECE,
  MIN_VARIETY,
  secretForms,
  spelled,
} from './secret-forms.ts';
import type { SearchedSecret, Secret, SecretForm } from './secret-forms.ts';

/** Replaces secrets by their names. A second call changes nothing more. */
export type Redact = (text: string) => string;

/** A part of a text that a form of a secret holds, too. */
interface Piece {
  readonly form: SecretForm;
  /** From this character of the form up to that one. */
  readonly first: number;
  readonly last: number;
  readonly start: number;
  readonly end: number;
  /** Whether separators do not count there. */
  readonly isCompact: boolean;
  /** Whether it is the whole form, and not just its words in a sentence. */
  readonly isWhole: boolean;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const NAME = /<[^<>]*>/g;

/**
 * Makes a function that replaces each secret by its name, however it is written: as it is, backwards, in another
 * letter case, percent-encoded, with the escapes of JSON or HTML, in base64 (also within a longer text), in
 * hexadecimal, as the numbers of its bytes, and with blanks and the like between its characters.
 *
 * A part of a secret is replaced as well if that does not occur by chance: 8 characters or more that are half
 * of what is secret, or a quarter of those that look drawn by a machine, 8 or more (6, if that is half of them). The latter may
 * stand in pieces anywhere in the text. Known words, and a beginning that another secret has too, are not secret.
 *
 * Not replaced: parts of UUIDs, the names themselves, secrets of fewer than 4 characters, and secrets that
 * are part of their partner's id or a word of the interface. A secret of fewer than 8 characters is
 * replaced only where it is a separate word.
 */
export function redactorOf(secrets: readonly Secret[]): Redact {
  const names = new Set(secrets.map(({ name }) => name));
  // Built at first use: most servers of a test never log.
  let index: Index | undefined;
  const once = (text: string): string => {
    index ??= indexOf(secretForms(secrets));
    const found: Piece[] = [];
    for (const { text: decoded, from } of layersOf(text))
      for (const piece of piecesIn(decoded, index))
        found.push({ ...piece, start: from(piece.start), end: from(piece.end) });
    return found.length === 0 ? text : replaced(text, tellingOf(unprotected(text, found, names)));
  };
  return (text) => {
    let clean = once(text);
    // What is replaced may have hidden what stands beside it.
    for (let again = 0; again < MAX_AGAIN && clean !== text; again++) [text, clean] = [clean, once(clean)];
    return clean;
  };
}

/** How often a text is searched again. */
const MAX_AGAIN = 3;

/** A place of a gram in a form, and the next one of the same gram. */
interface Place {
  readonly form: SecretForm;
  readonly at: number;
  readonly next: Place | undefined;
}

interface Index {
  readonly places: ReadonlyMap<number, Place>;
  /** Whether a gram may be in `places`, by its hash: nearly none is, and a look there takes longer. */
  readonly filter: Uint8Array;
  readonly shift: number;
}

/** The last four characters of a text as a number, when one more is read. */
const withNext = (gram: number, code: number) => (gram << 8) | (code & 0xff);
const hashOf = (gram: number, shift: number) => Math.imul(gram, 0x9e37_79b1) >>> shift;

/** Grams of every form, so close together that each part of `minLength` contains one. */
function indexOf(forms: readonly SecretForm[]): Index {
  const places = new Map<number, Place>();
  for (const form of forms)
    for (let at = 0; at + GRAM <= form.folded.length; at += form.minLength - GRAM + 1) {
      let gram = 0;
      for (let end = at; end < at + GRAM; end++) gram = withNext(gram, form.folded.charCodeAt(end));
      const next = places.get(gram);
      // In a secret that repeats itself, the first place will do.
      if (next?.form !== form) places.set(gram, { form, at, next });
    }
  const bits = Math.min(24, Math.ceil(Math.log2(places.size + 1)) + 4);
  const [filter, shift] = [new Uint8Array(2 ** bits), 32 - bits];
  for (const gram of places.keys()) filter[hashOf(gram, shift)] = 1;
  return { places, filter, shift };
}

/** A text to search, with or without its separators. */
interface View {
  readonly folded: string;
  readonly isCompact: boolean;
  readonly placeOf: (at: number) => number;
  /** The last piece of each form, which has many grams: where the form would begin, and where the piece ends. */
  readonly last: Map<SecretForm, { readonly origin: number; readonly end: number }>;
}

function piecesIn(text: string, index: Index): readonly Piece[] {
  const { filter, shift } = index;
  const folded = fold(text);
  const pieces: Piece[] = [];
  const plain: View = { folded, isCompact: false, placeOf: (at) => at, last: new Map() };
  let compact: View | undefined;
  let [gram, dense, count] = [0, 0, 0];
  for (let at = 0; at < folded.length; at++) {
    const code = folded.charCodeAt(at);
    gram = withNext(gram, code);
    if (at >= GRAM - 1 && filter[hashOf(gram, shift)] === 1)
      addPieces(pieces, index, plain, gram, at - GRAM + 1, text);
    if (!isLetterOrDigit(code)) continue;
    dense = withNext(dense, code);
    count++;
    if (count < GRAM || filter[hashOf(dense, shift)] === 0) continue;
    compact ??= compactView(folded);
    addPieces(pieces, index, compact, dense, count - GRAM, text);
  }
  return pieces;
}

function compactView(folded: string): View {
  const { text, places } = compacted(folded);
  return { folded: text, isCompact: true, placeOf: (at) => places[at]!, last: new Map() };
}

/** Where a gram of a form stands, it extends the piece to both sides. */
function addPieces(
  pieces: Piece[],
  { places }: Index,
  view: View,
  gram: number,
  begin: number,
  text: string,
) {
  const { folded, isCompact, placeOf, last: before } = view;
  for (let place = places.get(gram); place !== undefined; place = place.next) {
    const { form, at } = place;
    const known = before.get(form);
    if (known !== undefined && known.origin === begin - at && begin < known.end) continue;
    let [start, end, first, last] = [begin, begin, at, at];
    for (; first > 0 && folded[start - 1] === form.folded[first - 1]; first--) start--;
    for (; last < form.folded.length && folded[end] === form.folded[last]; last++) end++;
    before.set(form, { origin: begin - at, end });
    if (form.isWord ? isCompact || !isWordAt(text, start, end, form) : last - first < form.minLength)
      continue;
    const span = { start: placeOf(start), end: placeOf(end - 1) + 1 };
    const isLoose = isCompact || form.isCompact;
    const isWhole =
      last - first === form.folded.length &&
      (!isLoose || (last >= MIN_LOOSE && spelled(fold(text.slice(span.start, span.end))) !== form.spelled));
    pieces.push({ form, first, last, ...span, isCompact: isLoose, isWhole });
  }
}

const isWordAt = (text: string, start: number, end: number, form: SecretForm) =>
  text.slice(start, end) === form.text && !/[a-z0-9]/i.test((text[start - 1] ?? '') + (text[end] ?? ''));

/** Drops pieces within a UUID or a name: they only look like a secret. */
function unprotected(text: string, pieces: readonly Piece[], names: ReadonlySet<string>): readonly Piece[] {
  const uuids = [...text.matchAll(UUID)];
  const shown = [...text.matchAll(NAME)].filter(([name]) => names.has(name));
  return pieces.filter((piece) => {
    const uuid = around(piece, uuids);
    const isUuid = uuid !== undefined && piece.end - piece.start === uuid[0].length;
    return around(piece, shown) === undefined && (uuid === undefined || isUuid);
  });
}

/** The span that a piece is within. */
function around({ start, end }: Piece, spans: readonly RegExpExecArray[]): RegExpExecArray | undefined {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle]!.index <= start) low = middle + 1;
    else high = middle;
  }
  const span = spans[low - 1];
  return span !== undefined && end <= span.index + span[0].length ? span : undefined;
}

/** The pieces that tell a secret, each alone or several together. */
function tellingOf(pieces: readonly Piece[]): readonly Piece[] {
  const drawn = new Map<
    SearchedSecret,
    { end: number; readonly places: Set<number>; readonly pieces: Piece[] }
  >();
  for (const piece of pieces.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const { form, first, last, start, end } = piece;
    const { secret, folded, places } = form;
    const random = places.slice(first, last).filter((at) => secret.isRandom[at]);
    if (new Set(random).size < GRAM || !/[a-z]/.test(folded.slice(first, last))) continue;
    const all = drawn.get(secret) ?? { end: 0, places: new Set(), pieces: [] };
    drawn.set(secret, all);
    all.pieces.push(piece);
    // Of a secret that repeats itself, a part is in several places.
    if (start < all.end) continue;
    all.end = end;
    for (const at of random) all.places.add(at);
  }
  const together = [...drawn].flatMap(([{ folded, isRandom }, all]) => {
    const total = isRandom.filter(Boolean).length;
    const enough = Math.max(Math.min(MIN_PART, Math.max(MIN_PIECE, total / 2)), total / 4);
    return all.places.size >= enough && isVaried([...all.places].map((at) => folded[at]!)) ? all.pieces : [];
  });
  return [...pieces.filter(tellsAlone), ...together];
}

function tellsAlone({ form, first, last, isCompact, isWhole }: Piece): boolean {
  const { secret, folded, places } = form;
  if (isWhole) return true;
  const told = [...new Set(places.slice(first, last))];
  const telling = told.filter((at) => (isCompact ? secret.isRandom : secret.isSecret)[at]);
  return (
    !secret.isWholeOnly &&
    told.length >= MIN_PART &&
    2 * telling.length >= secret.isSecret.filter(Boolean).length &&
    isVaried(folded.slice(first, last))
  );
}

/** Words of so many letters in all do not follow each other without blanks, or with other ones, by chance. */
const MIN_LOOSE = 12;

const isVaried = (characters: Iterable<string>) => new Set(characters).size >= MIN_VARIETY;

/** Where two pieces overlap, both are replaced by the name of the longer one. */
function replaced(text: string, pieces: readonly Piece[]): string {
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

/** The error without secrets in its message, its stack and its causes. */
export function redactError(error: unknown, redact: Redact): unknown {
  if (!(error instanceof Error)) return new Error(redact(String(error)));
  error.message = redact(error.message);
  if (error.stack !== undefined) error.stack = redact(error.stack);
  if (error.cause !== undefined) error.cause = redactError(error.cause, redact);
  return error;
}
