import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';
import type { Requirement } from '../requirement.ts';

/** A rate limit: at most `most` counted requests pass in a window. */
export interface RateLimit {
  readonly most: number;
  readonly windowMs: number;
}

/** More requests than two consecutive windows let pass. */
export const burstSize = ({ most }: RateLimit): number => 2 * most + 2;

/** Maximum window (ms) in which it is worth another wait to see what else counts. */
export const MAX_WINDOW_TO_COUNT = 10_000;

/** Time (ms) to explore a correct limiter: two windows of rest, one for the burst, and one to see what else counts. */
export const explorationMs = (windowMs: number): number =>
  (windowMs > MAX_WINDOW_TO_COUNT ? 3.5 : 4) * windowMs;

/** The limit that the fixture states for an endpoint. */
export function statedLimit(endpoint: Endpoint, { limits }: Pick<Known, 'limits'>): RateLimit | undefined {
  const limit = limits[endpoint];
  if (limit === undefined) return undefined;
  return {
    most: 'failedLookups' in limit ? limit.failedLookups : limit.requests,
    windowMs: limit.windowSeconds * 1000,
  };
}

/** Requests of the rate-limit suite, as multiples of the limit: user-status tries three kinds, and members. */
const REQUESTS_PER_LIMIT: Readonly<Record<Endpoint, number>> = { 'user-status': 6, 'deposit-check': 3 };

const ASSUMED_LIMIT = 50;

/** Maximum share of a bound reserved for the rate-limit suite, which comes last. */
const MAX_SHARE = 1 / 2;

/** The same of the time, for limits that the fixture states: to compare them is worth more than triples. */
const MAX_STATED_SHARE = 4 / 5;

/** The reserve of --max-requests for the rate-limit suite. */
export const reserveOf = (needed: number, bound: number) => Math.min(needed, MAX_SHARE * bound);

/** Fraction of a run reserved for a limiter whose windows do not fit: it is only triggered. */
const MIN_SHARE = 1 / 20;

/**
 * Time (ms) reserved for the rate-limit suite at the end of a run, by stated or learned limits and --rate. 0 if the
 * suite is not selected.
 */
export function limiterMs(
  requirements: readonly Requirement[],
  known: Known,
  maxDurationMs: number,
  learned: Readonly<Partial<Record<Endpoint, { readonly windowMs: number }>>> = {},
  rate?: number,
): number {
  const compared = timeNeeds(requirements, known, maxDurationMs, learned);
  const sum = compared.reduce((ms, { neededMs, fits }) => (fits ? ms + neededMs : ms), 0);
  const least = compared.every(({ fits }) => fits) ? 0 : MIN_SHARE * maxDurationMs;
  const atRate = Math.min(MAX_SHARE * maxDurationMs, msAt(rate, limiterRequests(requirements, known)));
  return Math.max(sum + least, atRate);
}

/** The time that each limiter needs, one endpoint after the other, and whether it fits into its share of the run. */
export function timeNeeds(
  requirements: readonly Requirement[],
  known: Known,
  maxDurationMs: number,
  learned: Readonly<Partial<Record<Endpoint, { readonly windowMs: number }>>>,
) {
  let sum = 0;
  return limitedEndpoints(requirements).map((endpoint) => {
    const stated = statedLimit(endpoint, known);
    const neededMs = explorationMs((stated ?? learned[endpoint])?.windowMs ?? 0);
    const fits = sum + neededMs <= maxDurationMs * (stated === undefined ? MAX_SHARE : MAX_STATED_SHARE);
    if (fits) sum += neededMs;
    return { endpoint, neededMs, fits };
  });
}

/** Requests that the rate-limit suite needs at the end of a run. */
export function limiterRequests(requirements: readonly Requirement[], known: Known): number {
  return limitedEndpoints(requirements).reduce(
    (sum, endpoint) =>
      sum + REQUESTS_PER_LIMIT[endpoint] * (statedLimit(endpoint, known)?.most ?? ASSUMED_LIMIT),
    0,
  );
}

const limitedEndpoints = (requirements: readonly Requirement[]) =>
  endpointNames.filter((endpoint) =>
    requirements.some(({ id, kind }) => kind === 'scenario' && id.startsWith(`rate-limit/${endpoint}/`)),
  );

/** Time for `requests` at `rate` requests per second, in ms. */
export const msAt = (rate: number | undefined, requests: number) =>
  rate === undefined ? 0 : (requests / rate) * 1000;
