import type { Fixture } from '../../schemas/generated/types.ts';
import { startMock as startServer, type Mock, type MockOptions } from '../../mock/server.ts';
import { loadFixture } from '../fixture-file.ts';

export type { Fixture, Mock };

/** How the mock is started: everything may be missing. */
export interface StartMockOptions extends Omit<MockOptions, 'fixture' | 'clock' | 'behaviour'> {
  /** What the mock serves; the built-in fixture without it. */
  readonly fixture?: Fixture;
  /** The only clock, in Unix milliseconds; the system's without it. */
  readonly clock?: MockOptions['clock'];
}

/**
 * Starts the reference server in this process.
 *
 * @returns its `{base_url}`, its port, and how to close it
 * @throws the system's error where it cannot listen, such as one with code EADDRINUSE
 */
export async function startMock(options: StartMockOptions = {}): Promise<Mock> {
  const { fixture, clock = { now: Date.now } } = options;
  return startServer({ ...options, clock, fixture: fixture ?? (await loadFixture(undefined, {})) });
}
