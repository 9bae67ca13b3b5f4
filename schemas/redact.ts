import { fold, layersOf, MIN_PART_VARIETY, secretForms } from './secret-forms.ts';
import type { Secret, SecretForm } from './secret-forms.ts';

/** Replaces secrets by their names. A second call changes nothing more. */
export type Redact = (text: string) => string;

interface Match {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** Forms are found by sequences of so many characters. */
const GRAM = 4;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const NAME = /<[^<>]*>/g;

/**
 * Makes a function that replaces each secret by its name, however it is written: as it is, in another letter
 * case, percent-encoded, with the escapes of JSON or HTML, in base64 (also within a longer text), in
 * hexadecimal. A part of a secret is replaced as well if it has 8 characters or more and is half of the
 * secret: that does not occur by chance.
 *
 * Not replaced: parts of UUIDs, the names themselves, secrets of fewer than 4 characters, and secrets that
 * are part of their partner's id or a word of the interface. A secret of fewer than 8 characters is
 * replaced only where it is a separate word.
 */
export function redactorOf(secrets: readonly Secret[]): Redact {
  // Built at first use: most servers of a test never log.
  let index: Index | undefined;
  return (text) => {
    index ??= indexOf(secrets.flatMap(secretForms));
    const matches: Match[] = [];
    for (const layer of layersOf(text))
      for (const { start, end, name } of matchesIn(layer.text, index))
        matches.push({ start: layer.from(start), end: layer.from(end), name });
    return matches.length === 0 ? text : replaced(text, unprotected(text, matches, secrets));
  };
}

type Index = ReadonlyMap<string, readonly (readonly [form: SecretForm, at: number])[]>;

/** Grams of every form, so close together that each part of `minLength` contains one. */
function indexOf(forms: readonly SecretForm[]): Index {
  const index = new Map<string, [SecretForm, number][]>();
  for (const form of forms)
    for (let at = 0; at + GRAM <= form.folded.length; at += form.minLength - GRAM + 1) {
      const gram = form.folded.slice(at, at + GRAM);
      const places = index.get(gram) ?? [];
      index.set(gram, places);
      places.push([form, at]);
    }
  return index;
}

/** Where a gram of a form stands in a text, it extends the match to both sides. */
function matchesIn(text: string, index: Index): readonly Match[] {
  const folded = fold(text);
  const matches: Match[] = [];
  for (let at = 0; at + GRAM <= folded.length; at++)
    for (const [form, inForm] of index.get(folded.slice(at, at + GRAM)) ?? []) {
      let [start, end, first, last] = [at, at + GRAM, inForm, inForm + GRAM];
      for (; first > 0 && folded[start - 1] === form.folded[first - 1]; first--) start--;
      for (; last < form.folded.length && folded[end] === form.folded[last]; last++) end++;
      if (form.isWord ? isWordAt(text, start, end, form) : revealsEnough(form, first, last))
        matches.push({ start, end, name: form.name });
    }
  return matches;
}

const isWordAt = (text: string, start: number, end: number, form: SecretForm) =>
  text.slice(start, end) === form.text && !/[a-z0-9]/i.test((text[start - 1] ?? '') + (text[end] ?? ''));

function revealsEnough({ folded, minLength, isSecret }: SecretForm, first: number, last: number): boolean {
  const count = (from: number, to: number) => isSecret.slice(from, to).filter(Boolean).length;
  return (
    last - first === folded.length ||
    (last - first >= minLength &&
      2 * count(first, last) >= count(0, folded.length) &&
      new Set(folded.slice(first, last)).size >= MIN_PART_VARIETY)
  );
}

/** Drops matches within a UUID or a name: they only look like a secret. */
function unprotected(text: string, matches: readonly Match[], secrets: readonly Secret[]): readonly Match[] {
  const names = new Set(secrets.map(({ name }) => name));
  const spans = [...text.matchAll(UUID), ...[...text.matchAll(NAME)].filter(([name]) => names.has(name))];
  return matches.filter(({ start, end }) =>
    spans.every(
      ({ index, 0: { length } }) =>
        start < index || end > index + length || (end - start === length && text[index] !== '<'),
    ),
  );
}

/** Where two matches overlap, both are replaced by the name of the longer one. */
function replaced(text: string, matches: readonly Match[]): string {
  let [clean, name, end, longest] = ['', '', 0, 0];
  for (const match of matches.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const length = match.end - match.start;
    if (match.start >= end) {
      clean += name + text.slice(end, match.start);
      longest = 0;
    }
    if (length > longest) [longest, name] = [length, match.name];
    end = Math.max(end, match.end);
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
