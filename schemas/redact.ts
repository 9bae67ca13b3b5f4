import { Problem } from './problem.ts';
import {
  folded,
  MIN_PART_VARIETY,
  secretForms,
  unescaped,
  type Secret,
  type SecretForm,
} from './secret-forms.ts';

export type { Secret } from './secret-forms.ts';

/** Replaces secrets by their names. A second call changes nothing more. */
export type Redact = (text: string) => string;

/** A part of a text to replace. */
interface Match {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** Forms are found by sequences of so many characters (7 bits each). */
const GRAM = 4;
const GRAM_BITS = 2 ** (7 * GRAM) - 1;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const NAME = /<[^<>]*>/g;
const LETTER_OR_DIGIT = /[a-z0-9]/i;

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
  let index: ReadonlyMap<number, readonly Place[]> | undefined;
  return (text) => {
    index ??= indexOf(secrets.flatMap(secretForms));
    const matches = matchesIn(text, index);
    for (const { text: decoded, from } of unescaped(text))
      for (const { start, end, name } of matchesIn(decoded, index))
        matches.push({ start: from[start]!, end: from[end]!, name });
    return matches.length === 0 ? text : replaced(text, unprotected(text, matches, secrets));
  };
}

/** A place in a form where a gram begins. */
interface Place {
  readonly form: SecretForm;
  readonly at: number;
}

/** Grams of every form, so close together that each part of `minLength` contains one. */
function indexOf(forms: readonly SecretForm[]): ReadonlyMap<number, readonly Place[]> {
  const index = new Map<number, Place[]>();
  for (const form of forms) {
    const step = form.minLength - GRAM + 1;
    for (let at = 0; at + GRAM <= form.codes.length; at += step) {
      const gram = form.codes.subarray(at, at + GRAM).reduce((sum, code) => (sum << 7) | code, 0);
      const places = index.get(gram);
      if (places === undefined) index.set(gram, [{ form, at }]);
      else places.push({ form, at });
    }
  }
  return index;
}

/** Reads a text once. Where a gram of a form stands, it extends the match to both sides. */
function matchesIn(text: string, index: ReadonlyMap<number, readonly Place[]>): Match[] {
  const matches: Match[] = [];
  let gram = 0;
  for (let at = 0; at < text.length; at++) {
    gram = ((gram << 7) | codeAt(text, at)) & GRAM_BITS;
    const places = index.get(gram);
    if (places === undefined) continue;
    for (const { form, at: inForm } of places) {
      const match = matchAround(text, at - GRAM + 1, form, inForm);
      if (match !== undefined) matches.push(match);
    }
  }
  return matches;
}

const codeAt = (text: string, at: number) => folded[text.charCodeAt(at)] ?? 0;

/** The longest part of a form around a gram; undefined if it reveals too little. */
function matchAround(text: string, at: number, form: SecretForm, inForm: number): Match | undefined {
  const { codes, name } = form;
  let [start, first] = [at, inForm];
  while (first > 0 && start > 0 && codeAt(text, start - 1) === codes[first - 1]) {
    start--;
    first--;
  }
  let [end, last] = [at + GRAM, inForm + GRAM];
  while (last < codes.length && end < text.length && codeAt(text, end) === codes[last]) {
    end++;
    last++;
  }
  const isRevealed = form.isWord ? isWordAt(text, start, end, form) : revealsEnough(form, first, last);
  return isRevealed ? { start, end, name } : undefined;
}

function isWordAt(text: string, start: number, end: number, form: SecretForm): boolean {
  const continues = (character = '') => LETTER_OR_DIGIT.test(character);
  return text.slice(start, end) === form.text && !continues(text[start - 1]) && !continues(text[end]);
}

function revealsEnough({ codes, minLength, secretBefore }: SecretForm, first: number, last: number): boolean {
  if (last - first === codes.length) return true;
  const secret = secretBefore[last]! - secretBefore[first]!;
  return (
    last - first >= minLength &&
    2 * secret >= secretBefore[codes.length]! &&
    new Set(codes.subarray(first, last)).size >= MIN_PART_VARIETY
  );
}

/** Drops matches within a UUID or a name: they only look like a secret. */
function unprotected(text: string, matches: readonly Match[], secrets: readonly Secret[]): readonly Match[] {
  const names = new Set(secrets.map(({ name }) => name));
  const spans = [...text.matchAll(UUID), ...[...text.matchAll(NAME)].filter(([name]) => names.has(name))];
  return matches.filter(({ start, end }) =>
    spans.every(({ index, 0: { length } }) => {
      const isInside = index <= start && end <= index + length;
      return !isInside || (end - start === length && text[index] !== '<');
    }),
  );
}

/** Where two matches overlap, both are replaced by the name of the longer one. */
function replaced(text: string, matches: readonly Match[]): string {
  let clean = '';
  let end = 0;
  let longest = 0;
  let name = '';
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
  if (error instanceof Problem) return new Problem(error.code, redact(error.message));
  if (!(error instanceof Error)) return new Error(redact(String(error)));
  const { message, stack, cause } = error;
  error.message = redact(message);
  if (stack !== undefined) error.stack = redact(stack);
  if (cause !== undefined) error.cause = redactError(cause, redact);
  return error;
}
