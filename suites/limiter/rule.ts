import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';
import type { Rule } from './history.ts';

/** More than any two windows of a rule let through, one after the other. */
export const beyond = ({ most }: Rule): number => 2 * most + 2;

/**
 * Windows that it takes at most to explore a limiter: one in which all is forgotten, one and a third
 * until it lets go, and one more after a second burst.
 */
export const WINDOWS_OF_EXPLORATION = 3.4;

/** What the fixture states of an endpoint's limiter. */
export function statedRule(endpoint: Endpoint, { limits }: Pick<Known, 'limits'>): Rule | undefined {
  const limit = limits[endpoint];
  if (limit === undefined) return undefined;
  return {
    most: 'failedLookups' in limit ? limit.failedLookups : limit.requests,
    windowMs: limit.windowSeconds * 1000,
  };
}
