import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { reference } from '../mock/behaviour.ts';
import { faults } from '../mock/faults.ts';
import { variants } from '../mock/variants.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { catalogue } from '../suites/index.ts';
import { failedIds, verifyMock } from './canary.ts';

/** What a run against a mock with one fault or variant came to. */
export interface Kill {
  readonly kind: 'fault' | 'variant';
  readonly id: string;
  /** Required and recommended requirements that failed. */
  readonly failed: readonly string[];
  /** Those that neither passed nor failed. */
  readonly unsettled: readonly string[];
  /** Those that should fail: none for a variant. */
  readonly expected: readonly string[];
}

/** Every `step`th entry of the matrix, beginning with `from`. */
export interface Share {
  readonly fixture: Fixture;
  readonly seed: number;
  readonly from: number;
  readonly step: number;
}

/** The listed inputs catch every fault; drawn ones are checked for false alarms. */
const CASES = 10;

const judgedIds = catalogue.flatMap(({ id, level }) => (level === 'observed' ? [] : [id]));

const entries = [
  ...Object.entries(faults).map(([id, fault]) => ({ kind: 'fault' as const, id, ...fault })),
  ...Object.entries(variants).map(([id, one]) => ({ kind: 'variant' as const, id, fails: [], ...one })),
];

/**
 * Runs the suites against every fault and every variant of the mock.
 *
 * @returns the matrix as text or JSON, and its gaps
 */
export async function selfTest(fixture: Fixture, seed: number, json: boolean) {
  const share: Share = { fixture, seed, from: 1, step: 2 };
  const worker = new Worker(new URL('./self-test-worker.mjs', import.meta.url), { workerData: share });
  const theirs = once(worker, 'message') as Promise<[readonly Kill[]]>;
  const mine = await killsOf({ fixture, seed, from: 0, step: 2 });
  const kills = [...mine, ...(await theirs)[0]];
  const found = gaps(kills, judgedIds);
  const text = json
    ? `${JSON.stringify({ seed, gaps: found, kills }, undefined, 1)}\n`
    : renderMatrix(kills, judgedIds);
  return { text, gaps: found };
}

async function killsOf({ fixture, seed, from, step }: Share): Promise<readonly Kill[]> {
  const kills: Kill[] = [];
  const share = entries.filter((_, nth) => nth % step === from);
  for (const { kind, id, change, fails: expected } of share) {
    const record = await verifyMock(change(reference), { fixture, seed, cases: CASES });
    const unsettled = record.requirements
      .filter(({ level, outcome }) => level !== 'observed' && outcome !== 'passed' && outcome !== 'failed')
      .map((result) => result.id);
    kills.push({ kind, id, failed: failedIds(record), unsettled, expected });
  }
  return kills;
}

/**
 * What is wrong with a matrix: a fault that fails other requirements than expected, a variant that fails
 * one or leaves one open, a requirement that no fault fails alone.
 *
 * @param ids every required and recommended requirement
 */
export function gaps(kills: readonly Kill[], ids: readonly string[]): readonly string[] {
  const alone = new Set(
    kills.flatMap(({ kind, failed }) => (kind === 'fault' && failed.length === 1 ? failed : [])),
  );
  return [
    ...kills.flatMap(({ kind, id, failed, expected, unsettled }) => [
      ...expected
        .filter((name) => !failed.includes(name))
        .map((name) => `${name} did not catch the ${kind} ${id}`),
      ...failed
        .filter((name) => !expected.includes(name))
        .map((name) => `${name} failed for the ${kind} ${id}, which does not break it`),
      ...(kind === 'variant' ? unsettled.map((name) => `${name} could not judge the variant ${id}`) : []),
    ]),
    ...ids.filter((id) => !alone.has(id)).map((id) => `no fault fails ${id} and nothing else`),
  ];
}

function renderMatrix(kills: readonly Kill[], ids: readonly string[]): string {
  const killedFaults = kills.filter(({ kind }) => kind === 'fault');
  const rows = ids.map((id) => {
    const catchers = killedFaults.filter(({ failed }) => failed.includes(id));
    const alone = catchers.filter(({ failed }) => failed.length === 1);
    const names = (alone.length > 0 ? alone : catchers).slice(0, 3).map((fault) => fault.id);
    return `  ${id.padEnd(46)} ${String(catchers.length).padStart(4)} ${String(alone.length).padStart(6)}  ${names.join(', ')}`;
  });
  const found = gaps(kills, ids);
  const caught = killedFaults.filter(({ failed }) => failed.length > 0).length;
  const variantCount = kills.length - killedFaults.length;
  return [
    `  ${'requirement'.padEnd(46)} kills  alone  such as`,
    ...rows,
    '',
    `${caught} of ${killedFaults.length} faults caught; ${variantCount} variants; ${ids.length} requirements`,
    ...(found.length === 0
      ? ['no gaps: every fault fails what it breaks, and every variant passes']
      : found.map((gap) => `gap: ${gap}`)),
    '',
  ].join('\n');
}

// The second thread of `selfTest` loads this file as well.
if (!isMainThread) {
  const kills = await killsOf(workerData as Share);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(kills);
}
