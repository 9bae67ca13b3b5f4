import { reference } from '../mock/behaviour.ts';
import { faults } from '../mock/faults.ts';
import type { Fixture, FixtureLimits } from '../schemas/generated/types.ts';
import { failedIds } from './failed-ids.ts';
import { tryMock } from './trial.ts';

/** Inputs per requirement: the listed ones do. */
const CASES = 1;

/** Limits that are soon reached: it is the limiters that cost time. */
const limits: FixtureLimits = {
  'user-status': { failedLookups: 12, windowSeconds: 3 },
  'deposit-check': { requests: 12, windowSeconds: 3 },
};

/**
 * Shows, before a run, that the suites can pass and can fail: the reference must pass, and two
 * faults chosen by the seed must be caught. Each is held against the whole catalogue, as the
 * self-test does it: some faults wait for the third lookup, whoever makes it.
 *
 * @returns the faults
 * @throws Error where that is not so: a bug of ours
 */
export async function canary(fixture: Fixture, seed: number): Promise<readonly string[]> {
  const ids = Object.keys(faults);
  const first = Math.abs(seed) % ids.length;
  const chosen = [ids[first]!, ids[(first + Math.floor(ids.length / 2)) % ids.length]!];
  const options = { fixture: { ...fixture, limits }, seed, cases: CASES };
  const alarms = failedIds(await tryMock(reference, options));
  if (alarms.length > 0) throw new Error(`canary: the reference mock fails ${alarms.join(', ')}`);
  for (const id of chosen) {
    const { change, fails } = faults[id]!;
    const caught = failedIds(await tryMock(change(reference), options));
    const missed = fails.filter((name) => !caught.includes(name));
    if (missed.length > 0) throw new Error(`canary: ${missed.join(', ')} did not catch the fault ${id}`);
  }
  return chosen;
}
