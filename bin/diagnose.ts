import type { Fixture, RunRecord } from '../schemas/generated/types.ts';
import { catalogue } from '../suites/index.ts';

type Suspicion = NonNullable<RunRecord['diagnosis']>[number];

/** Maximum number of faults that are run for comparison. */
const MAX_CANDIDATES = 30;

/** Minimum fit of a fault that is reported. */
const MIN_FIT = 0.6;

/** If more faults fit equally well, none is reported. */
const MAX_SUSPICIONS = 3;

/**
 * Compares the failures with those of the known faults: first by requirement, then, with each candidate
 * run on the same fixture and seed, by answer.
 *
 * @returns the likeliest faults; none if nothing fits or the run was interrupted
 */
export async function diagnose(record: RunRecord, fixture: Fixture): Promise<readonly Suspicion[]> {
  const failed = [...failures(record).keys()];
  if (failed.length === 0 || record.interrupted) return [];
  const mock = await loadMock();
  if (mock === undefined) return [];
  const { reference, faults, verifyMock } = mock;
  const checked = new Set(record.requirements.map(({ id }) => id));
  const candidates = Object.entries(faults)
    .map(([id, fault]) => {
      const expected = fault.fails.filter((name) => checked.has(name));
      return { id, fault, overlap: jaccard(failed, expected) };
    })
    .filter(({ overlap }) => overlap >= MIN_FIT)
    .toSorted((a, b) => b.overlap - a.overlap)
    .slice(0, MAX_CANDIDATES);
  const { seed, cases } = record;
  const requirements = catalogue.filter(({ id }) => failed.includes(id));
  const suspicions: Suspicion[] = [];
  for (const { id, fault, overlap } of candidates) {
    const other = await verifyMock(fault.change(reference), { fixture, seed, cases, requirements });
    const fit = (overlap + similarity(record, other)) / 2;
    if (fit >= MIN_FIT) suspicions.push({ fault: id, what: fault.what, fit: Math.round(fit * 100) / 100 });
  }
  const best = suspicions.toSorted((a, b) => b.fit - a.fit);
  const equals = best.filter(({ fit }) => fit === best[0]!.fit);
  return equals.length > MAX_SUSPICIONS ? [] : equals;
}

/** Undefined if the package was updated during the run: the verdict must not be lost. */
async function loadMock() {
  try {
    const [{ reference }, { faults }, { verifyMock }] = await Promise.all([
      import('../mock/behaviour.ts'),
      import('../mock/faults.ts'),
      import('./canary.ts'),
    ]);
    return { reference, faults, verifyMock };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** What was seen of each required or recommended requirement that failed. */
const failures = ({ requirements }: RunRecord) =>
  new Map(
    requirements.flatMap((result) =>
      result.outcome === 'failed' && result.level !== 'observed'
        ? [[result.id, JSON.stringify([result.actual, result.counterexample?.request])] as const]
        : [],
    ),
  );

/** Similarity of two sets, from 0 to 1. */
function jaccard(one: readonly string[], other: readonly string[]): number {
  const common = one.filter((id) => other.includes(id)).length;
  return common / (one.length + other.length - common);
}

/** The share of failures for which both runs saw the same answer to the same request. */
function similarity(record: RunRecord, other: RunRecord): number {
  const [seen, expected] = [failures(record), failures(other)];
  return [...seen].filter(([id, evidence]) => expected.get(id) === evidence).length / seen.size;
}
