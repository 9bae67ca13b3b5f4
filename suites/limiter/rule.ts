import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';
import type { Rule } from './history.ts';

/** More than any two windows of a rule let through, one after the other. */
export const beyond = ({ most }: Rule): number => 2 * most + 2;

/** Windows that it takes to explore a limiter that keeps its promise: two of rest, one, and one to see what else counts. */
export const WINDOWS_OF_EXPLORATION = 4;

/** What the fixture states of an endpoint's limiter. */
export function statedRule(endpoint: Endpoint, { limits }: Pick<Known, 'limits'>): Rule | undefined {
  const limit = limits[endpoint];
  if (limit === undefined) return undefined;
  return {
    most: 'failedLookups' in limit ? limit.failedLookups : limit.requests,
    windowMs: limit.windowSeconds * 1000,
  };
}
