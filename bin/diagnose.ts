import type { Fixture, RunRecord } from '../schemas/generated/types.ts';
import { catalogue } from '../suites/index.ts';
import { failedIds } from './failed-ids.ts';

type Suspicion = NonNullable<RunRecord['diagnosis']>[number];

/** Faults whose failing sets are compared in detail. */
const MOST_CANDIDATES = 30;

/** Below this, nothing is said. */
const LEAST_FIT = 0.6;

/** More than this many equally good fits tell nothing. */
const MOST_SUSPICIONS = 3;

/**
 * Holds what failed against the known faults: the same requirements, and, with each candidate run on
 * the same fixture and seed, the same answers.
 *
 * @returns the likeliest faults, or none where nothing fits, or the run did not come to its end
 */
export async function diagnose(record: RunRecord, fixture: Fixture): Promise<readonly Suspicion[]> {
  const failing = failedIds(record);
  if (failing.length === 0 || record.interrupted) return [];
  const mock = await loadMock();
  if (mock === undefined) return [];
  const { reference, faults, tryMock } = mock;
  const checked = new Set(record.requirements.map(({ id }) => id));
  const candidates = Object.entries(faults)
    .map(([id, fault]) => ({
      id,
      fault,
      overlap: jaccard(
        failing,
        fault.fails.filter((name) => checked.has(name)),
      ),
    }))
    .filter(({ overlap }) => overlap >= LEAST_FIT)
    .toSorted((a, b) => b.overlap - a.overlap)
    .slice(0, MOST_CANDIDATES);
  const requirements = catalogue.filter(({ id }) => failing.includes(id));
  const suspicions: Suspicion[] = [];
  for (const { id, fault, overlap } of candidates) {
    const trial = await tryMock(fault.change(reference), {
      fixture,
      seed: record.seed,
      cases: record.cases,
      requirements,
    });
    const fit = (overlap + likeness(record, trial)) / 2;
    if (fit >= LEAST_FIT) suspicions.push({ fault: id, what: fault.what, fit: Math.round(fit * 100) / 100 });
  }
  const best = suspicions.toSorted((a, b) => b.fit - a.fit);
  const equals = best.filter(({ fit }) => fit === best[0]!.fit);
  return equals.length > MOST_SUSPICIONS ? [] : equals;
}

/**
 * Loaded where something failed, and not before. Undefined where it is gone: a package that is updated
 * in the middle of a run must not take the verdict with it.
 */
async function loadMock() {
  try {
    const [behaviour, known, trial] = await Promise.all([
      import('../mock/behaviour.ts'),
      import('../mock/faults.ts'),
      import('./trial.ts'),
    ]);
    return { ...behaviour, ...known, ...trial };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** How much two sets have in common: from 0 to 1. */
function jaccard(one: readonly string[], other: readonly string[]): number {
  const common = one.filter((id) => other.includes(id)).length;
  return common / (one.length + other.length - common);
}

/** The share of failed requirements for which both runs saw the same answer to the same request. */
function likeness(record: RunRecord, trial: RunRecord): number {
  const evidence = ({ requirements }: RunRecord) =>
    new Map(
      requirements.flatMap((result) =>
        result.outcome === 'failed' && result.level !== 'observed'
          ? [[result.id, JSON.stringify([result.actual, result.counterexample?.request])]]
          : [],
      ),
    );
  const [seen, expected] = [evidence(record), evidence(trial)];
  const alike = [...seen].filter(([id, text]) => expected.get(id) === text).length;
  return alike / seen.size;
}
