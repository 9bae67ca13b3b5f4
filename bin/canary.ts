import { reference } from '../mock/behaviour.ts';
import { faults, type Fault } from '../mock/faults.ts';
import type { Fixture, FixtureLimits } from '../schemas/generated/types.ts';
import { catalogue, suiteOf, type Requirement } from '../suites/index.ts';
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
 * faults chosen by the seed must be caught.
 *
 * @returns the faults
 * @throws Error where that is not so: a bug of ours
 */
export async function canary(fixture: Fixture, seed: number): Promise<readonly string[]> {
  const ids = Object.keys(faults);
  const first = Math.abs(seed) % ids.length;
  const chosen = [ids[first]!, ids[(first + Math.floor(ids.length / 2)) % ids.length]!];
  const alarms = failedIds(await tryMock(reference, optionsOf(fixture, seed)));
  if (alarms.length > 0) throw new Error(`canary: the reference mock fails ${alarms.join(', ')}`);
  for (const id of chosen) {
    const missed = await missedOf(faults[id]!, fixture, seed);
    if (missed.length > 0) throw new Error(`canary: ${missed.join(', ')} did not catch the fault ${id}`);
  }
  return chosen;
}

/** Ids of the requirements that should catch a fault, and do not. */
export async function missedOf(
  { change, fails }: Fault,
  fixture: Fixture,
  seed: number,
): Promise<readonly string[]> {
  const requirements = concernedBy(fails);
  const caught = failedIds(await tryMock(change(reference), { ...optionsOf(fixture, seed), requirements }));
  return fails.filter((name) => !caught.includes(name));
}

const optionsOf = (fixture: Fixture, seed: number) => ({
  fixture: { ...fixture, limits },
  seed,
  cases: CASES,
});

/**
 * The suites of these requirements, whole: some faults wait for the third lookup, whoever makes it. Who
 * watches every answer gets to see every one.
 */
function concernedBy(ids: readonly string[]): readonly Requirement[] {
  const named = catalogue.filter(({ id }) => ids.includes(id));
  if (named.some(({ kind }) => kind === 'watch')) return catalogue;
  const suites = new Set(named.map(suiteOf));
  return catalogue.filter((requirement) => suites.has(suiteOf(requirement)));
}
