import { createHash } from 'node:crypto';
import type { Endpoint } from '../schemas/endpoints.ts';
import { chaosName, type ChaosAction } from './chaos.ts';
import { reasonOf } from './reason.ts';
import type { Redact } from './redact.ts';

/** A request and why it was answered as it was. Holds no credential. */
export interface JournalEntry {
  /** Counts the requests of the mock, from 1. */
  readonly id: number;
  /** Unix ms of the mock's clock. */
  readonly at: number;
  /** Name of the world; the empty text is the main one. */
  readonly world: string;
  /** Such as `<key northwind/active>`; undefined where no known key was presented. */
  readonly key?: string;
  /** Tells credentials that nobody knows apart, and never is one. */
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
  /** Name of the chaos that befell the request, such as `503` or `slow:200ms`. */
  readonly chaos?: string;
  /** The status that the request asked for by Prefer, where it was given that. */
  readonly preferred?: number;
  /** Ms of a clock that nobody can set: it goes on where the mock's clock stands still or is moved. */
  readonly elapsedMs?: number;
}

/**
 * What is kept of a request while it is answered; made an entry when somebody looks. It keeps as
 * little alive as it can: what outlives a request is what costs most of its answer.
 */
export interface Note {
  readonly id: number;
  readonly at: number;
  readonly world: string;
  readonly method: string;
  readonly target: string;
  /** Name of the key that was presented, where it is known. */
  readonly key: string | undefined;
  /** A credential that nobody knows. */
  readonly unknown: string | undefined;
  readonly endpoint: Endpoint | undefined;
  readonly status: number;
  /** The status that the interface asks for. */
  readonly meant: number;
  readonly why: string;
  readonly retryAfter: string | undefined;
  readonly preferred: number | undefined;
  readonly chaos: ChaosAction | undefined;
  readonly elapsedMs: number | undefined;
  /** What is shown, where the rest was too long to be kept. */
  readonly entry?: JournalEntry;
}

/** The last so many notes: the place of the oldest is taken by the newest. */
export interface Journal {
  readonly size: number;
  readonly notes: Note[];
  /** Where the next one goes. */
  next: number;
}

/** An empty journal for so many requests; 0: keeps none. */
export function createJournal(size: number): Journal {
  return { size, notes: [], next: 0 };
}

/** Keeps a note, and drops the oldest one where there is no more room. */
export function keep(journal: Journal, note: Note): void {
  if (journal.size === 0) return;
  journal.notes[journal.next] = note;
  journal.next = (journal.next + 1) % journal.size;
}

/** What a journal holds, oldest first. */
export function notesOf({ notes, next }: Journal): readonly Note[] {
  return [...notes.slice(next), ...notes.slice(0, next)];
}

/** Forgets everything. */
export function clear(journal: Journal): void {
  journal.notes.length = 0;
  journal.next = 0;
}

/** A note in the form that may be shown. */
export function entryOf(note: Note, redact: Redact): JournalEntry {
  if (note.entry !== undefined) return { ...note.entry, target: redact(note.entry.target) };
  const { id, at, world, method, endpoint, status, key, unknown } = note;
  const { retryAfter, chaos, preferred, elapsedMs } = note;
  const target = redact(note.target, unknown);
  return {
    id,
    at,
    world,
    ...(key !== undefined && { key }),
    ...(unknown !== undefined && { credentialDigest: digestOf(unknown) }),
    method,
    target,
    ...(endpoint && { endpoint }),
    status,
    reason: reasonOf(status, note.meant, note.why),
    ...(retryAfter !== undefined && { retryAfterSeconds: secondsOf(retryAfter, at) }),
    keyInTarget: target !== note.target,
    ...(chaos !== undefined && { chaos: chaosName(chaos) }),
    ...(preferred !== undefined && { preferred }),
    ...(elapsedMs !== undefined && { elapsedMs: Math.round(elapsedMs) }),
  };
}

const digestOf = (credential: string) => createHash('sha256').update(credential).digest('hex').slice(0, 12);

/** Retry-After is a number of seconds or a date (RFC 9110, 10.2.3). */
function secondsOf(retryAfter: string, at: number): number {
  return /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : Math.max(0, Math.ceil((Date.parse(retryAfter) - at) / 1000));
}
