import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';

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
