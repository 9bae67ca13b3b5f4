import { endpointNames, perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import { catalogue } from '../requirements/catalogue.ts';
import { costOf, statedLimits, type RateLimit } from '../limits/limit.ts';
import { withSpare } from '../plan/entities.ts';
import { isLookupRow, type Scenario } from '../rules/requirement.ts';
import { boundFor } from './budget.ts';
import { createLookups } from '../plan/lookups.ts';
import { timesOf, type Lookup } from '../plan/lookup.ts';
import type { RunOptions } from './run-options.ts';
import type { Need } from '../../schemas/progress.ts';

/** The most lookups of an endpoint that are counted. */
const MAX_LOOKUPS = 4000;

/** So many triples of an endpoint stand for all. The first ones count more often, so that waits are rather too long. */
const SAMPLE = 400;

/** Requests of a scenario that does not say how many it sends, and those that try a limit, in multiples of it. */
const [FEW, TRIES] = [3, 4];

export type ExpectedRunOptions = Pick<
  RunOptions,
  | 'known'
  | 'plan'
  | 'requirements'
  | 'skip'
  | 'seed'
  | 'cases'
  | 'rate'
  | 'maxDurationMs'
  | 'maxRequests'
  | 'graceMs'
  | 'stateHook'
>;

/** Estimates a run. Nothing is sent. */
export function expectedRun(options: ExpectedRunOptions): Estimate {
  const { requirements, skip, seed, cases, plan, stateHook, graceMs, ...bounds } = options;
  const known = stateHook === undefined ? options.known : withSpare(options.known);
  const asked = requirements.filter(({ id }) => !skip.has(id));
  const most = Math.min(cases, MAX_LOOKUPS);
  const source = createLookups({ known, seed, cases: most, plan }, asked.filter(isLookupRow));
  const ranks = [
    ['requirement', 'level'],
    ['pair', 'example'],
  ] as const;
  const stages = ranks.map((some) =>
    endpointNames.flatMap((endpoint) => [...source.next(endpoint, ...some)].map(shareOf)),
  );
  // A narrowed run has fewer triples: most are not about its requirements.
  const isWhole = asked.filter(isLookupRow).length === catalogue.filter(isLookupRow).length;
  const triples = endpointNames.flatMap((endpoint) => {
    const left = most - stages.flat().filter((one) => one.endpoint === endpoint).length;
    const lookups = source.next(endpoint, 'triple');
    return isWhole ? sampled(lookups, left) : [...lookups].map(shareOf);
  });
  const limits: Readonly<Partial<Record<Endpoint, RateLimit>>> = statedLimits(known);
  const scenarios = asked.filter((one): one is Scenario => one.kind === 'scenario');
  const tries = endpointNames.map((endpoint) =>
    scenarios.some((one) => one.phase === 'last' && one.endpoint === endpoint)
      ? TRIES * (limits[endpoint]?.most ?? 0)
      : 0,
  );
  const sumOf = (some: readonly Scenario[]) =>
    some.reduce((sum, { sends = FEW, sendsFree = 0 }) => sum + sends + sendsFree, 0);
  const isLimited = scenarios.some(({ phase }) => phase === 'last');
  const isChanging = stateHook !== undefined && scenarios.some((one) => one.needsChange !== undefined);
  return estimate({
    ...bounds,
    rate: options.rate,
    stages: [...stages, triples],
    limits,
    keys: (known.limits.scope ?? 'key') === 'key' ? known.callerKeys.length : 1,
    required: sumOf(scenarios.filter(({ level, phase }) => level === 'required' && phase === undefined)),
    boundFor: (requests) => boundFor(requests, isLimited, isChanging),
    others: sumOf(scenarios.filter(({ phase }) => phase !== 'last')) + tries[0]! + tries[1]!,
    // Each limit is tried once, and changes take the grace.
    othersMs: endpointNames.reduce(
      (sum, name) => sum + (limits[name]?.windowMs ?? 0),
      isChanging ? 2 * graceMs : 0,
    ),
  });
}

/** The first lookups, each as often as it stands for others: `count` in all, unless there are fewer. */
function sampled(lookups: Iterable<Lookup>, count: number): Stages[number] {
  const some: Lookup[] = [];
  for (const one of lookups) {
    some.push(one);
    if (some.length === SAMPLE) break;
  }
  const each = some.length < SAMPLE ? 1 : count / SAMPLE;
  return some.map(shareOf).map(({ times, ...one }) => ({ ...one, times: times * each }));
}

const shareOf = (one: Lookup) => ({ endpoint: one.endpoint, cost: costOf(one.facts), times: timesOf(one) });

/** The lookups of an endpoint that a strength needs, in the order of the run: every level, every pair, and the rest. */
export type Stages = readonly (readonly ReturnType<typeof shareOf>[])[];

export interface EstimateOptions {
  readonly stages: Stages;
  readonly limits: Readonly<Partial<Record<Endpoint, RateLimit>>>;
  /** Number of keys that share the load. */
  readonly keys: number;
  /** Requests per second, if they are bounded. */
  readonly rate: number | undefined;
  readonly maxDurationMs: number;
  readonly maxRequests: number;
  /** Requests of the scenarios that come before pairs. */
  readonly required: number;
  /** The bound of a run in which lookups and these scenarios send so many requests. */
  readonly boundFor: (requests: number) => number;
  /** Requests of everything that is no lookup, and the time of what comes after lookups (ms). */
  readonly others: number;
  readonly othersMs: number;
}

/** How far a run gets. Times are in ms, without the response times of the target. */
export interface Estimate {
  readonly requests: number;
  readonly durationMs: number;
  readonly strength: number;
  /** What each higher strength needs, and last everything. */
  readonly needs: readonly Need[];
}

/**
 * Tells how long a run waits, by arithmetic: each key sends one request less than its limit in a window, so that the
 * nth counted request waits for n / (keys × (limit - 1)) windows.
 */
export function estimate(options: EstimateOptions): Estimate {
  const { stages, limits, keys, rate, maxDurationMs, maxRequests, required, others, othersMs } = options;
  const counted: Record<Endpoint, number> = { ...perEndpoint(() => 0) };
  let requests = 0;
  const ends = stages.map((stage) => {
    for (const { endpoint, cost, times } of stage) {
      requests += times;
      counted[endpoint] += cost * times;
    }
    const waits = endpointNames.map((endpoint) => {
      const { most, windowMs } = limits[endpoint] ?? { most: Infinity, windowMs: 0 };
      const perWindow = Math.max(1, keys) * Math.max(1, most - 1);
      return Math.floor(Math.max(0, Math.round(counted[endpoint]) - 1) / perWindow) * windowMs;
    });
    return {
      requests,
      durationMs: Math.max(...waits, rate === undefined ? 0 : (1000 * requests) / rate),
    };
  });
  const isReached = (end: Pick<Estimate, 'requests' | 'durationMs'>) =>
    end.durationMs <= maxDurationMs && end.requests <= maxRequests;
  const steps = ends.slice(0, 2).map((end, nth) => ({
    ...end,
    requests: options.boundFor(end.requests + (nth === 0 ? 0 : required)),
  }));
  const missed = steps.findIndex((end) => !isReached(end));
  const strength = missed < 0 ? steps.length : missed;
  const last = ends.at(-1)!;
  const mostOfSteps = Math.max(...steps.map((end) => end.requests));
  const all = {
    requests: Math.round(Math.max(last.requests + others, mostOfSteps)),
    durationMs: last.durationMs + othersMs,
  };
  return {
    requests: Math.min(all.requests, maxRequests),
    durationMs: Math.min(all.durationMs, maxDurationMs),
    strength,
    needs: [
      ...steps.slice(strength).map((end, nth) => ({
        reaches: `strength ${(strength + nth + 1) as 1 | 2}` as const,
        ...rounded(end),
      })),
      { reaches: 'everything', ...rounded(all) },
    ],
  };
}

/** With a margin: a bound must be enough. */
const rounded = ({ requests, durationMs }: Pick<Estimate, 'requests' | 'durationMs'>) => ({
  durationMs: Math.ceil((1.1 * durationMs) / 60_000) * 60_000,
  requests: Math.ceil((1.2 * requests) / 50) * 50,
});
