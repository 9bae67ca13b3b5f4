import { createHash } from 'node:crypto';
import type { Endpoint } from '../schemas/endpoints.ts';
import { carriesSecret, redactorOf as redactorOfSecrets } from '../schemas/redact.ts';
import { whyOf } from './answer.ts';
import { chaosName } from './chaos.ts';
import type { Exchange, HttpRequest, HttpResponse } from './exchange.ts';
import type { ApiKey } from './world.ts';

/** A request, and why it got its answer, in short: for the log and the scorecard. Holds no credential. */
export interface JournalLine {
  /** Counts the requests of the mock, from 1. */
  readonly id: number;
  /** Unix ms of the mock's clock. */
  readonly at: number;
  /** Name of the world; the empty text is the main one. */
  readonly world: string;
  /** Such as `<key northwind/active>`; undefined where no known key was presented. */
  readonly key?: string;
  /** Tells unknown credentials apart without showing them. */
  readonly credentialDigest?: string;
  readonly method: string;
  /** Path and query, without credentials. */
  readonly target: string;
  readonly endpoint?: Endpoint;
  readonly status: number;
  /** Such as `401: key revoked`. */
  readonly reason: string;
  readonly retryAfterSeconds?: number;
  /** Whether a credential stood in path or query. */
  readonly keyInTarget: boolean;
  /** The chaos that hit the request, such as `503` or `slow:200ms`. */
  readonly chaos?: string;
  /** The status that the request asked for by Prefer and got. */
  readonly preferred?: number;
  /**
   * Ms from the start of the mock to the request, by a clock that nobody can set: it goes on where the mock's
   * clock stands still or is moved.
   */
  readonly elapsedMs?: number;
  /** Ms from the request to its answer, delays included; missing where no answer was sent. */
  readonly durationMs?: number;
}

/** A request with its header fields, and its answer. Holds no credential. */
export interface JournalEntry extends JournalLine {
  readonly requestHeaders: Fields;
  readonly responseHeaders: Fields;
  readonly responseBody: string;
}

type Fields = Readonly<Record<string, string>>;

/** What is kept of a request: credentials are taken out when somebody looks, which few do. */
export interface KeptEntry {
  readonly entry: Omit<JournalLine, 'target' | 'keyInTarget' | 'credentialDigest'>;
  readonly request: Pick<HttpRequest, 'target' | 'headers'>;
  readonly response: Pick<HttpResponse, 'headers' | 'body'>;
  /** The presented credential, where it is not known. */
  readonly unknown?: string | undefined;
  /** What a target that is kept in part no longer tells. */
  readonly known?: Pick<JournalLine, 'keyInTarget' | 'credentialDigest'>;
}

/** The last `size` entries, in a ring. */
export interface Journal {
  readonly size: number;
  readonly entries: KeptEntry[];
  next: number;
}

/** An empty journal for so many requests; 0: keeps none. */
export function createJournal(size: number): Journal {
  return { size, entries: [], next: 0 };
}

/** Keeps an entry. It takes the place of the oldest where the journal is full. */
export function keep(journal: Journal, kept: KeptEntry, redact: Redact): void {
  if (journal.size === 0) return;
  journal.entries[journal.next] = shortened(kept, redact);
  journal.next = (journal.next + 1) % journal.size;
}

/** Forgets everything. */
export function clear(journal: Journal): void {
  journal.entries.length = 0;
  journal.next = 0;
}

/** What a journal holds, oldest first. */
export const keptIn = ({ entries, next }: Journal): readonly KeptEntry[] => [
  ...entries.slice(next),
  ...entries.slice(0, next),
];

/** An entry in short. */
export function shownLine({ entry, request, unknown, known }: KeptEntry, redact: Redact): JournalLine {
  const shown = redact(request.target, unknown);
  const digest = unknown !== undefined && { credentialDigest: digestOf(unknown) };
  return { ...entry, target: shown, keyInTarget: shown !== request.target, ...digest, ...known };
}

/** The whole of an entry. */
export function shownEntry(kept: KeptEntry, redact: Redact): JournalEntry {
  const { request, response, unknown } = kept;
  const shown = (text: string) => redact(text, unknown);
  return {
    ...shownLine(kept, redact),
    requestHeaders: mapped(request.headers, (value, name) =>
      carriesSecret(name) ? withoutCredential(shown(value)) : shown(value),
    ),
    responseHeaders: mapped(response.headers, shown),
    responseBody: shown(Buffer.from(response.body).toString()),
  };
}

const mapped = (fields: HttpRequest['headers'], change: (value: string, name: string) => string): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(String(value), name)]));

const SCHEME = /^(?:Basic|Bearer|Digest|Token) +/i;

/** Of a field that carries a secret only the scheme is shown, and the name of a key. */
function withoutCredential(clean: string): string {
  const [scheme = ''] = SCHEME.exec(clean) ?? [];
  const [name = CREDENTIAL_NAME] = /<key [^<>]*>/.exec(clean) ?? [];
  return scheme + name;
}

/** What is kept of a request that was answered. */
export function entryOf(
  exchange: Exchange,
  response: HttpResponse,
  named: Pick<JournalLine, 'id' | 'world'>,
  times: { readonly elapsedMs: number; readonly durationMs: number } | undefined,
): KeptEntry {
  const { call, preferred, chaos, now, request, status: meant } = exchange;
  const { status, headers, delayMs = 0, transportFault } = response;
  const { 'Retry-After': retryAfter } = headers;
  const why = whyOf(exchange);
  const entry = {
    ...named,
    at: now,
    ...(call?.key && { key: call.key.name }),
    method: request.method,
    ...(call && { endpoint: call.endpoint }),
    status,
    reason: status === meant ? `${status}: ${why}` : `${status}: a fault (else ${meant}: ${why})`,
    ...(retryAfter !== undefined && { retryAfterSeconds: secondsOf(retryAfter, now) }),
    ...(chaos && { chaos: chaosName(chaos) }),
    ...(preferred !== undefined && { preferred }),
    ...(times && { elapsedMs: Math.round(times.elapsedMs) }),
    ...(times && transportFault !== 'timeout' && { durationMs: toMicroseconds(times.durationMs + delayMs) }),
  };
  const unknown = call?.key === undefined ? call?.credential : undefined;
  const { target, headers: requestHeaders } = request;
  const kept = { request: { target, headers: requestHeaders }, response: { headers, body: response.body } };
  return { entry, ...kept, unknown };
}

const toMicroseconds = (ms: number) => Math.round(ms * 1000) / 1000;

const digestOf = (credential: string) => createHash('sha256').update(credential).digest('hex').slice(0, 12);

/** Retry-After is a number of seconds or a date (RFC 9110, 10.2.3). */
function secondsOf(retryAfter: string, at: number): number {
  return /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : Math.max(0, Math.ceil((Date.parse(retryAfter) - at) / 1000));
}

const MAX_KEPT = 2048;
/** Characters of a header field of a long entry. */
const MAX_FIELD = 256;

/** The entry, or only the beginning of a long one: a thousand of the longest targets would fill the memory. */
function shortened(kept: KeptEntry, redact: Redact): KeptEntry {
  const { entry, request, response, unknown = '' } = kept;
  if (request.target.length + unknown.length + sizeOf(request.headers) + response.body.length <= MAX_KEPT)
    return kept;
  const shown = shownEntry(kept, redact);
  const { keyInTarget, credentialDigest } = shown;
  return {
    entry,
    request: {
      target: cut(shown.target),
      headers: mapped(shown.requestHeaders, (value) => cut(value, MAX_FIELD)),
    },
    response: {
      headers: mapped(shown.responseHeaders, (value) => cut(value, MAX_FIELD)),
      body: cut(shown.responseBody),
    },
    known: { keyInTarget, ...(credentialDigest !== undefined && { credentialDigest }) },
  };
}

/** Characters of the header fields of a request. */
function sizeOf(headers: HttpRequest['headers']): number {
  let size = 0;
  for (const name in headers) size += name.length + (headers[name]?.length ?? 0);
  return size;
}

function cut(text: string, most = MAX_KEPT): string {
  if (text.length <= most) return text;
  // A slice alone would keep all of the text alive.
  return `${Buffer.from(text.slice(0, most)).toString()}… (${text.length} characters)`;
}

/** Takes credentials out of a request target; `unknown` is a presented credential that is not known. */
export type Redact = (target: string, unknown?: string) => string;

const CREDENTIAL = /([?&](?:api[_-]?key|x-api-key|key|token|access_token|auth|authorization|bearer)=)[^&]*/gi;

/** Only the beginning of a longer credential is looked for: all forms of one of 30 KiB take seconds. */
const MAX_SEARCHED = 128;

const UNKNOWN = '<unknown key>';
const CREDENTIAL_NAME = '<credential>';

/** A function that replaces each key by its name, however the key is written. */
export function redactorOf(keys: readonly ApiKey[]): Redact {
  const withoutKnown = redactorOfSecrets(
    keys.map(({ key, name, partner }) => ({ value: key, name, owner: partner })),
  );
  // Names stay as they are.
  const named = keys.map(({ name }) => ({ value: '', name }));
  return (target, unknown) => {
    const clean = withoutKnown(target);
    const shownTarget = unknown === undefined ? clean : withoutUnknown(clean, unknown, named);
    return shownTarget.replace(CREDENTIAL, (whole, name: string) =>
      /=(?:<[^>]*>[^&]*)?$/.test(whole) ? whole : name + CREDENTIAL_NAME,
    );
  };
}

/** @param clean the target without the known keys, of which the unknown one may hold some */
function withoutUnknown(
  clean: string,
  unknown: string,
  named: readonly { readonly value: string; readonly name: string }[],
): string {
  const value = unknown.slice(0, MAX_SEARCHED);
  const redacted = redactorOfSecrets([{ value, name: UNKNOWN }, ...named])(clean);
  // Behind the beginning of a longer one stands the rest of it.
  const at = unknown === value ? -1 : redacted.indexOf(UNKNOWN);
  return at < 0 ? redacted : redacted.slice(0, at) + UNKNOWN;
}
