import { folded, secretForms, VARIED, type Secret, type SecretForm } from './secret-forms.ts';
import { unescaped, type Reading } from './unescaped.ts';

export type { Secret } from './secret-forms.ts';

/** Puts names in the place of secrets. Done twice, it changes nothing more. */
export type Redact = (text: string) => string;

/** A part of a text that has to go. */
interface Find {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** Characters, of seven bits each, by which a form is found. */
const GRAM = 4;
const GRAM_BITS = 2 ** (7 * GRAM) - 1;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const NAME = /<[^<>]*>/g;
const LETTER_OR_DIGIT = /[a-z0-9]/i;

/**
 * A function that puts the name of each secret in its place, in whatever form it stands there: as it
 * is, in another letter case, percent-encoded, with the escapes of JSON or HTML, in base64 also within
 * a longer text, in hexadecimal. A part of a secret goes as well where it is 8 characters or more and
 * half of the secret, which no chance brings about.
 *
 * Left alone are ids (a secret inside a UUID is chance), the names themselves, secrets of fewer than 4
 * characters and those that are part of their partner's id
 * or a word of the interface. A secret of fewer than 8 characters goes only where it
 * stands alone.
 */
export function redactorOf(secrets: readonly Secret[]): Redact {
  // Made when there is something to look for: most servers of a test never log.
  let index: ReadonlyMap<number, readonly Place[]> | undefined;
  return (text) => {
    index ??= indexOf(secrets.flatMap(secretForms));
    const finds: Find[] = [];
    look(text, index, (find) => finds.push(find));
    for (const reading of unescaped(text))
      look(reading.text, index, (find) => finds.push(inOriginal(find, reading)));
    return finds.length === 0 ? text : replaced(text, unprotected(text, finds, secrets));
  };
}

/** Where in a form four characters stand. */
interface Place {
  readonly form: SecretForm;
  readonly at: number;
}

/** Places of every form, as far apart as no part of it that matters can fall between them. */
function indexOf(forms: readonly SecretForm[]): ReadonlyMap<number, readonly Place[]> {
  const index = new Map<number, Place[]>();
  for (const form of forms) {
    const step = form.least - GRAM + 1;
    for (let at = 0; at + GRAM <= form.codes.length; at += step) {
      const gram = form.codes.subarray(at, at + GRAM).reduce((sum, code) => (sum << 7) | code, 0);
      const places = index.get(gram);
      if (places === undefined) index.set(gram, [{ form, at }]);
      else places.push({ form, at });
    }
  }
  return index;
}

/** Goes through a text once, and over what may be a part of a form from there to both sides. */
function look(text: string, index: ReadonlyMap<number, readonly Place[]>, found: (find: Find) => void): void {
  let gram = 0;
  for (let at = 0; at < text.length; at++) {
    gram = ((gram << 7) | codeAt(text, at)) & GRAM_BITS;
    const places = index.get(gram);
    if (places === undefined) continue;
    for (const { form, at: inForm } of places) {
      const find = around(text, at - GRAM + 1, form, inForm);
      if (find !== undefined) found(find);
    }
  }
}

const codeAt = (text: string, at: number) => folded[text.charCodeAt(at)] ?? 0;

/** As much of a form as stands around a place where four of its characters do; undefined where that is not enough. */
function around(text: string, at: number, form: SecretForm, inForm: number): Find | undefined {
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
  const isTold = form.isWord ? isWordAt(text, start, end, form) : isEnough(form, first, last);
  return isTold ? { start, end, name } : undefined;
}

function isWordAt(text: string, start: number, end: number, form: SecretForm): boolean {
  const isBeside = (character = '') => LETTER_OR_DIGIT.test(character);
  return text.slice(start, end) === form.text && !isBeside(text[start - 1]) && !isBeside(text[end]);
}

function isEnough({ codes, least, secretBefore }: SecretForm, first: number, last: number): boolean {
  if (last - first === codes.length) return true;
  const secret = secretBefore[last]! - secretBefore[first]!;
  return (
    last - first >= least &&
    2 * secret >= secretBefore[codes.length]! &&
    new Set(codes.subarray(first, last)).size >= VARIED
  );
}

const inOriginal = ({ start, end, name }: Find, { from }: Reading): Find => ({
  start: from[start]!,
  end: from[end]!,
  name,
});

/** Without those inside an id or a name, which only look like a secret. */
function unprotected(text: string, finds: readonly Find[], secrets: readonly Secret[]): readonly Find[] {
  const names = new Set(secrets.map(({ name }) => name));
  const spans = [...text.matchAll(UUID), ...[...text.matchAll(NAME)].filter(([name]) => names.has(name))];
  return finds.filter(({ start, end }) =>
    spans.every(({ index, 0: { length } }) => {
      const isInside = index <= start && end <= index + length;
      return !isInside || (end - start === length && text[index] !== '<');
    }),
  );
}

/** Where two overlap, both go, and the longer gives the name. */
function replaced(text: string, finds: readonly Find[]): string {
  let clean = '';
  let end = 0;
  let longest = 0;
  let name = '';
  for (const find of finds.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const length = find.end - find.start;
    if (find.start >= end) {
      clean += name + text.slice(end, find.start);
      longest = 0;
    }
    if (length > longest) [longest, name] = [length, find.name];
    end = Math.max(end, find.end);
  }
  return clean + name + text.slice(end);
}
