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
  readonly folded: string;
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
  // Built at first use, because most test servers never log.
  let index: Index | undefined;
  return (text) => replaceForms(text, (index ??= indexOf(formsOfAll(secrets))));
}

function formsOfAll(secrets: readonly Secret[]): readonly Form[] {
  const counts = new Map<string, number>();
  for (const half of new Set(secrets.map(({ value }) => value)).values())
    for (const one of halvesOf(half)) counts.set(one, (counts.get(one) ?? 0) + 1);
  return secrets.flatMap(({ value, name, owner }) => {
    const known = owner ? [...interfaceWords, owner.toLowerCase()] : interfaceWords;
    const isKnown = (text: string) => known.some((word) => word.includes(text.toLowerCase()));
    if (value.length < MIN_SECRET || isKnown(value)) return [];
    const isWord = value.length < MIN_LENGTH || new Set(value).size < MIN_VARIETY;
    const halves = halvesOf(value).filter(
      (half) => counts.get(half) === 1 && !isKnown(half) && !isWordOf(half, known),
    );
    const bytes = Buffer.from(value);
    const encoded = [encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];
    const inBase64 = [0, 1, 2]
      .map((at) => base64Core(bytes, at))
      .filter(({ length }) => length >= MIN_LENGTH);
    const texts = new Set([
      ...encoded,
      ...inBase64,
      ...halves,
      ...halves.map((half) => encodeURIComponent(half)),
    ]);
    texts.delete(value);
    return [
      // A name stays as it is, also if it contains a secret.
      { name, text: name, folded: fold(name), isWord: false },
      { name, text: value, folded: fold(value), isWord },
      ...Array.from(texts, (text) => ({ name, text, folded: fold(text), isWord: false })),
    ];
  });
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

/** Forms by their first four characters, which are a number. The longest comes first. */
interface Index {
  readonly forms: ReadonlyMap<number, readonly Form[]>;
  /** 1 where a form may begin, by a hash of the four characters. */
  readonly begins: Uint8Array;
}

/** Appends a character to a sequence of four. */
const withNext = (sequence: number, code: number) => (sequence << 8) | code;
const hashOf = (sequence: number) => (sequence ^ (sequence >>> 13)) & 0xffff;

function indexOf(all: readonly Form[]): Index {
  const forms = new Map<number, Form[]>();
  const begins = new Uint8Array(0x1_0000);
  for (const form of all.toSorted((one, other) => other.text.length - one.text.length)) {
    let sequence = 0;
    for (let at = 0; at < MIN_SECRET; at++)
      sequence = withNext(sequence, foldedCode[form.folded.charCodeAt(at) & 0xff]!);
    const found = forms.get(sequence);
    if (found === undefined) forms.set(sequence, [form]);
    else found.push(form);
    begins[hashOf(sequence)] = 1;
  }
  return { forms, begins };
}

function replaceForms(text: string, { forms, begins }: Index): string {
  let [clean, end, sequence] = ['', 0, 0];
  let folded: string | undefined;
  for (let at = 0; at < text.length; at++) {
    sequence = withNext(sequence, foldedCode[text.charCodeAt(at) & 0xff]!);
    if (begins[hashOf(sequence)] === 0) continue;
    const start = at - MIN_SECRET + 1;
    if (start < end) continue;
    const whole = (folded ??= fold(text));
    const form = forms
      .get(sequence)
      ?.find((one) => whole.startsWith(one.folded, start) && (!one.isWord || isWordAt(text, start, one)));
    if (form === undefined) continue;
    clean += text.slice(end, start) + form.name;
    end = start + form.text.length;
  }
  return end === 0 ? text : clean + text.slice(end);
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
