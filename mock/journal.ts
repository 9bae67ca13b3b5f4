import { createHash } from 'node:crypto';
import type { Endpoint } from '../schemas/endpoints.ts';
import { redactorOf as redactorOfSecrets } from '../schemas/redact.ts';
import { whyOf } from './answer.ts';
import { chaosName } from './chaos.ts';
import type { Exchange, HttpResponse } from './exchange.ts';
import type { ApiKey } from './world.ts';

/** A request, and why it got its answer. Holds no credential once it is shown. */
export interface JournalEntry {
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
  /** Ms of a clock that nobody can set: it goes on where the mock's clock stands still or is moved. */
  readonly elapsedMs?: number;
}

/** What is kept of a request: credentials are taken out when somebody looks, which few do. */
export interface KeptEntry {
  readonly entry: Omit<JournalEntry, 'target' | 'keyInTarget' | 'credentialDigest'>;
  readonly target: string;
  /** The presented credential, where it is not known. */
  readonly unknown?: string | undefined;
  /** What a target that is kept in part no longer tells. */
  readonly known?: Pick<JournalEntry, 'keyInTarget' | 'credentialDigest'>;
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
export function entriesOf({ entries, next }: Journal, redact: Redact): readonly JournalEntry[] {
  return [...entries.slice(next), ...entries.slice(0, next)].map((kept) => shownEntry(kept, redact));
}

/** An entry without credentials. */
export function shownEntry({ entry, target, unknown, known }: KeptEntry, redact: Redact): JournalEntry {
  const shown = redact(target, unknown);
  const digest = unknown !== undefined && { credentialDigest: digestOf(unknown) };
  return { ...entry, target: shown, keyInTarget: shown !== target, ...digest, ...known };
}

/** What is kept of a request that was answered. */
export function entryOf(
  exchange: Exchange,
  { status, headers }: HttpResponse,
  { elapsedMs, ...named }: Pick<JournalEntry, 'id' | 'world'> & { readonly elapsedMs: number | undefined },
): KeptEntry {
  const { call, preferred, chaos, now, request, status: meant } = exchange;
  const { 'Retry-After': retryAfter } = headers;
  const why = whyOf(exchange);
  const entry = {
    ...named,
    at: now,
    ...(call?.key && { key: call.key.name }),
    method: request.method,
    ...(call && { endpoint: call.endpoint }),
    status,
    reason: status === meant ? `${status}: ${why}` : `${status}: a deviation (else ${meant}: ${why})`,
    ...(retryAfter !== undefined && { retryAfterSeconds: secondsOf(retryAfter, now) }),
    ...(chaos && { chaos: chaosName(chaos) }),
    ...(preferred !== undefined && { preferred }),
    ...(elapsedMs !== undefined && { elapsedMs: Math.round(elapsedMs) }),
  };
  const unknown = call?.key === undefined ? call?.credential : undefined;
  return { entry, target: request.target, unknown };
}

const digestOf = (credential: string) => createHash('sha256').update(credential).digest('hex').slice(0, 12);

/** Retry-After is a number of seconds or a date (RFC 9110, 10.2.3). */
function secondsOf(retryAfter: string, at: number): number {
  return /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : Math.max(0, Math.ceil((Date.parse(retryAfter) - at) / 1000));
}

const MAX_KEPT = 2048;

/** The entry, or only the beginning of a long one: a thousand of the longest targets would fill the memory. */
function shortened(kept: KeptEntry, redact: Redact): KeptEntry {
  if (kept.target.length + (kept.unknown?.length ?? 0) <= MAX_KEPT) return kept;
  const { target, keyInTarget, credentialDigest } = shownEntry(kept, redact);
  // A slice alone would keep all of the text alive.
  const beginning = Buffer.from(target.slice(0, MAX_KEPT)).toString();
  const rest = target.length > MAX_KEPT ? `… (${target.length} characters)` : '';
  const known = { keyInTarget, ...(credentialDigest !== undefined && { credentialDigest }) };
  return { entry: kept.entry, target: beginning + rest, known };
}

/** Takes credentials out of a request target; `unknown` is a presented credential that is not known. */
export type Redact = (target: string, unknown?: string) => string;

const CREDENTIAL = /([?&](?:api[_-]?key|x-api-key|key|token|access_token|auth|authorization|bearer)=)[^&]*/gi;

/** Only the beginning of a longer credential is looked for: all forms of one of 30 KiB take seconds. */
const MAX_SEARCHED = 128;

const UNKNOWN = '<unknown key>';

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
      /=(?:<[^>]*>[^&]*)?$/.test(whole) ? whole : `${name}<credential>`,
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
