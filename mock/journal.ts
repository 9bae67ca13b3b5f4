import { createHash } from 'node:crypto';
import type { Endpoint } from '../schemas/endpoints.ts';
import { redactorOf as redactorOfSecrets } from '../schemas/redact.ts';
import { unescaped } from '../schemas/secret-forms.ts';
import { chaosName, type ChaosAction } from './chaos.ts';
import type { ApiKey } from './world.ts';

/** A request, and why it got its answer. Holds no credential. */
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

/**
 * What is kept of a request; `entryOf` makes an entry of it when somebody looks. It refers to as little
 * as possible, because keeping objects alive is what slows an answer most.
 */
export interface Note {
  readonly id: number;
  readonly at: number;
  readonly world: string;
  readonly method: string;
  readonly target: string;
  /** Name of the presented key, where it is known. */
  readonly key: string | undefined;
  /** The presented credential, where it is not known. */
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
  /** The entry, where target and credential were too long to be kept. */
  readonly entry?: JournalEntry;
}

/** The last `size` notes, in a ring. */
export interface Journal {
  readonly size: number;
  readonly notes: Note[];
  /** Index of the next note. */
  next: number;
}

/** An empty journal for so many requests; 0: keeps none. */
export function createJournal(size: number): Journal {
  return { size, notes: [], next: 0 };
}

/** Keeps a note. It takes the place of the oldest where the journal is full. */
export function keep(journal: Journal, note: Note, redact: Redact): void {
  if (journal.size === 0) return;
  journal.notes[journal.next] = shortened(note, redact);
  journal.next = (journal.next + 1) % journal.size;
}

/** Forgets everything. */
export function clear(journal: Journal): void {
  journal.notes.length = 0;
  journal.next = 0;
}

/** What a journal holds, oldest first. */
export function entriesOf({ notes, next }: Journal, redact: Redact): readonly JournalEntry[] {
  return [...notes.slice(next), ...notes.slice(0, next)].map((note) => entryOf(note, redact));
}

/** A note in the form that may be shown. */
export function entryOf(note: Note, redact: Redact): JournalEntry {
  if (note.entry !== undefined) return { ...note.entry, target: redact(note.entry.target) };
  const { id, at, world, method, endpoint, status, meant, why, key, unknown } = note;
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
    reason: status === meant ? `${status}: ${why}` : `${status}: a deviation (else ${meant}: ${why})`,
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

/** Most characters of target and unknown credential that are kept. */
const MAX_KEPT = 2048;

/** The note, or only the beginning of a long one: a thousand of the longest targets would fill the memory. */
function shortened(note: Note, redact: Redact): Note {
  const { target, unknown = '' } = note;
  if (target.length + unknown.length <= MAX_KEPT) return note;
  const entry = entryOf(note, redact);
  return {
    ...note,
    target: '',
    unknown: undefined,
    entry: { ...entry, target: beginningOf(entry.target) },
  };
}

function beginningOf(text: string): string {
  if (text.length <= MAX_KEPT) return text;
  // A slice alone would keep all of the text alive.
  const beginning = Buffer.from(text.slice(0, MAX_KEPT)).toString();
  return `${beginning}… (${text.length} characters)`;
}

/** Takes credentials out of a request target; `unknown` is a presented credential that is not known. */
export type Redact = (target: string, unknown?: string) => string;

/** Parameters whose names say that they hold a credential. */
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
    const shown = unknown === undefined ? clean : withoutUnknown(clean, target, unknown, named);
    return shown.replace(CREDENTIAL, (whole, name: string) =>
      /=(?:<[^>]*>[^&]*)?$/.test(whole) ? whole : `${name}<credential>`,
    );
  };
}

/** @param clean the target without the known keys, of which the unknown one may hold some */
function withoutUnknown(
  clean: string,
  target: string,
  unknown: string,
  named: readonly { readonly value: string; readonly name: string }[],
): string {
  if (unknown.length <= MAX_SEARCHED)
    return redactorOfSecrets([{ value: unknown, name: UNKNOWN }, ...named])(clean);
  // Nothing is shown from its beginning on.
  const beginning = unknown.slice(0, 16).toLowerCase();
  const at = clean.toLowerCase().indexOf(beginning);
  if (at >= 0) return clean.slice(0, at) + UNKNOWN;
  const texts = [target, ...unescaped(target).map(({ text }) => text)];
  return texts.some((text) => text.toLowerCase().includes(beginning)) ? UNKNOWN : clean;
}
