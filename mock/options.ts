import builtIn from '../schemas/built-in.fixture.json' with { type: 'json' };
import type { Fixture } from '../schemas/generated/types.ts';
import { parseChaos } from './chaos-spec.ts';
import type { ClockMode } from './clock.ts';
import { createSession, type Session, type SessionOptions } from './session.ts';

/** What a mock serves and how, with or without a socket. */
export interface MockData extends Omit<SessionOptions, 'fixture' | 'now' | 'clock' | 'chaos' | 'elapsed'> {
  /** The built-in one where it is missing. */
  readonly fixture?: Fixture;
  /** How the clocks begin, or the source of time (Unix ms), or both; that of the machine where it is missing. */
  readonly clock?: ClockMode | { now(): number; readonly mode?: ClockMode | undefined };
  /** Faults by kind and rate, such as `500:0.1`, `reset:0.02`, `timeout`, `truncate` and `slow:200ms..2s`. */
  readonly chaos?: readonly string[];
}

/**
 * The session that options ask for.
 *
 * @throws Problem of code `usage` where `chaos` is wrong
 */
export function sessionFor({ fixture, clock = 'real', chaos = [], ...options }: MockData): Session {
  // Looked up with each call: a test that fakes Date moves the mock.
  const source = typeof clock === 'string' ? { now: () => Date.now(), mode: clock } : clock;
  return createSession({
    arePublicKeys: fixture === undefined,
    ...options,
    fixture: fixture ?? (builtIn as Fixture),
    now: () => source.now(),
    clock: source.mode,
    chaos: parseChaos(chaos),
    elapsed: () => performance.now(),
  });
}
