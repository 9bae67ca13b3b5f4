import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { visit } from 'jsonc-parser';
import type { Loss } from '../schemas/generated/types.ts';

/** A body parsed as JSON, or the reason why it cannot be parsed. */
export type Json =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string };

/** A complete answer. */
export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  /** Names are in lower case. A repeated field has several values. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** The body as text. Bytes that are not UTF-8 become U+FFFD, and `json` reports them. */
  readonly text: string;
  readonly json: Json;
  /** `sentAt` and `receivedAt`: in ms of the engine's clock. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /** The traceparent that was sent: it names the request in logs of the target. */
  readonly trace?: string;
  /** Number of requests of the run up to this one. */
  readonly nth?: number;
  /** From request to complete answer, in ms of real time, also with a virtual clock. */
  readonly tookMs: number;
}

/** Why there is no answer. An inconclusive requirement gives `code` as its reason. */
export interface Trouble {
  readonly kind: 'trouble';
  readonly code:
    | 'timeout'
    | 'network'
    | 'rate-limited'
    | 'id-limited'
    | 'budget'
    | 'interrupted'
    | 'no-fixture'
    | 'state-hook'
    | Loss['reason'];
  readonly words: string;
  /** Set if the target was down again: that there is no answer is a failure. */
  readonly isJudged?: true;
  /** As of an answer. */
  readonly trace?: string;
  readonly nth?: number;
}

export const trouble = (code: Trouble['code'], words: string): Trouble => ({ kind: 'trouble', code, words });

/** Words of the trouble of a request that was not sent: it shows nothing about its lookup. */
export const NOT_SENT = 'not sent because the target stopped answering';

/** An answer, or the reason why there is none. */
export type Reply = Answer | Trouble;

const EMPTY = 'the body is empty';

/** Maximum number of characters shown of a body. Bodies of the interface have about 100. */
const MAX_SHOWN = 2000;

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Maximum nesting of a JSON body: functions that walk it are recursive (RFC 8259 9). */
const MAX_NESTING = 500;

/** The start of a body that is too long, as text. */
const decodeStart = (bytes: Uint8Array) => lenientUtf8.decode(bytes.subarray(0, MAX_SHOWN));

/**
 * Maximum size of a body, before and after decompression. Bodies of the interface have about 100 bytes, and a
 * burst holds 1,000 answers in memory.
 */
export const MAX_BODY_BYTES = 16 * 1024;

/**
 * Decodes a body strictly: as UTF-8, then as JSON (RFC 8259 8.1). A long body is parsed on each access,
 * because a run keeps many answers and a parsed body can take 20 times the memory of its text.
 */
export function readBody(bytes: Uint8Array): Pick<Answer, 'text' | 'json'> {
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    return { text: lenientUtf8.decode(bytes), json: { ok: false, why: 'the body is not UTF-8' } };
  }
  if (text.length <= MAX_SHOWN) return { text, json: readJson(text) };
  return {
    text,
    get json() {
      return readJson(text);
    },
  };
}

const decoders: Readonly<
  Record<string, (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array>
> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Decompresses and decodes a body according to Content-Encoding (RFC 9110 8.4). */
export function decodeBody(bytes: Uint8Array, encoding: string | undefined): Pick<Answer, 'text' | 'json'> {
  const name = encoding?.trim().toLowerCase() ?? '';
  const decoder = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  const why = `the body has more than ${MAX_BODY_BYTES} bytes`;
  if (bytes.length > MAX_BODY_BYTES)
    return { text: decoder === undefined ? decodeStart(bytes) : '', json: { ok: false, why } };
  if (decoder === undefined || bytes.length === 0) return readBody(bytes);
  try {
    return readBody(decoder(bytes, { maxOutputLength: MAX_BODY_BYTES }));
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE')
      return { text: '', json: { ok: false, why } };
    return { text: '', json: { ok: false, why: `the body is not ${encoding}, as Content-Encoding says` } };
  }
}

/** Parses a body as JSON (RFC 8259). */
export function readJson(text: string): Json {
  if (text === '') return { ok: false, why: EMPTY };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, why: 'the body is not JSON' };
  }
  return text.length > 2 * MAX_NESTING && isNestedDeeper(value, MAX_NESTING)
    ? { ok: false, why: `the body is nested more than ${MAX_NESTING} levels deep` }
    : { ok: true, value };
}

const isNestedDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item) => isNestedDeeper(item, levels - 1)));

/** Status and body in one line, for `expected` and `actual`. */
export function summary({ status, text, json }: Answer): string {
  if (text !== '') return `${status} ${text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text}`;
  return json.ok || json.why === EMPTY ? `${status} (no body)` : `${status} (${json.why})`;
}

/** All values of a header field, joined; undefined if it is missing. */
export function header(answer: Answer, name: string): string | undefined {
  const values = answer.headers[name];
  return values?.length === 1 ? values[0] : values?.join(', ');
}

/** Whether the body is an HTML page, such as the error page of a proxy. */
export const isHtmlPage = ({ text }: Answer) => /^\s*<(?:!doctype|html)/i.test(text);

/** Whether a front end, such as a proxy or gateway, answered in place of the service: by its status, or with a page. */
export function isFromFrontEnd(answer: Answer): boolean {
  const { status } = answer;
  const isGatewayStatus =
    [407, 408].includes(status) || (status >= 502 && status <= 504) || (status >= 520 && status <= 527);
  return isGatewayStatus || (status >= 400 && isHtmlPage(answer));
}

/** Maximum length of the first words of an answer. */
const MAX_FIRST = 60;

/** Status and first words of an answer, without the tags of a page, or its title: `502 (Bad Gateway)`. */
export function firstWords({ status, text }: Answer): string {
  const words = (/<title>([^<]*[a-z][^<]*)</i.exec(text)?.[1] ?? text)
    .replaceAll(/<(style|script)\b[^]*?<\/\1>|<[^>]*>/gi, ' ')
    .replaceAll(/[^\u0020-\u007e]+/g, ' ')
    .trim()
    .replaceAll(/ {2,}/g, ' ');
  return words === '' ? `${status}` : `${status} (${words.slice(0, MAX_FIRST)})`;
}

/** A field of the outermost object as the body has it: a number may be too large or too exact for JSON.parse. */
export function writtenField({ text, json }: Answer, name: string): string {
  const value = json.ok ? (json.value as Record<string, unknown>)[name] : undefined;
  let written = JSON.stringify(value);
  visit(text, {
    onLiteralValue: (_value, offset, length, _line, _character, path) => {
      if (path().join('/') === name) written = text.slice(offset, offset + length);
    },
  });
  return `"${name}": ${written}`;
}

/** Duplicate names in the outermost object of a JSON text. JSON.parse silently keeps the last one. */
export function repeatedNames(text: string): readonly string[] {
  // Most bodies are written like this, and then no name was lost.
  if (JSON.stringify(JSON.parse(text)) === text) return [];
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
