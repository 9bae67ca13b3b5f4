import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';

/** A rate limit: at most `most` counted requests pass in a window. */
export interface RateLimit {
  readonly most: number;
  readonly windowMs: number;
}

/** More requests than two consecutive windows let pass. */
export const burstSize = ({ most }: RateLimit): number => 2 * most + 2;

/** Windows needed to explore a correct limiter: two of rest, one for the burst, one to see what else counts. */
export const WINDOWS_OF_EXPLORATION = 4;

/** The limit that the fixture states for an endpoint. */
export function statedLimit(endpoint: Endpoint, { limits }: Pick<Known, 'limits'>): RateLimit | undefined {
  const limit = limits[endpoint];
  if (limit === undefined) return undefined;
  return {
    most: 'failedLookups' in limit ? limit.failedLookups : limit.requests,
    windowMs: limit.windowSeconds * 1000,
  };
}
