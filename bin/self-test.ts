import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { faults } from '../mock/faults.ts';
import { reference } from '../mock/behaviour.ts';
import { variants } from '../mock/variants.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { catalogue } from '../suites/index.ts';
import { gaps, renderMatrix, type Kill } from './kill-matrix.ts';
import { failedIds } from './failed-ids.ts';
import { tryMock } from './trial.ts';

/** A share of the matrix: every `step`th entry from `from` on. */
export interface Share {
  readonly fixture: Fixture;
  readonly seed: number;
  readonly from: number;
  readonly step: number;
}

/** Inputs per requirement: the listed ones catch every fault, the drawn ones are checked for false alarms. */
const CASES = 10;

/** Ids of everything that is judged. */
const judgedIds = catalogue.flatMap(({ id, level }) => (level === 'observed' ? [] : [id]));

const entries = [
  ...Object.entries(faults).map(([id, { change, fails }]) => ({
    kind: 'fault' as const,
    id,
    change,
    expected: fails,
  })),
  ...Object.entries(variants).map(([id, { change }]) => ({
    kind: 'variant' as const,
    id,
    change,
    expected: [],
  })),
];

/** Works out a share of the matrix. */
export async function killsOf({ fixture, seed, from, step }: Share): Promise<readonly Kill[]> {
  const kills: Kill[] = [];
  for (let at = from; at < entries.length; at += step) {
    const { kind, id, change, expected } = entries[at]!;
    const record = await tryMock(change(reference), { fixture, seed, cases: CASES });
    const unsettled = record.requirements.flatMap((result) =>
      result.level !== 'observed' && result.outcome !== 'passed' && result.outcome !== 'failed'
        ? [result.id]
        : [],
    );
    kills.push({ kind, id, failed: failedIds(record), unsettled, expected });
  }
  return kills;
}

/** The whole matrix, worked out by two threads. */
async function killMatrix(fixture: Fixture, seed: number): Promise<readonly Kill[]> {
  const share = (from: number): Share => ({ fixture, seed, from, step: 2 });
  const worker = new Worker(new URL('./self-test-worker.mjs', import.meta.url), { workerData: share(1) });
  const [mine, [theirs]] = await Promise.all([
    killsOf(share(0)),
    once(worker, 'message') as Promise<[readonly Kill[]]>,
  ]);
  return [...mine, ...theirs];
}

/**
 * Runs the suites against every fault and every variant of the mock.
 *
 * @returns the matrix as text or JSON, and what is wrong with it
 */
export async function selfTest(fixture: Fixture, seed: number, json: boolean) {
  const kills = await killMatrix(fixture, seed);
  const found = gaps(kills, judgedIds);
  const text = json
    ? `${JSON.stringify({ seed, gaps: found, kills }, undefined, 1)}\n`
    : renderMatrix(kills, judgedIds);
  return { text, gaps: found };
}
