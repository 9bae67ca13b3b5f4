import { visit } from 'jsonc-parser';

/** A body as JSON, or why it is none. */
export type Json =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string };

/** An answer that arrived whole. */
export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  /** Names in lower case; a repeated field has several values. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** The body as text; what is not UTF-8 is shown as U+FFFD, and `json` says so. */
  readonly text: string;
  readonly json: Json;
  /** By the engine's clock, in ms. */
  readonly sentAt: number;
  /** By the engine's clock, in ms. */
  readonly receivedAt: number;
  /** From the request to the end of the answer, in ms of real time, whatever the engine's clock does. */
  readonly tookMs: number;
}

/** Why there is no answer: the code is the reason that an inconclusive requirement gives. */
export interface Trouble {
  readonly kind: 'trouble';
  readonly code:
    | 'timeout'
    | 'network'
    | 'rate-limited'
    | 'budget'
    | 'interrupted'
    | 'no-fixture'
    | 'state-hook'
    | 'not-recorded';
  readonly words: string;
}

export const trouble = (code: Trouble['code'], words: string): Trouble => ({ kind: 'trouble', code, words });

/** What came of a request. */
export type Reply = Answer | Trouble;

const EMPTY = 'the body is empty';

/** Characters of a body that are shown; the interface's own are a hundred. */
const MOST_SHOWN = 2000;

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Levels of a body at most: what looks into it calls itself for each (RFC 8259 9). */
const MOST_LEVELS = 500;

/** Reads the beginning of a body that is too long to be read. */
export const readBeginning = (bytes: Uint8Array) => lenientUtf8.decode(bytes.subarray(0, MOST_SHOWN));

/**
 * Reads the bytes of a body strictly: UTF-8 or not, JSON or not (RFC 8259 8.1). What a long one holds is made
 * of its text whenever it is asked for: many answers are kept, and a hostile one takes twenty times its text.
 */
export function readBody(bytes: Uint8Array): Pick<Answer, 'text' | 'json'> {
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    return { text: lenientUtf8.decode(bytes), json: { ok: false, why: 'the body is not UTF-8' } };
  }
  if (text.length <= MOST_SHOWN) return { text, json: readJson(text) };
  return {
    text,
    get json() {
      return readJson(text);
    },
  };
}

/** A body as JSON (RFC 8259). */
export function readJson(text: string): Json {
  if (text === '') return { ok: false, why: EMPTY };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, why: 'the body is not JSON' };
  }
  return text.length > 2 * MOST_LEVELS && isDeeper(value, MOST_LEVELS)
    ? { ok: false, why: `the body is nested more than ${MOST_LEVELS} levels deep` }
    : { ok: true, value };
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1)));

/** An answer in one line, as `expected` and `actual` show it: status and body. */
export function summary({ status, text, json }: Answer): string {
  if (text !== '') return `${status} ${text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text}`;
  return json.ok || json.why === EMPTY ? `${status} (no body)` : `${status} (${json.why})`;
}

/** The values of a header field in one line; undefined where it is missing. */
export function header(answer: Answer, name: string): string | undefined {
  return answer.headers[name]?.join(', ');
}

/** Whether the body is a web page, as front ends write them. */
export const isPage = ({ text }: Answer) => /^\s*<(?:!doctype|html)/i.test(text);

/** Names that stand more than once in the outermost object of a JSON text: JSON.parse keeps the last and says nothing. */
export function repeatedNames(text: string): readonly string[] {
  const seen = new Set<string>();
  const repeated: string[] = [];
  visit(text, {
    onObjectProperty: (name, _offset, _length, _line, _character, path) => {
      if (path().length > 0) return;
      if (seen.has(name)) repeated.push(name);
      seen.add(name);
    },
  });
  return repeated;
}
