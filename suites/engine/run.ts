import { setMaxListeners } from 'node:events';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import { redactError } from '../../schemas/redact.ts';
import { suiteOf, type Doors, type Requirement, type Watch } from '../requirement.ts';
import { unjudged } from '../verdict.ts';
import { createBudget } from './budget.ts';
import { createClient } from './client.ts';
import { createCourier } from './courier.ts';
import { createDoors } from './doors.ts';
import { redactor } from './evidence.ts';
import { givenUp } from './given-up.ts';
import { MOST_IN_FLIGHT } from './in-flight.ts';
import { examine, type Examination, type PropertyContext } from './judge-property.ts';
import { guarded, play } from './play.ts';
import { keptBack, limiterMs, limiterRequests } from './plan.ts';
import { createSlots, type Slots } from './pool.ts';
import { preflight, type Silence } from './preflight.ts';
import { createQuota, type Quota } from './quota.ts';
import { createDescriber, makeRecord, type Figures, type Result } from './record.ts';
import type { RunOptions } from './run-options.ts';
import { schedule } from './schedule.ts';
import { createTraffic } from './traffic.ts';
import { walk } from './walk.ts';
import { createWatchers } from './watchers.ts';

/**
 * Drives a target through the requirements and records what holds.
 *
 * @throws Problem with code `unreachable` when no connection to the target comes about
 */
export async function run(options: RunOptions): Promise<RunRecord> {
  const { clock, known, requirements, signal, concurrency, seed, cases, onEvent } = options;
  const startedAt = clock.now();
  const deadline = startedAt + options.maxDurationMs;
  // Every request and every wait listens to it.
  setMaxListeners(Number.POSITIVE_INFINITY, signal);
  const begun = clock.stopwatch();
  const client = (options.connect ?? createClient)({
    ...options.tls,
    ...options,
    connections: Math.max(concurrency, MOST_IN_FLIGHT),
    signal,
    now: clock.now,
    deadline,
  });
  const watchers = createWatchers(
    requirements.filter((requirement): requirement is Watch => requirement.kind === 'watch'),
    known,
  );
  const asked = requirements.filter(({ id }) => !options.skip.has(id));
  // Asked about at every turn of every requirement: of a short list that costs nothing.
  const limiters = asked.filter((requirement) => suiteOf(requirement) === 'rate-limit');
  const budget = createBudget({
    ...options,
    deadline,
    keepBack: keptBack(limiterRequests(limiters, known), options.maxRequests),
  });
  const quota = createQuota({ ...options, budget, limits: known.limits, deadline });
  const traffic = createTraffic(startedAt);
  const courier = createCourier({
    ...options,
    client,
    budget,
    quota,
    mostTroubles: Math.max(10, 2 * concurrency),
    onExchange: (request, reply, of) => {
      onEvent?.({ kind: 'exchange', request, reply, ...(of === undefined ? {} : { of }) });
      traffic.see(request, reply);
      if (reply.kind === 'answer') watchers.see(request, reply);
    },
  });
  /** Depth ends early enough for the limiters to be judged after it. */
  const depthEndsAt = () =>
    deadline - limiterMs(limiters, known, options.maxDurationMs, quota.learned(), options.rate);
  let mustGiveWay = false;
  onEvent?.({ kind: 'start', at: startedAt });
  try {
    const silence = await preflight(courier, known, options.target.href, options.ifRefused);
    const context: JudgeContext = {
      property: {
        known,
        courier,
        draw: { seed, cases },
        ...(onEvent === undefined ? {} : { onEvent }),
        ...(options.path === undefined ? {} : { path: options.path }),
      },
      doors: createDoors({
        courier,
        clock,
        signal,
        cases,
        burstConcurrency: options.burstConcurrency,
        deadline,
        until: () => (mustGiveWay ? depthEndsAt() : undefined),
        ...(options.stateHook === undefined ? {} : { hook: options.stateHook }),
        ...(options.onEvent === undefined ? {} : { onEvent }),
      }),
    };
    const results = new Map<Requirement, RequirementResult>();
    const recordOptions = { ...options, target: options.target.href };
    const describe = createDescriber(recordOptions);
    const settle = (requirement: Requirement, outcome: Result) => {
      const result = describe(requirement, outcome);
      results.set(requirement, result);
      onEvent?.({ kind: 'outcome', result });
    };
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
    const slots = new Map<string, Slots>();
    /** The little that was answered may show a failure, though not that a requirement holds. */
    const failedAlready = (requirement: Requirement) => {
      const seen = requirement.kind === 'watch' ? watchers.judgement(requirement) : undefined;
      return seen?.verdict.kind === 'failed' ? seen : undefined;
    };
    /** Requirements of one endpoint share what may be under way at once. */
    const slotsOf = ({ id }: Requirement) => {
      const endpoint = id.split('/')[1]!;
      const shared = slots.get(endpoint) ?? createSlots(concurrency);
      slots.set(endpoint, shared);
      return shared;
    };
    /** Goes so far with a requirement; what it comes to once that is known. */
    const work = async (requirement: Requirement, inputs: number, onBegun: () => void) => {
      if (results.has(requirement)) return;
      report(requirement);
      const outcome = await guarded(async () => {
        const early =
          givenUp(requirement, { ...options, hasStateHook: options.stateHook !== undefined }) ??
          failedAlready(requirement) ??
          stopped(requirement, options, silence);
        if (early !== undefined) return early;
        if (requirement.kind === 'watch') return watchers.judgement(requirement);
        if (requirement.kind === 'scenario') return play(requirement, context.doors(requirement.id), known);
        const examination =
          examinations.get(requirement) ??
          examine(requirement, { ...context.property, slots: slotsOf(requirement) });
        examinations.set(requirement, examination);
        return examination.advance(inputs, mustGiveWay ? depthEndsAt() : undefined, onBegun);
      });
      if (outcome !== undefined) settle(requirement, outcome);
    };
    for (const { lanes, rounds, givesWay } of schedule(requirements)) {
      mustGiveWay = givesWay;
      // Lanes that draw on one supply of requests keep step; time each of them has for itself.
      const strides = Number.isFinite(options.maxRequests) ? rounds.map((inputs) => [inputs]) : [rounds];
      for (const stride of strides) await Promise.all(lanes.map((lane) => walk(lane, stride, work)));
    }
    for (const [requirement, examination] of examinations)
      if (!results.has(requirement)) settle(requirement, examination.judgement());
    const list = requirements.map((requirement) => results.get(requirement)!);
    const figures: Figures = {
      startedAt,
      durationMs: Math.round(clock.stopwatch() - begun),
      requests: budget.spent(),
      rateLimited: { answers: courier.rateLimited(), waitedMs: quota.waitedMs(), ...learnedBy(quota) },
      keyWorks: courier.keyWorks(),
      interrupted: signal.aborted,
      ...(typeof signal.reason === 'string' ? { interruptedBy: signal.reason } : {}),
    };
    const record = makeRecord(recordOptions, list, figures, traffic.figures());
    onEvent?.({ kind: 'end', verdict: record.verdict, figures });
    return record;
  } catch (error) {
    throw redactError(error, redactor(known, options.headers));
  } finally {
    await client.close();
  }
}

/** Limits that nobody stated, for the record. */
function learnedBy(quota: Quota): Pick<RunRecord['rateLimited'], 'learned'> {
  const learned = Object.entries(quota.learned()).flatMap(([endpoint, { most, windowMs }]) =>
    Number.isFinite(most)
      ? [{ endpoint: endpoint as Endpoint, requests: most, windowSeconds: windowMs / 1000 }]
      : [],
  );
  return learned.length === 0 ? {} : { learned };
}

/** What is left to do, in ms: as long an input as until now, and no longer than there is time. */
function leftOf(examinations: readonly Examination[], elapsedMs: number, leftMs: number) {
  const planned = examinations.reduce((sum, examination) => sum + examination.planned, 0);
  const tried = examinations.reduce((sum, examination) => sum + examination.tried(), 0);
  return tried === 0 ? {} : { leftMs: Math.min(leftMs, (elapsedMs / tried) * (planned - tried)) };
}

interface JudgeContext {
  readonly property: Omit<PropertyContext, 'slots'>;
  readonly doors: (of: string) => Doors;
}

/** What stops a requirement in this run, though another run may judge it. */
function stopped(
  requirement: Requirement,
  { signal, onEvent }: RunOptions,
  silence: Silence | undefined,
): Result | undefined {
  const isInterrupted = requirement.kind !== 'watch' && signal.aborted;
  const why =
    silence ??
    (isInterrupted ? { reason: 'interrupted' as const, words: 'the run was interrupted' } : undefined);
  if (why === undefined) return undefined;
  onEvent?.({ kind: 'stopped', of: requirement.id, ...why });
  return { verdict: unjudged(why.reason, why.words), cases: 0 };
}
