import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';
import type { Rule } from './history.ts';

/** More requests than two consecutive windows let pass. */
export const beyond = ({ most }: Rule): number => 2 * most + 2;

/** Windows needed to explore a correct limiter: two of rest, one for the burst, one to see what else counts. */
export const WINDOWS_OF_EXPLORATION = 4;

/** The limit that the fixture states for an endpoint. */
export function statedRule(endpoint: Endpoint, { limits }: Pick<Known, 'limits'>): Rule | undefined {
  const limit = limits[endpoint];
  if (limit === undefined) return undefined;
  return {
    most: 'failedLookups' in limit ? limit.failedLookups : limit.requests,
    windowMs: limit.windowSeconds * 1000,
  };
}
