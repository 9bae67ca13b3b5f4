import { perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import type { Requirement, Scenario } from '../rules/requirement.ts';
import { statedLimits } from '../limits/limit.ts';
import { forChanges, reserveOf } from './budget.ts';
import type { RunOptions } from './run-options.ts';

type BoundsOptions = Pick<
  RunOptions,
  'known' | 'clock' | 'stateHook' | 'maxRequests' | 'maxDurationMs' | 'graceMs' | 'rate'
>;

export type Bounds = ReturnType<typeof boundsOf>;

/** Time for them besides the grace of each: a part of the run, at most so many ms. */
const [CHANGES_PART, MAX_CHANGES_MS] = [1 / 30, 10_000];

/** When the run and its lookups end, in ms of the clock, and what lookups leave for what follows them. */
export function boundsOf(options: BoundsOptions, asked: readonly Requirement[]) {
  const startedAt = options.clock.now();
  const { maxRequests, maxDurationMs, graceMs, stateHook, rate = Infinity } = options;
  const deadline = startedAt + maxDurationMs;
  const isLimited = asked.some((one) => one.kind === 'scenario' && one.phase === 'last');
  const reserve = reserveOf(isLimited, maxRequests, maxDurationMs);
  const isChanging = stateHook !== undefined && asked.some((one) => isMade(one, options));
  const changes = isChanging ? forChanges(maxRequests) : 0;
  const neededMs =
    2 * graceMs + Math.min(MAX_CHANGES_MS, maxDurationMs * CHANGES_PART) + (1000 * changes) / rate;
  const changesMs = isChanging ? Math.min(neededMs, maxDurationMs * 0.4) : 0;
  return {
    startedAt,
    deadline,
    /** Lookups stop here, so that each limit can still be crossed once. */
    lookupsEndAt: deadline - reserve.ms - changesMs,
    isChanging,
    /** Requests, and those at each endpoint that count at its limiter. */
    reserved: reserve.requests + changes,
    reservedCounted: countedAfterLookups(asked, options),
  };
}

/** What changes data after lookups needs a limit, also one that nobody stated. */
export const keptWindowMs = (
  { known, maxDurationMs }: RunOptions,
  longestWindowMs: (endpoint: Endpoint) => number,
  endpoint: Endpoint,
): number =>
  statedLimits(known)[endpoint] === undefined ? Math.min(longestWindowMs(endpoint), maxDurationMs / 4) : 0;

/** Counted requests of a change, before and after it. Members do not count. */
const COUNTED_PER_CHANGE: Readonly<Record<Endpoint, number>> = { 'user-status': 2, 'deposit-check': 8 };

/** Whether a requirement is about a change that the run can see. */
const isMade = (one: Requirement, { stateHook, known }: BoundsOptions): one is Scenario =>
  one.kind === 'scenario' &&
  one.needsChange !== undefined &&
  (stateHook !== undefined || (one.needsChange === 'transition' && known.becoming.length > 0));

/** Counted requests at each endpoint that lookups leave for what changes data after them. */
function countedAfterLookups(
  asked: readonly Requirement[],
  options: BoundsOptions,
): Readonly<Record<Endpoint, number>> {
  return perEndpoint((endpoint) => {
    const changes = asked.filter((one) => isMade(one, options) && one.endpoint === endpoint);
    const limit = statedLimits(options.known)[endpoint]?.most ?? 0;
    return Math.min(COUNTED_PER_CHANGE[endpoint] * changes.length, Math.floor(limit / 2));
  });
}
