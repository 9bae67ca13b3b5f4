import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { reference } from '../mock/behaviour.ts';
import { faults } from '../mock/faults.ts';
import { combinedFaults } from '../mock/faults/combined.ts';
import { variants } from '../mock/variants.ts';
import type { Fixture, RunRecord } from '../schemas/generated/types.ts';
import { catalogue } from '../suites/index.ts';
import { ENOUGH_CASES, failedIds, limits, verifyMock } from './canary.ts';

/** Result of a run against a mock with one fault or variant. */
export interface FaultRun {
  readonly kind: 'fault' | 'variant';
  readonly id: string;
  /** Required and recommended requirements that failed. */
  readonly failed: readonly string[];
  /** Requirements that neither passed nor failed. */
  readonly unsettled: readonly string[];
  /** Requirements that should fail: none for a variant. */
  readonly expected: readonly string[];
}

/** Result of a run against a mock with a generated fault. */
export interface CombinedRun {
  readonly id: string;
  /** Number of conditions in addition to the place. */
  readonly conditions: 1 | 2;
  readonly isCaught: boolean;
  /** Whether a failed requirement names exactly the conditions of the fault. */
  readonly isExact: boolean;
}

/** One thread's share of the work: every `step`th entry of the matrix, beginning with `from`. */
export interface Share {
  readonly fixture: Fixture;
  readonly seed: number;
  readonly from: number;
  readonly step: number;
  /** Number of generated faults with one condition, and with two. */
  readonly combined: number;
}

/** Default number of lookups per endpoint. It decides how many triples are found. */
const DEFAULT_CASES = 1500;

/** Minimum percentage of caught faults with two conditions. */
const MIN_PERCENT = 88;

const judgedIds = catalogue.flatMap(({ id, level }) => (level === 'observed' ? [] : [id]));

const entries = [
  ...Object.entries(faults).map(([id, fault]) => ({ kind: 'fault' as const, id, ...fault })),
  ...Object.entries(variants).map(([id, one]) => ({ kind: 'variant' as const, id, fails: [], ...one })),
];

/**
 * Runs the suites against every fault and every variant of the mock, and against generated faults.
 *
 * @param combined number of generated faults with one condition, and with two
 * @returns the matrix as text or JSON, and its gaps
 */
export async function selfTest(fixture: Fixture, seed: number, json: boolean, combined: number) {
  const share: Share = { fixture, seed, from: 1, step: 2, combined };
  const worker = new Worker(new URL('./self-test-worker.mjs', import.meta.url), { workerData: share });
  const other = once(worker, 'message') as Promise<[Awaited<ReturnType<typeof resultsOf>>]>;
  const own = await resultsOf({ ...share, from: 0 });
  const [others] = await other;
  const kills = [...own.kills, ...others.kills];
  const runs = [...own.runs, ...others.runs];
  const found = [...gaps(kills, judgedIds), ...combinedGaps(runs)];
  const text = json
    ? `${JSON.stringify({ seed, gaps: found, kills, combined: runs }, undefined, 1)}\n`
    : renderMatrix(kills, runs, judgedIds, found);
  return { text, gaps: found };
}

const resultsOf = async (share: Share) => ({
  kills: await faultRuns(share),
  runs: await combinedRuns(share),
});

async function faultRuns({ fixture, seed, from, step }: Share): Promise<readonly FaultRun[]> {
  const kills: FaultRun[] = [];
  const share = entries.filter((_, nth) => nth % step === from);
  const limited = { ...fixture, limits };
  for (const { kind, id, change, fails: expected } of share) {
    const record = await verifyMock(change(reference), {
      fixture: limited,
      seed,
      cases: ENOUGH_CASES,
      isBrief: true,
    });
    const unsettled = record.requirements
      .filter(({ level, outcome }) => level !== 'observed' && outcome !== 'passed' && outcome !== 'failed')
      .map((result) => result.id);
    kills.push({ kind, id, failed: failedIds(record), unsettled, expected });
  }
  return kills;
}

async function combinedRuns({ fixture, seed, from, step, combined }: Share): Promise<readonly CombinedRun[]> {
  const runs: CombinedRun[] = [];
  for (const conditions of [1, 2] as const) {
    const some = combinedFaults(conditions, seed).slice(0, combined);
    for (const fault of some.filter((_, nth) => nth % step === from)) {
      const record = await verifyMock(fault.change(reference), { fixture, seed, cases: DEFAULT_CASES });
      const failed = record.requirements.filter(
        ({ level, outcome }) => level === 'required' && outcome === 'failed',
      );
      const isExact = failed.some((result) => namesExactly(fault.where, result));
      runs.push({ id: fault.id, conditions, isCaught: failed.length > 0, isExact });
    }
  }
  return runs;
}

/** Whether a failed requirement names these conditions of a fault and, apart from its place, no others. */
function namesExactly(named: readonly string[], result: RunRecord['requirements'][number]): boolean {
  const where = 'where' in result ? (result.where ?? []) : [];
  const isPlace = (name: string) => /^(?:situation|malformation): |^key: (?:revoked|expired|none)/.test(name);
  return (
    named.every((name) => where.includes(name)) &&
    where.every((name) => isPlace(name) || named.includes(name))
  );
}

/** Returns gaps: each fault with one condition must be caught, and most faults with two. */
export function combinedGaps(runs: readonly CombinedRun[]): readonly string[] {
  const missed = (conditions: 1 | 2) =>
    runs.filter((one) => one.conditions === conditions && !one.isCaught).map(({ id }) => id);
  const triples = runs.filter(({ conditions }) => conditions === 2).length;
  const most = Math.floor((triples * (100 - MIN_PERCENT)) / 100);
  return [
    ...missed(1).map((id) => `nothing caught the generated fault ${id}`),
    ...(missed(2).length > most
      ? missed(2).map((id) => `nothing caught the generated fault ${id}, and at most ${most} may be missed`)
      : []),
  ];
}

/**
 * Returns the gaps of a matrix: a fault that fails other requirements than expected, a variant with a
 * failed or unjudged requirement, a requirement that no fault fails alone.
 *
 * @param ids every required and recommended requirement
 */
export function gaps(kills: readonly FaultRun[], ids: readonly string[]): readonly string[] {
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

function combinedLine(runs: readonly CombinedRun[], conditions: 1 | 2): string {
  const some = runs.filter((one) => one.conditions === conditions);
  const caught = some.filter(({ isCaught }) => isCaught).length;
  const exact = some.filter(({ isExact }) => isExact).length;
  const what = conditions === 1 ? 'a place and one condition' : 'a place and two conditions';
  return `${caught} of ${some.length} generated faults with ${what} caught; ${exact} of them with exactly these conditions in the result`;
}

function renderMatrix(
  kills: readonly FaultRun[],
  runs: readonly CombinedRun[],
  ids: readonly string[],
  found: readonly string[],
): string {
  const faultRows = kills.filter(({ kind }) => kind === 'fault');
  const rows = ids.map((id) => {
    const catchers = faultRows.filter(({ failed }) => failed.includes(id));
    const alone = catchers.filter(({ failed }) => failed.length === 1);
    const names = (alone.length > 0 ? alone : catchers).slice(0, 3).map((fault) => fault.id);
    return `  ${id.padEnd(46)} ${String(catchers.length).padStart(4)} ${String(alone.length).padStart(6)}  ${names.join(', ')}`;
  });
  const caught = faultRows.filter(({ failed }) => failed.length > 0).length;
  const variantCount = kills.length - faultRows.length;
  return [
    `  ${'requirement'.padEnd(46)} kills  alone  examples`,
    ...rows,
    '',
    `${caught} of ${faultRows.length} faults caught; ${variantCount} variants; ${ids.length} requirements`,
    combinedLine(runs, 1),
    combinedLine(runs, 2),
    ...(found.length === 0
      ? ['no gaps: every fault fails what it breaks, and every variant passes']
      : found.map((gap) => `gap: ${gap}`)),
    '',
  ].join('\n');
}

// Runs in the second thread of `selfTest`.
if (!isMainThread) {
  const results = await resultsOf(workerData as Share);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(results);
}
