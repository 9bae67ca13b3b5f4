import { setMaxListeners } from 'node:events';
import type { RunRecord } from '../../schemas/generated/types.ts';
import { Problem } from '../../schemas/problem.ts';
import { findableId } from '../inputs/uuids.ts';
import { userStatus } from '../request.ts';
import type { Known } from '../known.ts';
import type { Doors, Requirement, Scenario, Watch } from '../requirement.ts';
import { noStateHook, unjudged, type Verdict } from '../verdict.ts';
import { createBudget } from './budget.ts';
import { createClient } from './client.ts';
import { createCourier, type Courier } from './courier.ts';
import { createDoors } from './doors.ts';
import { examine, type Examination, type PropertyContext } from './judge-property.ts';
import { limiterMs, limiterRequests } from './plan.ts';
import { createQuota } from './quota.ts';
import { makeRecord, type Result } from './record.ts';
import type { RunOptions } from './run-options.ts';
import { schedule } from './schedule.ts';
import { createWatchers, type Watchers } from './watchers.ts';

/**
 * Drives a target through the requirements and records what holds.
 *
 * @throws Problem with code `unreachable` when no connection to the target comes about
 */
export async function run(options: RunOptions): Promise<RunRecord> {
  const { clock, known, requirements, signal, concurrency, seed, cases } = options;
  const startedAt = clock.now();
  const deadline = startedAt + options.maxDurationMs;
  // Every request and every wait listens to it.
  setMaxListeners(Number.POSITIVE_INFINITY, signal);
  const begun = clock.stopwatch();
  const client = (options.connect ?? createClient)({
    ...options.tls,
    ...options,
    connections: Math.max(concurrency, 64),
    signal,
    now: clock.now,
  });
  const watchers = createWatchers(
    requirements.filter((requirement): requirement is Watch => requirement.kind === 'watch'),
    known,
  );
  const asked = requirements.filter(({ id }) => !options.skip.has(id));
  const budget = createBudget({
    ...options,
    deadline,
    keepBack: Math.min(options.maxRequests / 2, limiterRequests(asked, known)),
  });
  const quota = createQuota({ ...options, budget, limits: known.limits, deadline });
  const courier = createCourier({
    ...options,
    client,
    budget,
    quota,
    mostTroubles: Math.max(10, 2 * concurrency),
    onAnswer: watchers.see,
  });
  /** Depth ends early enough for the limiters to be judged after it. */
  const depthEndsAt = () =>
    deadline - Math.min(options.maxDurationMs / 2, limiterMs(asked, known, quota.learned()));
  let mustGiveWay = false;
  try {
    const silence = await preflight(courier, options);
    const context: JudgeContext = {
      property: {
        known,
        courier,
        draw: { seed, cases },
        concurrency,
        ...(options.path === undefined ? {} : { path: options.path }),
      },
      doors: createDoors({
        courier,
        clock,
        signal,
        cases,
        deadline,
        until: () => (mustGiveWay ? depthEndsAt() : undefined),
        ...(options.stateHook === undefined ? {} : { hook: options.stateHook }),
      }),
      watchers,
    };
    const results = new Map<Requirement, Result>();
    const examinations = new Map<Requirement, Examination>();
    const report = (requirement: Requirement) =>
      options.onProgress?.({
        done: results.size,
        total: requirements.length,
        requirement: requirement.id,
        requests: budget.spent(),
        elapsedMs: clock.stopwatch() - begun,
        ...leftOf([...examinations.values()], clock.now() - startedAt, deadline - clock.now()),
        maxDurationMs: options.maxDurationMs,
        maxRequests: options.maxRequests,
      });
    /** Goes so far with a requirement; what it comes to once that is known. */
    const work = async (requirement: Requirement, inputs: number) => {
      if (results.has(requirement)) return;
      report(requirement);
      const outcome = await guarded(async () => {
        const early = beforehand(requirement, options, context, silence);
        if (early !== undefined || requirement.kind === 'watch') return early;
        if (requirement.kind === 'scenario') return play(requirement, context, known);
        const examination = examinations.get(requirement) ?? examine(requirement, context.property);
        examinations.set(requirement, examination);
        return examination.advance(inputs, mustGiveWay ? depthEndsAt() : undefined);
      });
      if (outcome !== undefined) results.set(requirement, outcome);
    };
    for (const { lanes, rounds, givesWay } of schedule(requirements)) {
      mustGiveWay = givesWay;
      await Promise.all(
        lanes.map(async (lane) => {
          for (const inputs of rounds) for (const requirement of lane) await work(requirement, inputs);
        }),
      );
    }
    for (const [requirement, examination] of examinations)
      if (!results.has(requirement)) results.set(requirement, examination.judgement());
    return makeRecord(options, results, {
      startedAt,
      durationMs: Math.round(clock.stopwatch() - begun),
      requests: budget.spent(),
      rateLimited: { answers: courier.rateLimited(), waitedMs: quota.waitedMs() },
      keyWorks: courier.keyWorks(),
    });
  } finally {
    await client.close();
  }
}

/** What is left to do, in ms: as long an input as until now, and no longer than there is time. */
function leftOf(examinations: readonly Examination[], elapsedMs: number, leftMs: number) {
  const planned = examinations.reduce((sum, examination) => sum + examination.planned, 0);
  const tried = examinations.reduce((sum, examination) => sum + examination.tried(), 0);
  return tried === 0 ? {} : { leftMs: Math.min(leftMs, (elapsedMs / tried) * (planned - tried)) };
}

/**
 * Asks once whether anybody answers at all. A target that cannot be reached ends the run; one that
 * says nothing is not asked a thousand times.
 *
 * @returns why nothing can be judged, where that is so
 */
async function preflight(courier: Courier, { known, target }: RunOptions): Promise<Verdict | undefined> {
  const credential = known.callerKeys.length > 0 ? { as: 'caller' as const } : { as: 'none' as const };
  const question = userStatus(findableId('user-status', known), { credential });
  let { reply } = await courier.deliver(question);
  if (reply.kind === 'trouble' && reply.code === 'timeout') ({ reply } = await courier.deliver(question));
  if (reply.kind === 'answer') return undefined;
  if (reply.code === 'timeout')
    return unjudged('timeout', `the target accepts connections but does not answer: ${reply.words}`);
  if (reply.code === 'network') throw new Problem('unreachable', `${target.href}: ${reply.words}`);
  return unjudged(reply.code, reply.words);
}

interface JudgeContext {
  readonly property: PropertyContext;
  readonly doors: Doors;
  readonly watchers: Watchers;
}

/** What can be said of a requirement before anything is sent for it. */
function beforehand(
  requirement: Requirement,
  options: RunOptions,
  context: JudgeContext,
  silence: Verdict | undefined,
): Result | undefined {
  const { skip, known, signal } = options;
  if (skip.has(requirement.id))
    return { verdict: { kind: 'excluded', reason: 'skipped', words: 'left out on request' }, cases: 0 };
  if (requirement.kind === 'scenario' && requirement.needsStateHook && options.stateHook === undefined)
    return { verdict: noStateHook('nobody but the target can tell'), cases: 0 };
  if (silence !== undefined) return { verdict: silence, cases: 0 };
  if (requirement.kind === 'watch') return context.watchers.judgement(requirement);
  const lack = requirement.lacks(known);
  if (lack !== undefined) return { verdict: lack, cases: 0 };
  return signal.aborted
    ? { verdict: unjudged('interrupted', 'the run was interrupted'), cases: 0 }
    : undefined;
}

async function play(scenario: Scenario, { doors }: JudgeContext, known: Known): Promise<Result> {
  const { finding, request, reply, cases } = await scenario.play(doors, known);
  const evidence = request !== undefined && reply !== undefined ? { evidence: { request, reply } } : {};
  return { verdict: finding, cases: cases ?? 1, ...evidence };
}

/** What goes wrong in here is our own bug, and is said to be. */
async function guarded(work: () => Promise<Result | undefined>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) throw error;
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { verdict: { kind: 'broken', words }, cases: 0 };
  }
}
