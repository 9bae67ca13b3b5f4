import type { Fixture, RunRecord } from '../schemas/generated/types.ts';
import { realClock, run, virtualClock, type RunOptions } from '../suites/index.ts';
import type { VerifyFlags } from './verify.ts';

/** Has a run of a target, with these notes, written down. */
export type Recorded = (target: string, notes: readonly string[]) => Pick<RunOptions, 'onEvent'>;

/** The mock and the engine share one virtual clock, over real sockets all the same: a limiter's window costs no time. */
export async function verifyMock(
  fixture: Fixture,
  options: Omit<RunOptions, 'target' | 'clock' | 'maxDurationMs'>,
  recorded: Recorded,
): Promise<RunRecord> {
  const { startMock } = await import('../mock/server.ts');
  const clock = virtualClock(Date.now());
  const mock = await startMock({ fixture, clock });
  try {
    const target = new URL(mock.url);
    const notes = ['No URL was given: the mock was verified.'];
    return await run({
      ...options,
      ...recorded(target.href, notes),
      clock,
      target,
      maxDurationMs: Number.POSITIVE_INFINITY,
      notes,
    });
  } finally {
    await mock.close();
  }
}

/** Against a URL the engine and the target live in real time. */
export async function verifyTarget(
  target: URL,
  flags: Pick<VerifyFlags, 'fixture'>,
  options: Omit<RunOptions, 'target' | 'clock'>,
  recorded: Recorded,
): Promise<RunRecord> {
  const isGuess = flags.fixture === undefined;
  const notes = isGuess ? ['No --fixture was given: the target was taken to hold the built-in one.'] : [];
  return run({
    ...options,
    ...(isGuess
      ? {
          ifRefused:
            'does not know the keys of the built-in fixture; give --fixture with what is true of this target (`ib-conformance init` writes a first one)',
        }
      : {}),
    ...recorded(target.href, notes),
    target,
    clock: realClock,
    notes,
  });
}
