import { hash } from 'node:crypto';
import type { Endpoint } from '../schemas/endpoints.ts';
import { defined } from '../schemas/defined.ts';
import { carriesSecret, redactorOf as redactorOfSecrets } from '../schemas/redact.ts';
import { reasonOf } from './answer.ts';
import { chaosName } from './chaos.ts';
import type { Exchange, HttpRequest, HttpResponse } from './exchange.ts';
import type { ApiKey } from './world.ts';

/** A request and the reason of its answer, for the log and for `sweep`. Contains no credential. */
export interface JournalLine {
  /** Number of the request in the mock, from 1. */
  readonly id: number;
  /** Unix ms of the mock's clock. */
  readonly at: number;
  /** Name of the world; empty for the main world. */
  readonly world: string;
  /** Such as `<key northwind/active>`; undefined if the request had no known key. */
  readonly key?: string;
  /** Hash that identifies an unknown credential. */
  readonly credentialDigest?: string;
  readonly method: string;
  /** Path and query, without credentials. */
  readonly target: string;
  readonly endpoint?: Endpoint;
  readonly status: number;
  /** Such as `401: key revoked`. */
  readonly reason: string;
  readonly retryAfterSeconds?: number;
  /** Whether path or query contained a credential. */
  readonly keyInTarget: boolean;
  /** Chaos of the request, such as `503` or `slow:200ms`. */
  readonly chaos?: string;
  /** Ms from the start of the mock to the request, by a monotonic clock, independent of the mock's clock. */
  readonly elapsedMs: number;
  /** Ms from the request to its answer, including delays; missing if no answer was sent. */
  readonly durationMs?: number;
}

/** A request with its header fields and its response. Contains no credential. */
export interface JournalEntry extends JournalLine {
  readonly requestHeaders: Fields;
  readonly responseHeaders: Fields;
  readonly responseBody: string;
}

type Fields = Readonly<Record<string, string>>;

/** A stored request. Credentials are redacted on reading, which is rare. */
export interface StoredEntry extends ReturnType<typeof createEntry> {
  /** Values that a truncated target no longer shows. */
  readonly known?: Pick<JournalLine, 'keyInTarget' | 'credentialDigest'>;
}

/** A ring buffer of the last `size` entries. */
export interface Journal {
  readonly size: number;
  readonly entries: StoredEntry[];
  next: number;
  /** Number of requests that are not stored any more, and the id of the last one. */
  dropped: number;
  droppedTo: number;
}

/** Creates an empty journal for `size` requests; 0 stores none. */
export function createJournal(size: number): Journal {
  return { size, entries: [], next: 0, dropped: 0, droppedTo: 0 };
}

/** Adds an entry. A full journal drops its oldest one. */
export function addEntry(journal: Journal, kept: StoredEntry, redact: Redact): void {
  const oldest = journal.size === 0 ? kept : journal.entries[journal.next];
  if (oldest !== undefined) {
    journal.dropped += 1;
    journal.droppedTo = oldest.entry.id;
  }
  if (journal.size === 0) return;
  journal.entries[journal.next] = shorten(kept, redact);
  journal.next = (journal.next + 1) % journal.size;
}

export function clearJournal(journal: Journal): void {
  journal.entries.length = 0;
  journal.next = 0;
  journal.dropped = 0;
}

/** Returns the entries of a journal, oldest first. */
export const storedEntries = ({ entries, next }: Journal): readonly StoredEntry[] => [
  ...entries.slice(next),
  ...entries.slice(0, next),
];

/** Redacts an entry and returns its short form. */
export function toJournalLine({ entry, request, unknown, known }: StoredEntry, redact: Redact): JournalLine {
  const target = redact(request.target, unknown);
  const keyInTarget = target !== request.target;
  const credentialDigest = unknown === undefined ? undefined : digestOf(unknown);
  return defined({ ...entry, target, keyInTarget, credentialDigest, ...known });
}

/** Redacts an entry and returns its full form. */
export function toJournalEntry(kept: StoredEntry, redact: Redact): JournalEntry {
  const { request, response, unknown } = kept;
  const shown = (text: string) => redact(text, unknown);
  return {
    ...toJournalLine(kept, redact),
    requestHeaders: mapFields(request.headers, (value, name) =>
      carriesSecret(name) ? schemeAndName(shown(value)) : shown(value),
    ),
    responseHeaders: mapFields(response.headers, shown),
    responseBody: shown(Buffer.from(response.body).toString()),
  };
}

const mapFields = (fields: HttpRequest['headers'], change: (value: string, name: string) => string): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(String(value), name)]));

const SCHEME = /^(?:Basic|Bearer|Digest|Token) +/i;

/** Reduces the value of a secret field to its scheme and the name of a key. */
function schemeAndName(clean: string): string {
  const [scheme = ''] = SCHEME.exec(clean) ?? [];
  const [name = CREDENTIAL_NAME] = /<key [^<>]*>/.exec(clean) ?? [];
  return scheme + name;
}

/** Creates the entry of an answered request. */
export function createEntry(
  exchange: Exchange,
  response: HttpResponse,
  named: Required<Pick<JournalLine, 'id' | 'world' | 'elapsedMs' | 'durationMs'>>,
) {
  const { call, chaos, now, request, status: meant } = exchange;
  const { status, headers, delayMs = 0, transportFault } = response;
  const { 'Retry-After': retryAfter } = headers;
  const why = reasonOf(exchange);
  // Always the same properties: leaving some out made the mock answer half as many requests a second.
  const entry = {
    id: named.id,
    world: named.world,
    at: now,
    key: call?.key?.name,
    method: request.method,
    endpoint: call?.endpoint,
    status,
    reason: status === meant ? `${status}: ${why}` : `${status}: a fault (else ${meant}: ${why})`,
    retryAfterSeconds: retryAfter === undefined ? undefined : secondsOf(retryAfter, now),
    chaos: chaos && chaosName(chaos),
    elapsedMs: Math.round(named.elapsedMs),
    durationMs: transportFault === 'timeout' ? undefined : toMicroseconds(named.durationMs + delayMs),
  };
  /** The sent credential, if it is unknown. */
  const unknown = call?.key === undefined ? call?.credential : undefined;
  const { target, headers: requestHeaders } = request;
  const kept = { request: { target, headers: requestHeaders }, response: { headers, body: response.body } };
  return { entry, ...kept, unknown };
}

const toMicroseconds = (ms: number) => Math.round(ms * 1000) / 1000;

const digestOf = (credential: string) => hash('sha256', credential).slice(0, 12);

/** Converts Retry-After, a number of seconds or a date, to seconds (RFC 9110, 10.2.3). */
function secondsOf(retryAfter: string, at: number): number {
  return /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : Math.max(0, Math.ceil((Date.parse(retryAfter) - at) / 1000));
}

const MAX_LENGTH = 2048;
/** Maximum length of a header field in a long entry. */
const MAX_FIELD_LENGTH = 256;

/** Truncates a long entry: a thousand of the longest targets would fill the memory. */
function shorten(kept: StoredEntry, redact: Redact): StoredEntry {
  const { entry, request, response, unknown = '' } = kept;
  const textLength = request.target.length + unknown.length + response.body.length;
  if (textLength + headersLength(request.headers) <= MAX_LENGTH) return kept;
  const { keyInTarget, credentialDigest, ...shown } = toJournalEntry(kept, redact);
  const shortened = (fields: Fields) => mapFields(fields, (value) => truncate(value, MAX_FIELD_LENGTH));
  return {
    entry,
    request: { target: truncate(shown.target), headers: shortened(shown.requestHeaders) },
    response: { headers: shortened(shown.responseHeaders), body: truncate(shown.responseBody) },
    unknown: undefined,
    known: defined({ keyInTarget, credentialDigest }),
  };
}

/** Returns the total length of header fields. */
function headersLength(headers: HttpRequest['headers']): number {
  let size = 0;
  for (const name in headers) size += name.length + (headers[name]?.length ?? 0);
  return size;
}

function truncate(text: string, most = MAX_LENGTH): string {
  if (text.length <= most) return text;
  // A slice alone would keep the whole text in memory.
  return `${Buffer.from(text.slice(0, most)).toString()}… (${text.length} characters)`;
}

/** Removes credentials from a text; `unknown` is a sent credential that is not a known key. */
export type Redact = (target: string, unknown?: string) => string;

const CREDENTIAL_PARAMETER =
  /([?&](?:api[_-]?key|x-api-key|key|token|access_token|auth|authorization|bearer)=)[^&]*/gi;

/** Only this much of a credential is searched: all spellings of one of 30 KiB take seconds. */
const MAX_SEARCH_LENGTH = 128;

const UNKNOWN_NAME = '<unknown key>';
const CREDENTIAL_NAME = '<credential>';

/** Creates a function that replaces each key, in any spelling, with its name. */
export function createRedactor(keys: readonly ApiKey[]): Redact {
  const withoutKnown = redactorOfSecrets(
    keys.map(({ key, name, partner }) => ({ value: key, name, owner: partner })),
  );
  // Do not redact inside of names.
  const named = keys.map(({ name }) => ({ value: '', name }));
  return (target, unknown) => {
    const clean = withoutKnown(target);
    const shownTarget = unknown === undefined ? clean : redactUnknown(clean, unknown, named);
    return shownTarget.replace(CREDENTIAL_PARAMETER, (whole, name: string) =>
      /=(?:<[^>]*>[^&]*)?$/.test(whole) ? whole : name + CREDENTIAL_NAME,
    );
  };
}

/** @param clean the text without known keys, which the unknown one may contain */
function redactUnknown(
  clean: string,
  unknown: string,
  named: readonly { readonly value: string; readonly name: string }[],
): string {
  const value = unknown.slice(0, MAX_SEARCH_LENGTH);
  const redacted = redactorOfSecrets([{ value, name: UNKNOWN_NAME }, ...named])(clean);
  // Drop the rest of a longer credential.
  const at = unknown === value ? -1 : redacted.indexOf(UNKNOWN_NAME);
  return at < 0 ? redacted : redacted.slice(0, at) + UNKNOWN_NAME;
}
