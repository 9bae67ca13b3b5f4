import type { Endpoint } from '../../schemas/endpoints.ts';
import { carriesSecret, type Redact } from '../../schemas/redact.ts';
import { reasonOf } from '../server/answer.ts';
import type { Exchange, HttpRequest, HttpResponse } from '../server/exchange.ts';

/** A request, its answer and the reason. Contains no credential. */
export interface JournalEntry {
  /** Number of the request in the mock, from 1. */
  readonly id: number;
  /** Unix ms of the mock's clock. */
  readonly at: number;
  /** Name of the world; empty for the main world. */
  readonly world: string;
  /** Such as `<key northwind/active>`; undefined if the request had no known key. */
  readonly key?: string;
  readonly method: string;
  /** Path and query, without credentials. */
  readonly target: string;
  readonly endpoint?: Endpoint;
  /** 0: the answer did not arrive whole, because of a reset or a truncation. */
  readonly status: number;
  /** Such as `401: key revoked`, or `reset: set by next`. */
  readonly reason: string;
  readonly retryAfterSeconds?: number;
  /** Whether path or query contained a credential. */
  readonly keyInTarget: boolean;
  /** An answer that waited for the request changed it or took its place. */
  readonly next?: true;
  /** Ms from the start of the mock to the request. Changes of the mock's clock do not count. */
  readonly elapsedMs: number;
  /** Ms from the request to its answer, including delays. */
  readonly durationMs: number;
  readonly requestHeaders: Fields;
  readonly responseHeaders: Fields;
  readonly responseBody: string;
}

type Fields = Readonly<Record<string, string>>;

/** The last `size` entries, each in the place of the one that it replaces, and how many there were. */
export interface Journal {
  readonly size: number;
  readonly entries: JournalEntry[];
  noted: number;
  lastId: number;
}

/** Creates an empty journal for `size` requests; 0 keeps none. */
export const createJournal = (size: number): Journal => ({ size, entries: [], noted: 0, lastId: 0 });

/** Adds an entry. A full journal drops its oldest one. */
export function addEntry(journal: Journal, entry: JournalEntry): void {
  const { size, entries, noted } = journal;
  if (size > 0) entries[noted % size] = entry;
  journal.noted += 1;
  journal.lastId = entry.id;
}

export function clearJournal(journal: Journal): void {
  journal.entries.length = 0;
  journal.noted = 0;
}

/** Returns the entries of a journal, oldest first, how many it dropped, and the id of the last of those. */
export function readJournal({ size, entries, noted, lastId }: Journal) {
  const oldest = noted > size && size > 0 ? noted % size : 0;
  const kept = [...entries.slice(oldest), ...entries.slice(0, oldest)];
  return { kept, dropped: noted - kept.length, droppedTo: (kept[0]?.id ?? lastId + 1) - 1 };
}

/** What only the caller knows about a request. Times are in ms. */
interface Noted extends Pick<JournalEntry, 'id' | 'world' | 'elapsedMs' | 'durationMs'> {
  readonly isNext: boolean;
}

/** Creates the entry of an answered request. Credentials are replaced by names here, once. */
export function createEntry(exchange: Exchange, response: HttpResponse, redact: Redact, noted: Noted) {
  const { call, now, request, status: meant } = exchange;
  const { status, headers, delayMs = 0, transportFault } = response;
  const { 'Retry-After': retryAfter } = headers;
  const why = reasonOf(exchange);
  const isMeant = status === meant && transportFault === undefined;
  const cause = noted.isNext ? 'set by next' : 'a fault';
  const target = redact(request.target).replace(CREDENTIAL_PARAMETER, withoutCredential);
  const entry: { -readonly [Name in keyof JournalEntry]: JournalEntry[Name] } = {
    id: noted.id,
    at: now,
    world: noted.world,
    method: request.method,
    target: truncated(target),
    status: transportFault === undefined ? status : 0,
    reason: isMeant ? `${status}: ${why}` : `${transportFault ?? status}: ${cause} (else ${meant}: ${why})`,
    keyInTarget: target !== request.target,
    elapsedMs: Math.round(noted.elapsedMs),
    durationMs: Math.round((noted.durationMs + delayMs) * 1000) / 1000,
    requestHeaders: fieldsOf(request.headers, (name, value) =>
      name === 'authorization' && call?.key !== undefined
        ? `Bearer ${call.key.name}`
        : carriesSecret(name)
          ? schemeAndName(redact(value))
          : redact(value),
    ),
    responseHeaders: fieldsOf(headers, (_, value) => redact(value)),
    responseBody: truncated(redact(response.body)),
  };
  if (call !== undefined) entry.endpoint = call.endpoint;
  if (call?.key !== undefined) entry.key = call.key.name;
  const retryAfterSeconds = retryAfter === undefined ? undefined : secondsOf(retryAfter, now);
  if (retryAfterSeconds !== undefined) entry.retryAfterSeconds = retryAfterSeconds;
  if (noted.isNext) entry.next = true;
  return entry;
}

/** Returns header fields as they are shown. Most need no change, and then no copy. */
function fieldsOf(headers: HttpRequest['headers'], shownAs: (name: string, value: string) => string): Fields {
  let copy: Record<string, string> | undefined;
  let count = 0;
  for (const name in headers) {
    const value = headers[name]!;
    const shown = truncated(shownAs(name, String(value)), MAX_FIELD_LENGTH);
    if (++count > MAX_FIELDS)
      return Object.fromEntries(Object.entries(copy ?? headers).slice(0, MAX_FIELDS)) as Fields;
    if (shown === value) continue;
    copy ??= { ...(headers as Fields) };
    copy[name] = shown;
  }
  return copy ?? (headers as Fields);
}

const SCHEME = /^(?:Basic|Bearer|Digest|Token) +/i;

/** Reduces the value of a secret field to its scheme and the name of a key. */
function schemeAndName(clean: string): string {
  const [scheme = ''] = SCHEME.exec(clean) ?? [];
  const [name = CREDENTIAL_NAME] = /<key [^<>]*>/.exec(clean) ?? [];
  return scheme + name;
}

const CREDENTIAL_NAME = '<credential>';
const CREDENTIAL_PARAMETER =
  /([?&](?:api[_-]?key|x-api-key|key|token|access_token|auth|authorization|bearer)=)([^&]+)/gi;

/** A parameter that usually has a credential shows none, unless it is a known key. */
const withoutCredential = (_: string, name: string, value: string) =>
  name + (value.startsWith('<') ? value : CREDENTIAL_NAME);

/** Converts Retry-After, a number of seconds or a date, to seconds (RFC 9110, 10.2.3). */
function secondsOf(retryAfter: string, at: number): number | undefined {
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter);
  const seconds = Math.ceil((Date.parse(retryAfter) - at) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** Maximum characters of a target and of a body, and of a header field. */
const MAX_LENGTH = 2048;
const MAX_FIELD_LENGTH = 256;
/** Maximum number of header fields. */
const MAX_FIELDS = 100;

function truncated(text: string, most = MAX_LENGTH): string {
  if (text.length <= most) return text;
  // A slice alone would keep the whole text in memory.
  return `${Buffer.from(text.slice(0, most)).toString()}… (${text.length} characters)`;
}
