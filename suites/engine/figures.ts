import { endpointNames } from '../../schemas/endpoints.ts';
import type { RunRecord } from '../../schemas/generated/types.ts';
import type { Need } from '../../schemas/progress.ts';
import { defined } from '../../schemas/values.ts';
import type { Limiter } from '../limits/limiter.ts';
import { expectedRun } from './expected-run.ts';
import type { RunOptions } from './run-options.ts';

/** What the run knows about limiters, for its record. */
export function figuresOf({ waits, remarks, paced }: Limiter): Omit<RunRecord['rateLimited'], 'answers'> {
  const endpoints = endpointNames.map((endpoint) => {
    const limit = paced[endpoint];
    return {
      endpoint,
      waitedMs: Math.round(waits.get(endpoint)?.sumMs ?? 0),
      ...defined({
        limit: limit && { requests: limit.most, windowSeconds: limit.windowMs / 1000 },
        contradiction: remarks.get(endpoint),
      }),
    };
  });
  return { waitedMs: endpoints.reduce((sum, { waitedMs }) => sum + waitedMs, 0), endpoints };
}

/** What a longer run would reach. */
export function needsOf(options: RunOptions): NonNullable<RunRecord['needs']> {
  const { maxDurationMs, maxRequests } = options;
  if (options.isBrief === true || options.path !== undefined) return [];
  if (maxDurationMs === Infinity && maxRequests === Infinity) return [];
  const isMore = ({ durationMs, requests }: Need) => durationMs > maxDurationMs || requests > maxRequests;
  const inSeconds = ({ durationMs, ...need }: Need) => ({ ...need, seconds: durationMs / 1000 });
  return expectedRun(options).needs.filter(isMore).map(inSeconds);
}
