import type { DepositNow } from '../../world.ts';
import type { Due } from '../../session.ts';
import type { Gauge } from '../../limiter.ts';
import type { JournalEntry } from '../../journal.ts';
import type { FixtureLimits } from '../../../schemas/generated/types.ts';

export type { DepositNow, Due, Gauge, JournalEntry };

/** One part of a list, and how many there are in all. */
export interface Meta {
  readonly meta: { readonly total: number };
}

/** What the clock of a world shows; `now` in Unix ms, `rate` times as fast as time. */
export interface ClockShown {
  readonly now: number;
  readonly mode: 'real' | 'frozen' | 'poll';
  readonly rate: number;
}

/** A key by its name; `key` only where it is no secret. */
export interface ShownKey {
  readonly name: string;
  readonly key?: string;
  readonly partner: string | null;
  readonly state: 'active' | 'revoked' | 'expired';
  /** Unix ms. */
  readonly expiresAt?: number;
}

export interface ShownUser {
  readonly user_id: string;
  readonly partner: string | null;
  readonly date_joined: string;
}

/** What shows a state of the interface. */
export interface Example {
  readonly shows: string;
  /** Path and query. */
  readonly target: string;
  readonly keyName: string;
  readonly key?: string;
}

/** The answers of the admin API that the page reads, by their paths. */
export interface Answers {
  readonly clock: ClockShown;
  readonly deposits: Meta & { readonly deposits: readonly DepositNow[] };
  readonly keys: Meta & { readonly keys: readonly ShownKey[] };
  readonly users: Meta & { readonly users: readonly ShownUser[] };
  readonly limits: { readonly limits: FixtureLimits; readonly gauges: readonly Gauge[] };
  readonly requests: Meta & { readonly requests: readonly JournalEntry[] };
  readonly worlds: { readonly worlds: readonly string[] };
  readonly 'magic-values': { readonly port?: number; readonly values: readonly Example[] };
}

/** A part of what the page shows; each is loaded and drawn by itself. */
export type PartName = keyof Answers;
