import { setMaxListeners } from 'node:events';
import type { RunRecord } from '../../schemas/generated/types.ts';
import { Problem } from '../../schemas/problem.ts';
import { findableId } from '../inputs/uuids.ts';
import { userStatus } from '../request.ts';
import type { Doors, Requirement, Watch } from '../requirement.ts';
import { noStateHook, unjudged, type Verdict } from '../verdict.ts';
import { createClient } from './client.ts';
import { createCourier, type Courier } from './courier.ts';
import { createDoors } from './doors.ts';
import { judgeProperty, type PropertyContext } from './judge-property.ts';
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
  const quota = createQuota({
    clock,
    limits: known.limits,
    deadline,
    random: options.random,
    signal,
  });
  const courier = createCourier({
    client,
    known,
    quota,
    signal,
    mostTroubles: Math.max(10, 2 * concurrency),
    onAnswer: watchers.see,
  });
  try {
    const silence = await preflight(courier, options);
    const context = {
      property: {
        known,
        courier,
        draw: { seed, cases },
        concurrency,
        ...(options.path === undefined ? {} : { path: options.path }),
      },
      doors: createDoors(courier, clock, signal, cases, deadline, options.stateHook),
      watchers,
    };
    const results = new Map<Requirement, Result>();
    const work = async (requirement: Requirement) => {
      options.onProgress?.({
        done: results.size,
        total: requirements.length,
        requirement: requirement.id,
        requests: courier.sent(),
        elapsedMs: clock.stopwatch() - begun,
      });
      results.set(requirement, await judge(requirement, options, context, silence));
    };
    for (const lanes of schedule(requirements))
      await Promise.all(
        lanes.map(async (lane) => {
          for (const requirement of lane) await work(requirement);
        }),
      );
    return makeRecord(options, results, {
      startedAt,
      durationMs: Math.round(clock.stopwatch() - begun),
      requests: courier.sent(),
      rateLimited: { answers: courier.rateLimited(), waitedMs: quota.waitedMs() },
      keyWorks: courier.keyWorks(),
    });
  } finally {
    await client.close();
  }
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

async function judge(
  requirement: Requirement,
  options: RunOptions,
  context: JudgeContext,
  silence: Verdict | undefined,
): Promise<Result> {
  const { skip, known, signal } = options;
  if (skip.has(requirement.id))
    return { verdict: { kind: 'excluded', reason: 'skipped', words: 'left out on request' }, cases: 0 };
  if (requirement.kind === 'scenario' && requirement.needsStateHook && options.stateHook === undefined)
    return { verdict: noStateHook('nobody but the target can tell'), cases: 0 };
  if (silence !== undefined) return { verdict: silence, cases: 0 };
  if (requirement.kind === 'watch') return context.watchers.judgement(requirement);
  const lack = requirement.lacks(known);
  if (lack !== undefined) return { verdict: lack, cases: 0 };
  if (signal.aborted) return { verdict: unjudged('interrupted', 'the run was interrupted'), cases: 0 };
  try {
    if (requirement.kind === 'property') return await judgeProperty(requirement, context.property);
    const { finding, request, reply, cases } = await requirement.play(context.doors, known);
    const evidence = request !== undefined && reply !== undefined ? { evidence: { request, reply } } : {};
    return { verdict: finding, cases: cases ?? 1, ...evidence };
  } catch (error) {
    if (error instanceof Problem) throw error;
    return {
      verdict: {
        kind: 'broken',
        words: error instanceof Error ? (error.stack ?? error.message) : String(error),
      },
      cases: 0,
    };
  }
}
