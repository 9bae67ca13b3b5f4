import { countsFailures, endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import { catalogue } from '../requirements/catalogue.ts';
import { costOf, SHORT_WAIT_MS, statedLimits, type RateLimit } from '../limits/limit.ts';
import { quietBefore, restAfter, SHORT_PAUSE_MS } from '../limits/trial.ts';
import { isLookupRow, type Scenario } from '../rules/requirement.ts';
import type { Known } from '../known.ts';
import { boundsOf } from './bounds.ts';
import { boundFor } from './budget.ts';
import { createLookups } from '../plan/lookups.ts';
import { timesOf, type Lookup } from '../plan/lookup.ts';
import type { RunOptions } from './run-options.ts';
import type { Need } from '../../schemas/progress.ts';

/** The most lookups of an endpoint that are counted. */
export const MAX_LOOKUPS = 4000;

/** So many triples of an endpoint stand for all. The first ones count more often, so that waits are rather too long. */
const SAMPLE = 400;

/** Requests of a scenario that does not say how many it sends. */
const FEW = 3;

/** What tries a limit sends, in multiples of it, and what stands for an unstated one, if --rate allows it. */
const [TRIES, UNSTATED_MOST, UNSTATED_SECONDS] = [2.25, 1600, 32];

/** How long a run asks again whether a limit is over, if that would take longer than the run, in ms. */
const GIVEN_UP_MS = 8000;

/** How often a limiter of failed lookups rests to be compared with itself. */
const COMPARISONS = 2;

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
  | 'clock'
>;

/** Estimates a run. Nothing is sent. With a state hook, what is known leaves out what it changes. */
export function expectedRun(options: ExpectedRunOptions): Estimate {
  const { known, requirements, skip, seed, cases, plan, stateHook, graceMs, ...bounds } = options;
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
  const tried = endpointNames.filter((endpoint) =>
    scenarios.some((one) => one.phase === 'last' && one.endpoint === endpoint),
  );
  const unstated = Math.min(UNSTATED_MOST, UNSTATED_SECONDS * (options.rate ?? Infinity));
  const triesOf = (endpoint: Endpoint) => TRIES * (limits[endpoint]?.most ?? unstated);
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
    others:
      sumOf(scenarios.filter(({ phase }) => phase !== 'last')) +
      tried.reduce((sum, endpoint) => sum + triesOf(endpoint), 0),
    trialsMs: tried.map((endpoint) => trialMs(endpoint, limits[endpoint])),
    // Changes of data take the grace.
    changesMs: Math.max(isChanging ? 2 * graceMs : 0, becomingMs(scenarios, known)),
    lookupsMs: boundsOf(options, asked).lookupsEndAt - options.clock.now(),
  });
}

/** How long the run waits for deposits that become EXECUTED by themselves, in ms. */
const becomingMs = (scenarios: readonly Scenario[], { becoming }: Known): number =>
  scenarios.some(({ needsChange }) => needsChange === 'transition')
    ? 1000 * Math.max(0, ...becoming.map(({ becomes }) => becomes.afterSeconds ?? 0))
    : 0;

/** How long a run waits to try a limit: a rest, until the key is free again, and for comparisons. */
function trialMs(endpoint: Endpoint, limit: RateLimit | undefined): number {
  if (limit === undefined) return quietBefore(0);
  const { windowMs } = limit;
  const isCompared = countsFailures(endpoint) && windowMs <= SHORT_PAUSE_MS;
  return quietBefore(windowMs) + windowMs + (isCompared ? COMPARISONS * restAfter(windowMs) : 0);
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
  /** Requests of everything that is no lookup. */
  readonly others: number;
  /** How long each trial of a limit waits, and what changes data, in ms. */
  readonly trialsMs: readonly number[];
  readonly changesMs: number;
  /** When lookups end, in ms after the start. */
  readonly lookupsMs: number;
}

/** How far a run gets. Times are in ms, without the response times of the target. */
export interface Estimate {
  readonly requests: number;
  /** The part of the time in which nothing is sent, whatever --rate is. */
  readonly waitsMs: number;
  readonly durationMs: number;
  readonly strength: number;
  /** What each higher strength needs, and last everything. */
  readonly needs: readonly Need[];
}

/**
 * Tells how long a run waits, by arithmetic: each key sends one request less than its limit in a window, so that the
 * nth counted request waits for n / (keys × (limit - 1)) windows. Lookups of triples wait only for short windows.
 */
export function estimate(options: EstimateOptions): Estimate {
  const { stages, limits, keys, rate, maxDurationMs, maxRequests, required, others } = options;
  const perWindow = (endpoint: Endpoint) =>
    Math.max(1, keys) * Math.max(1, (limits[endpoint]?.most ?? Infinity) - 1);
  const windowMs = (endpoint: Endpoint) => limits[endpoint]?.windowMs ?? 0;
  const pacedMs = (requests: number) => (rate === undefined ? 0 : (1000 * requests) / rate);
  /** What is sent by the end of a stage, and how long it waits, if lookups end after so many ms. */
  const sentBy = (stage: number, endMs: number) => {
    const [first, last] = [stages.slice(0, Math.min(stage, 2)), stages.slice(2, stage)];
    const ways = endpointNames.map((endpoint) => {
      const [counted, free] = sums(first, endpoint);
      const [late, lateFree] = sums(last, endpoint);
      const most = Math.floor(endMs / windowMs(endpoint));
      const windows = Math.min(most, windowsFor(counted, perWindow(endpoint)));
      const room = (windows + 1) * perWindow(endpoint);
      return { endpoint, sent: Math.min(counted, room), room, windows, free: free + lateFree, late };
    });
    const waitedMs = Math.max(0, ...ways.map((one) => one.windows * windowMs(one.endpoint)));
    let [requests, waitsMs] = [0, waitedMs];
    for (const { endpoint, sent, room, windows, free, late } of ways) {
      const isShort = windowMs(endpoint) <= SHORT_WAIT_MS;
      // While the other endpoint waited, a limiter was at rest.
      const isRested = windows * windowMs(endpoint) < waitedMs;
      const left = isShort ? Infinity : isRested ? perWindow(endpoint) : room - sent;
      requests += free + sent + Math.min(late, left);
      if (isShort) {
        const all = windowsFor(sent + late, perWindow(endpoint)) * windowMs(endpoint);
        waitsMs = Math.max(waitsMs, Math.min(all, endMs));
      }
    }
    return { requests, waitsMs, durationMs: Math.max(waitsMs, pacedMs(requests)) };
  };
  const steps = stages.slice(0, 2).map((_, nth) => {
    const end = sentBy(nth + 1, Infinity);
    return { ...end, requests: options.boundFor(end.requests + (nth === 0 ? 0 : required)) };
  });
  const isReached = (end: Pick<Estimate, 'requests' | 'durationMs'>) =>
    end.durationMs <= maxDurationMs && end.requests <= maxRequests;
  const missed = steps.findIndex((end) => !isReached(end));
  const strength = missed < 0 ? steps.length : missed;
  /** All that a run does, if lookups end after so many ms and the run after so many. */
  const whole = (lookupsMs: number, endMs: number) => {
    const lookups = sentBy(stages.length, lookupsMs);
    let afterMs = options.changesMs;
    // A trial that would not end in time is given up.
    for (const ms of options.trialsMs)
      afterMs += lookups.durationMs + afterMs + ms <= endMs ? ms : Math.min(ms, quietBefore(0) + GIVEN_UP_MS);
    const requests = Math.round(lookups.requests + others);
    const durationMs = Math.max(lookups.durationMs + afterMs, pacedMs(requests));
    return { requests, waitsMs: lookups.waitsMs + afterMs, durationMs };
  };
  const all = whole(Infinity, Infinity);
  const bounded = whole(options.lookupsMs, maxDurationMs);
  const mostOfSteps = Math.max(...steps.map((end) => end.requests));
  return {
    requests: Math.min(bounded.requests, maxRequests),
    waitsMs: Math.min(bounded.waitsMs, maxDurationMs),
    durationMs: Math.min(bounded.durationMs, maxDurationMs),
    strength,
    needs: [
      ...steps.slice(strength).map((end, nth) => ({
        reaches: `strength ${(strength + nth + 1) as 1 | 2}` as const,
        ...rounded(end),
      })),
      { reaches: 'everything', ...rounded({ ...all, requests: Math.max(all.requests, mostOfSteps) }) },
    ],
  };
}

/** Windows that end before the last of so many counted requests. */
const windowsFor = (counted: number, perWindow: number): number =>
  Math.floor(Math.max(0, Math.round(counted) - 1) / perWindow);

/** Lookups of an endpoint in some stages: those that count at its limiter, and the others. */
function sums(stages: Stages, endpoint: Endpoint): readonly [counted: number, free: number] {
  const own = stages.flat().filter((one) => one.endpoint === endpoint);
  const all = own.reduce((sum, { times }) => sum + times, 0);
  const counted = own.reduce((sum, { cost, times }) => sum + cost * times, 0);
  return [counted, all - counted];
}

/** With a margin: a bound must be enough. */
const rounded = ({ requests, durationMs }: Pick<Estimate, 'requests' | 'durationMs'>) => ({
  durationMs: Math.ceil((1.1 * durationMs) / 60_000) * 60_000,
  requests: Math.ceil((1.2 * requests) / 50) * 50,
});
