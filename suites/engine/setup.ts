import { setMaxListeners } from 'node:events';
import { endpointNames, perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import type { RequirementResult } from '../../schemas/generated/types.ts';
import type { Waiting } from '../../schemas/progress.ts';
import { table } from '../catalogue/catalogue.ts';
import { statedLimits } from '../limits/limit.ts';
import { createLimiter, longestWindowMs, type Limiter, type LimiterOptions } from '../limits/limiter.ts';
import { isLookupRow, type Requirement, type Scenario } from '../catalogue/requirement.ts';
import { inconclusive, type Reason } from '../catalogue/verdict.ts';
import { createBudget, forChanges, reserveOf } from './budget.ts';
import { createClient } from './client.ts';
import { createContexts, MAX_IN_FLIGHT } from './context.ts';
import { createCoverage } from '../model/coverage.ts';
import { createEvaluation } from './evaluation.ts';
import { createLookups } from '../model/lookups.ts';
import { createDescriber, type Result } from './record.ts';
import type { RunOptions } from './run-options.ts';
import { createSender } from './sender.ts';
import { failsAnyway, failuresOf, verdictsOn, type Judgement, type Tally } from './tally.ts';
import type { Lane } from './tasks.ts';

/** Why a run stops before its end. */
export interface Stop {
  readonly reason: Reason;
  readonly words: string;
}

/** Everything that the tasks of a run share. */
export type Run = ReturnType<typeof createRun>;

/** Creates what a run needs. Nothing is sent yet. */
export function createRun(options: RunOptions) {
  const { clock, known, requirements, signal, concurrency, onExchange } = options;
  const startedAt = clock.now();
  // Every request and every wait adds a listener.
  setMaxListeners(Number.POSITIVE_INFINITY, signal);
  const asked = requirements.filter(({ id }) => !options.skip.has(id));
  const rows = asked.filter(isLookupRow);
  const { deadline, lookupsEndAt, isChanging, reserved } = boundsOf(options, asked, startedAt);
  const client = clientFor(options, deadline);
  const evaluation = createEvaluation({ ...options, table, hasStateHook: options.stateHook !== undefined });
  const { tally } = evaluation;
  const budget = createBudget({ ...options, deadline, reserved });
  const findings = newFindings();
  const failing = () => failingOf(asked, tally, findings.results);
  const onWait = (wait: Waiting) => options.onWait?.(wait, failing());
  const reserve = countedAfterLookups(asked, options);
  const limiter = limiterFor({ ...options, onWait }, { budget, deadline, lookupsEndAt, reserved: reserve });
  const endOfLookups = (of: Endpoint) => lookupsEndAt - (isChanging ? keptWindowMs(options, limiter, of) : 0);
  // A target that stalls once loses all requests in flight, of both endpoints.
  const maxLost = Math.max(10, 4 * concurrency);
  const sender = createSender({
    ...options,
    client,
    budget,
    limiter,
    deadline,
    maxLostInARow: maxLost,
    present: tally.present,
    onExchange: (exchange) => {
      onExchange?.(exchange);
      evaluation.addExchange(exchange);
      if (performance.now() - run.reportedAt >= REPORT_MS) report(run);
    },
  });
  const scenarios = asked.filter((one) => one.kind === 'scenario').toSorted((a, b) => rank(a) - rank(b));
  const run = {
    options,
    known,
    startedAt,
    /** Real time, even with a virtual clock. */
    begun: performance.now(),
    client,
    rows,
    evaluation,
    tally,
    budget,
    limiter,
    sender,
    coverage: createCoverage(known),
    maxLost,
    /** Lookups in flight, for each endpoint: one may wait for its limiter while the other goes on. */
    lanes: perEndpoint((): Lane => ({ most: concurrency, isOfLookups: true, inFlight: 0 })),
    /** Lookups stop here (ms of the clock), so that each limit can still be crossed once. */
    lookupsEndAt,
    endOfLookups,
    lookups: createLookups(options, rows),
    /** Required ones come first. */
    scenarios,
    contextOf: createContexts({
      ...options,
      onWait,
      sender,
      deadline,
      untilOf: ({ turn }) => (turn === undefined ? Math.min(...endpointNames.map(endOfLookups)) : undefined),
      verdictsOn: (request, answer) => verdictsOn(tally, request, answer),
      failsAnyway: (request, answer) => failsAnyway(tally, request, answer),
      present: tally.present,
      leftRequests: () => options.maxRequests - budget.spent(),
    }),
    ...findings,
    /** Ids of the requirements that have failed so far. */
    failing,
    describe: createDescriber({ ...options, target: options.target.href }),
  };
  return run;
}

const clientFor = (options: RunOptions, deadline: number) =>
  (options.connect ?? createClient)({
    ...options.tls,
    ...options,
    connections: MAX_IN_FLIGHT,
    now: options.clock.now,
    deadline,
  });

/** Ids of the requirements that have failed so far. */
const failingOf = (asked: readonly Requirement[], tally: Tally, results: Results): readonly string[] =>
  asked
    .filter((one) =>
      isLookupRow(one) ? failuresOf(tally, one).length > 0 : results.get(one)?.outcome === 'failed',
    )
    .map(({ id }) => id);

type Results = ReadonlyMap<Requirement, RequirementResult>;

/** What a run has found so far. */
const newFindings = () => ({
  results: new Map<Requirement, RequirementResult>(),
  explained: new Map<string, Partial<Judgement>>(),
  /** Requests that explained failures. */
  explaining: 0,
  /** Whether lookups were left out, because of a limiter or a bound. */
  isCut: false,
  /** Whether a lookup timed out twice: later ones are not retried, because each would take as long. */
  isHanging: false,
  /** Why the target cannot be judged. */
  stopped: undefined as Stop | undefined,
  /** What the run does, and when that was reported (ms of real time). */
  doing: 'preflight',
  reportedAt: Number.NEGATIVE_INFINITY,
});

/** Required requirements come first: a run that is out of time drops the last ones. */
const rank = ({ level }: Requirement) => ['required', 'recommended', 'observed'].indexOf(level);

/** Time for them besides the grace of each: a part of the run, at most so many ms. */
const [CHANGES_PART, MAX_CHANGES_MS] = [1 / 30, 10_000];

/** When the run and its lookups end, in ms of the clock, and how many requests lookups leave. */
function boundsOf(options: RunOptions, asked: readonly Requirement[], startedAt: number) {
  const { maxRequests, maxDurationMs, graceMs, stateHook, rate = Infinity } = options;
  const deadline = startedAt + maxDurationMs;
  const isLimited = asked.some((one) => one.kind === 'scenario' && one.turn === 'last');
  const reserve = reserveOf(isLimited, maxRequests, maxDurationMs);
  const isChanging = stateHook !== undefined && asked.some((one) => isMade(one, options));
  const changes = isChanging ? forChanges(maxRequests) : 0;
  const neededMs =
    2 * graceMs + Math.min(MAX_CHANGES_MS, maxDurationMs * CHANGES_PART) + (1000 * changes) / rate;
  const changesMs = isChanging ? Math.min(neededMs, maxDurationMs * 0.4) : 0;
  return {
    deadline,
    lookupsEndAt: deadline - reserve.ms - changesMs,
    isChanging,
    reserved: reserve.requests + changes,
  };
}

/** What changes data after lookups needs a limit, also one that nobody stated. */
const keptWindowMs = ({ known, maxDurationMs }: RunOptions, limiter: Limiter, endpoint: Endpoint) =>
  statedLimits(known)[endpoint] === undefined
    ? Math.min(longestWindowMs(limiter, endpoint), maxDurationMs / 4)
    : 0;

const limiterFor = (
  options: RunOptions & { readonly onWait: (waiting: Waiting) => void },
  bounds: Pick<LimiterOptions, 'budget' | 'deadline' | 'lookupsEndAt' | 'reserved'>,
) =>
  createLimiter({
    ...options,
    ...bounds,
    stated: statedLimits(options.known),
    onWait: ({ until, ...wait }) => options.onWait({ ...wait, waitMs: until - options.clock.now() }),
  });

/** Counted requests of a change, before and after it. Members do not count. */
const COUNTED_PER_CHANGE: Readonly<Record<Endpoint, number>> = { 'user-status': 2, 'deposit-check': 8 };

/** Whether a requirement is about a change that the run can see. */
const isMade = (one: Requirement, { stateHook, known }: RunOptions): one is Scenario =>
  one.kind === 'scenario' &&
  one.needsChange !== undefined &&
  (stateHook !== undefined || (one.needsChange === 'transition' && known.becoming.length > 0));

/** Counted requests at each endpoint that lookups leave for what changes data after them. */
function countedAfterLookups(
  asked: readonly Requirement[],
  options: RunOptions,
): Readonly<Record<Endpoint, number>> {
  return perEndpoint((endpoint) => {
    const changes = asked.filter((one) => isMade(one, options) && one.endpoint === endpoint);
    const limit = statedLimits(options.known)[endpoint]?.most ?? 0;
    return Math.min(COUNTED_PER_CHANGE[endpoint] * changes.length, Math.floor(limit / 2));
  });
}

/** Why the run has to stop; undefined if it goes on. */
export const stopOf = ({ stopped, options: { signal } }: Run): Stop | undefined =>
  stopped ?? (signal.aborted ? { reason: 'interrupted', words: 'the run was interrupted' } : undefined);

/** Records the result of a requirement. */
export function finish({ describe, results }: Run, requirement: Requirement, outcome: Result): void {
  results.set(requirement, describe(requirement, outcome));
}

/** Records that a requirement was not checked. */
export function finishStopped(state: Run, requirement: Requirement, why: Stop): void {
  finish(state, requirement, { verdict: inconclusive(why.reason, why.words), cases: 0 });
}

/** Between requests, progress is reported so often, in ms: a person sees a failure when it comes. */
const REPORT_MS = 50;

/** Reports progress: what the run does now. */
export function report(run: Run, doing = run.doing): void {
  const { options, results, budget, begun, failing } = run;
  const { requirements, maxDurationMs, maxRequests } = options;
  const now = performance.now();
  run.doing = doing;
  run.reportedAt = now;
  options.onProgress?.({
    done: results.size,
    total: requirements.length,
    doing,
    requests: budget.spent(),
    elapsedMs: now - begun,
    maxDurationMs,
    maxRequests,
    failing: failing(),
  });
}
