import type { Endpoint } from '../../schemas/endpoints.ts';
import { defined } from '../../schemas/defined.ts';
import type { Coverage as Covered } from '../../schemas/generated/types.ts';
import { createCoverage } from '../model/coverage.ts';
import type { Known } from '../known.ts';
import type { Rule as Limit } from '../limiter/history.ts';
import { statedRule, WINDOWS_OF_EXPLORATION } from '../limiter/rule.ts';
import { suiteOf, type Requirement, type Rule } from '../requirement.ts';
import { createLookups, idsOf, type Lookup } from './lookups.ts';
import { priceOf } from './sender.ts';
import type { RunOptions } from './run-options.ts';

/** What a run is expected to take, before its first request. Times are ms. */
export interface Plan {
  readonly requests: number;
  /** Waits for limiters and for --rate; what the target itself takes comes on top. */
  readonly durationMs: number;
  /** Counted requests of each endpoint, and what its stated limit makes of them. */
  readonly load: readonly {
    readonly endpoint: Endpoint;
    readonly counted: number;
    readonly keys: number;
    readonly limit?: Limit;
  }[];
  /** Inputs that a requirement gets at most, where that is fewer than were asked for. */
  readonly cutTo?: number;
  /** What makes for the cut. */
  readonly because?: '--max-duration' | '--max-requests';
  /** Requirements that not even one lookup fits for, by id. */
  readonly leftOut: readonly string[];
  /** Endpoints whose stated limit is not compared with the target's: its windows take too long. */
  readonly notCompared: readonly Endpoint[];
  /** What the run would wait for without bounds, where that is more. */
  readonly wholeMs?: number;
  /** What a whole run is going to cover. */
  readonly reached?: { readonly strength: number; readonly coverage: Covered };
}

export type PlanOptions = Pick<
  RunOptions,
  | 'known'
  | 'requirements'
  | 'skip'
  | 'seed'
  | 'cases'
  | 'maxDurationMs'
  | 'maxRequests'
  | 'rate'
  | 'selection'
>;

/** What a scenario takes, about. */
const REQUESTS_OF_SCENARIO = 12;

const endpointsInTurn = ['user-status', 'deposit-check'] as const;

/** Requests that the rate-limit suite sends for each that an endpoint lets through: on user-status it tries three kinds, and members. */
const BURSTS: Readonly<Record<Endpoint, number>> = { 'user-status': 6, 'deposit-check': 3 };

/** What a limiter is taken to let through where nobody states it. */
const MOST_WHERE_UNSTATED = 50;

/** Estimates a run, and how deep it can go within its bounds. */
export function plan(options: PlanOptions): Plan {
  const { known, requirements, skip, maxDurationMs, maxRequests, rate, selection } = options;
  const asked = requirements.filter(({ id }) => !skip.has(id));
  const rules = asked.filter((requirement): requirement is Rule => requirement.kind === 'rule');
  const lookups = endpointsInTurn.map((): Lookup[] => []);
  for (const lists of createLookups(options, rules).inTurn())
    for (const [at, list] of lists.entries()) lookups[at]!.push(...list);
  const limitersMs = limiterMs(asked, known, maxDurationMs, {}, rate);
  const limiters = keptBack(limiterRequests(asked, known), maxRequests);
  const scenarios = asked.filter((one) => one.kind === 'scenario' && suiteOf(one) !== 'rate-limit');
  const load = endpointsInTurn.map((endpoint) => ({
    endpoint,
    counted: scenarios.filter(({ id }) => id.includes(`/${endpoint}/`)).length * REQUESTS_OF_SCENARIO,
    keys: known.callerKeys.length,
    ...defined({ limit: statedRule(endpoint, known) }),
  }));
  let sent = scenarios.length * REQUESTS_OF_SCENARIO;
  const estimate = () => ({
    requests: Math.floor(sent + limiters),
    durationMs: Math.max(...load.map(waitMs), msAt(rate, sent)) + limitersMs,
    load: load.map((one) => ({ ...one })),
  });
  /** By the number of lookups that each endpoint gets. */
  const estimates = [estimate()];
  const deepest = Math.max(...lookups.map((list) => list.length));
  for (let depth = 0; depth < deepest; depth++) {
    for (const [at, list] of lookups.entries()) {
      const { request, times } = list[depth] ?? { times: 0 };
      if (request === undefined) continue;
      sent += times;
      load[at]!.counted += times * priceOf(request, known);
    }
    estimates.push(estimate());
  }
  const whole = estimates[deepest]!;
  const fitting = estimates.findLastIndex(
    ({ durationMs, requests }) => durationMs <= maxDurationMs && requests <= maxRequests,
  );
  const depth = Math.max(fitting, Math.min(1, deepest));
  const taken = lookups.flatMap((list) => list.slice(0, depth));
  const covered = new Set(taken.flatMap(({ request }) => idsOf(request, known)));
  const coverage = createCoverage(known);
  if (selection?.whole === true) for (const one of taken) coverage.take(one.endpoint, one.origin.levels);
  const wholeMs = whole.durationMs - limitersMs + limiterMs(asked, known, Number.POSITIVE_INFINITY, {}, rate);
  const isCut = fitting < deepest;
  return {
    ...estimates[depth]!,
    durationMs: Math.min(estimates[depth]!.durationMs, maxDurationMs),
    notCompared: windowsOf(asked, known, maxDurationMs, {})
      .filter(({ fits }) => !fits)
      .map(({ endpoint }) => endpoint),
    leftOut: rules
      .filter(({ id, holds }) => isCut && holds === undefined && !covered.has(id))
      .map(({ id }) => id),
    ...(wholeMs > maxDurationMs ? { wholeMs } : {}),
    ...(selection?.whole === true ? { reached: coverage.figures() } : {}),
    ...(isCut
      ? {
          cutTo: depth,
          because: whole.durationMs > maxDurationMs ? '--max-duration' : '--max-requests',
        }
      : {}),
  };
}

/** What is kept back of --max-requests for the limiters, which come last: never more than half. */
export const keptBack = (needed: number, bound: number) => Math.min(needed, bound / 2);

/** Part of a run that is kept for a limiter whose windows would take more than half of it: it is only made to set in. */
const LEAST_PART = 1 / 20;

/**
 * Time (ms) that is kept back for the rate-limit suite at the end of a run, by the limits that are stated or
 * were learned, and at so many requests a second; 0 where it is not asked for. Never more than half of the run.
 */
export function limiterMs(
  requirements: readonly Requirement[],
  known: Known,
  maxDurationMs: number,
  learned: Readonly<Partial<Record<Endpoint, { readonly windowMs: number }>>> = {},
  rate?: number,
): number {
  const compared = windowsOf(requirements, known, maxDurationMs, learned);
  const sum = compared.reduce((ms, { neededMs, fits }) => (fits ? ms + neededMs : ms), 0);
  const least = compared.every(({ fits }) => fits) ? 0 : LEAST_PART * maxDurationMs;
  return Math.min(maxDurationMs / 2, Math.max(sum + least, msAt(rate, limiterRequests(requirements, known))));
}

/** What it takes to drive each limiter from rest, one endpoint after the other, and whether half of a run suffices. */
function windowsOf(
  requirements: readonly Requirement[],
  known: Known,
  maxDurationMs: number,
  learned: Readonly<Partial<Record<Endpoint, { readonly windowMs: number }>>>,
) {
  let sum = 0;
  return limitersOf(requirements).map((endpoint) => {
    const windowMs = (statedRule(endpoint, known) ?? learned[endpoint])?.windowMs ?? 0;
    const neededMs = WINDOWS_OF_EXPLORATION * windowMs;
    const fits = sum + neededMs <= maxDurationMs / 2;
    if (fits) sum += neededMs;
    return { endpoint, neededMs, fits };
  });
}

/** Requests that the rate-limit suite needs at the end of a run. */
export function limiterRequests(requirements: readonly Requirement[], known: Known): number {
  return limitersOf(requirements).reduce(
    (sum, endpoint) => sum + BURSTS[endpoint] * (statedRule(endpoint, known)?.most ?? MOST_WHERE_UNSTATED),
    0,
  );
}

/** Endpoints whose limiter is asked about. */
const limitersOf = (requirements: readonly Requirement[]) =>
  endpointsInTurn.filter((endpoint) =>
    requirements.some(({ id, kind }) => kind === 'scenario' && id.startsWith(`rate-limit/${endpoint}/`)),
  );

/** What so many requests take at so many a second, in ms. */
const msAt = (rate: number | undefined, requests: number) =>
  rate === undefined ? 0 : (requests / rate) * 1000;

/** One counted request of each window is kept back; what fits into the first window waits for nothing. */
function waitMs({ counted, keys, limit }: Plan['load'][number]): number {
  if (limit === undefined || keys === 0) return 0;
  const inWindow = keys * Math.max(1, limit.most - 1);
  return Math.max(0, Math.ceil(counted / inWindow) - 1) * limit.windowMs;
}
