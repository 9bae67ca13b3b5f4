import { builtInWithoutLimits } from './fixtures.ts';
import type { Bench } from './part.ts';
import { oursWith } from './servers.ts';

/** A mock that holds nobody up. */
export const unlimitedMock = oursWith('--limits', 'off');

/** The suites that wait for nothing, so that all of the time is the harness's. */
const suites = ['valid', 'invalid-uuid', 'foreign-ib', 'auth'].flatMap((name) => ['--suite', name]);

/** The flags of a run of that mock that keeps to no limits and waits for nothing; always the same requests. */
export const unhinderedRun = (bench: Bench): readonly string[] => [
  '--fixture',
  builtInWithoutLimits(bench),
  '--seed',
  '1',
  '--no-canary',
  ...suites,
];
