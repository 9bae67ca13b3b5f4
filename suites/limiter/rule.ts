import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';
import type { Rule } from './history.ts';

/** What the fixture states of an endpoint's limiter. */
export function statedRule(endpoint: Endpoint, { limits }: Pick<Known, 'limits'>): Rule | undefined {
  const limit = limits[endpoint];
  if (limit === undefined) return undefined;
  return {
    most: 'failedLookups' in limit ? limit.failedLookups : limit.requests,
    windowMs: limit.windowSeconds * 1000,
  };
}
