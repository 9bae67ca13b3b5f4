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

/** A way to write a secret. */
interface Form extends Pick<Secret, 'name'> {
  readonly text: string;
  /** Whether it counts only as a separate word in its exact letter case. */
  readonly isWord: boolean;
}

/** Shorter secrets occur in ordinary sentences, so they cannot be hidden. */
const MIN_SECRET = 4;
/** Shorter secrets and halves, and those with fewer different characters, may occur in words and numbers by chance. */
const MIN_LENGTH = 8;
const MIN_HALF = 7;
const MIN_VARIETY = 4;

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
 * Makes a function that replaces each secret with its name: unchanged or in another letter case, percent-encoded, with
 * the escapes of JSON, and in base64 (also inside a longer text). Each half of a longer secret is replaced, too, unless
 * another secret has the same half.
 *
 * Not replaced: the names themselves, secrets of fewer than 4 characters, and secrets that are part of their partner's
 * id or a word of the interface. A secret of fewer than 8 characters is replaced only where it is a separate word.
 */
export function redactorOf(secrets: readonly Secret[]): Redact {
  const { add, redact } = createRedactor();
  // Added at first use, because most test servers never log.
  let waiting = secrets;
  return (text) => {
    for (const secret of waiting) add(secret);
    waiting = [];
    return redact(text);
  };
}

/** Makes the same function, to which secrets can be added. */
export function createRedactor() {
  const index: Index = { forms: new Map(), begins: new Uint8Array(0x1_0000) };
  const values = new Set<string>();
  const halves = new Map<string, number>();
  return {
    add: ({ value, name, owner }: Secret): void => {
      if (values.has(value)) return;
      values.add(value);
      const known = owner ? [...interfaceWords, owner.toLowerCase()] : interfaceWords;
      const isKnown = (text: string) => known.some((word) => word.includes(text.toLowerCase()));
      if (value.length < MIN_SECRET || isKnown(value)) return;
      // A name stays as it is, also if it contains a secret.
      addForm(index, { name, text: name, isWord: false });
      for (const text of writingsOf(value))
        addForm(index, {
          name,
          text,
          isWord: value.length < MIN_LENGTH || new Set(value).size < MIN_VARIETY,
        });
      for (const half of halvesOf(value).filter((one) => !isKnown(one) && !isWordOf(one, known))) {
        const count = (halves.get(half) ?? 0) + 1;
        halves.set(half, count);
        for (const text of percentEncoded(half))
          if (count === 1) addForm(index, { name, text, isWord: false });
          else index.forms.get(text.length)?.delete(fold(text));
      }
    },
    redact: (text: string) => replaceForms(text, index),
  };
}

/** Returns the ways to write a secret: as it is, percent-encoded, in JSON, and in base64. */
function writingsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const inBase64 = [0, 1, 2].map((at) => base64Core(bytes, at)).filter(({ length }) => length >= MIN_LENGTH);
  return [...percentEncoded(value), JSON.stringify(value).slice(1, -1), ...inBase64];
}

/** Returns a text, and as encodeURIComponent, URL, URLSearchParams and RFC 3986 encode it. */
function percentEncoded(text: string): readonly string[] {
  const encoded = encodeURIComponent(text);
  const hex = (sign: string) => `%${sign.charCodeAt(0).toString(16)}`;
  const form = new URLSearchParams({ k: text }).toString().slice(2);
  return [text, encoded, encoded.replaceAll("'", '%27'), encoded.replace(/[!'()*]/g, hex), form];
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns both halves of a long secret. Those of a UUID also occur in other ones. */
function halvesOf(value: string): readonly string[] {
  const middle = Math.floor(value.length / 2);
  const halves = [value.slice(0, middle), value.slice(middle)];
  const isTelling = (half: string) =>
    half.length >= MIN_HALF && /[^a-z]/i.test(half) && new Set(half).size >= MIN_VARIETY;
  return UUID.test(value) ? [] : halves.filter(isTelling);
}

/** Whether half of a text or more is a known word. */
const isWordOf = (text: string, known: readonly string[]) =>
  known.some((word) => text.toLowerCase().includes(word) && 2 * word.length >= text.length);

/** Forms by their length, and then by their folded text. */
interface Index {
  readonly forms: Map<number, Map<string, Form>>;
  /** 1 where a form may begin, by a hash of its first four characters. */
  readonly begins: Uint8Array;
}

/** Appends a character to a sequence of four. */
const withNext = (sequence: number, code: number) => (sequence << 8) | code;
const hashOf = (sequence: number) => (sequence ^ (sequence >>> 13)) & 0xffff;

/** Adds a form, unless another one is written in the same way. */
function addForm({ forms, begins }: Index, form: Form): void {
  const folded = fold(form.text);
  const ofLength = forms.get(folded.length) ?? new Map<string, Form>();
  forms.set(folded.length, ofLength);
  if (!ofLength.has(folded)) ofLength.set(folded, form);
  let sequence = 0;
  for (let at = 0; at < MIN_SECRET; at++)
    sequence = withNext(sequence, foldedCode[folded.charCodeAt(at) & 0xff]!);
  begins[hashOf(sequence)] = 1;
}

function replaceForms(text: string, index: Index): string {
  let [clean, end, sequence] = ['', 0, 0];
  let folded: string | undefined;
  for (let at = 0; at < text.length; at++) {
    sequence = withNext(sequence, foldedCode[text.charCodeAt(at) & 0xff]!);
    if (index.begins[hashOf(sequence)] === 0) continue;
    const start = at - MIN_SECRET + 1;
    if (start < end) continue;
    const form = longestAt(text, (folded ??= fold(text)), start, index);
    if (form === undefined) continue;
    clean += text.slice(end, start) + form.name;
    end = start + form.text.length;
  }
  return end === 0 ? text : clean + text.slice(end);
}

function longestAt(text: string, folded: string, start: number, { forms }: Index): Form | undefined {
  let longest: Form | undefined;
  for (const [length, ofLength] of forms) {
    if (length <= (longest?.text.length ?? 0)) continue;
    const form = ofLength.get(folded.slice(start, start + length));
    if (form !== undefined && (!form.isWord || isWordAt(text, start, form))) longest = form;
  }
  return longest;
}

const isWordAt = (text: string, start: number, form: Form) => {
  const end = start + form.text.length;
  return (
    text.slice(start, end) === form.text && !/[a-z0-9-]/i.test((text[start - 1] ?? '') + (text[end] ?? ''))
  );
};

/**
 * Normalizes letter case, and base64url to base64, and keeps the length. İ is the only letter that gets longer
 * in lower case.
 */
const fold = (text: string) =>
  text.replaceAll('İ', 'i').toLowerCase().replaceAll('-', '+').replaceAll('_', '/');

/** The lower byte of each character, folded. */
const foldedCode = Uint8Array.from({ length: 256 }, (_, code) =>
  fold(String.fromCharCode(code)).charCodeAt(0),
);

/** Returns the base64 characters that depend only on the text, if `offset` bytes (modulo 3) precede it. */
function base64Core(text: Buffer, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), text]);
  return bytes.toString('base64').slice([0, 2, 3][offset], Math.floor((bytes.length * 8) / 6));
}

/** Removes secrets from message, stack and causes of an error. */
export function redactError(error: unknown, redact: Redact): unknown {
  if (!(error instanceof Error)) return new Error(redact(String(error)));
  error.message = redact(error.message);
  if (error.stack !== undefined) error.stack = redact(error.stack);
  if (error.cause !== undefined) error.cause = redactError(error.cause, redact);
  return error;
}
