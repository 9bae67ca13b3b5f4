import { endpointNames } from '../../schemas/endpoints.ts';
import type { RunRecord, WaitOfRun } from '../../schemas/generated/types.ts';
import type { Need } from '../../schemas/progress.ts';
import { defined } from '../../schemas/values.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Estimate } from './expected-run.ts';
import type { RunOptions } from './run-options.ts';

/** What the run waited for so far, for its record. A wait that was cut short counts as far as it went. */
export function waitsOf({ waits, options }: Limiter): WaitOfRun[] {
  const now = options.clock.now();
  const sums = new Map<string, WaitOfRun>();
  for (const { endpoint, reason, from, until } of waits) {
    const name = `${endpoint} ${reason}`;
    const ms = Math.max(0, Math.round(Math.min(until, now) - from));
    const waitedMs = (sums.get(name)?.waitedMs ?? 0) + ms;
    sums.set(name, { ...defined({ endpoint }), reason, waitedMs });
  }
  return [...sums.values()];
}

/** What the run knows about limiters, for its record. */
export function figuresOf(limiter: Limiter): Omit<RunRecord['rateLimited'], 'answers'> {
  const { remarks, paced, accounts, options } = limiter;
  const waits = waitsOf(limiter);
  const endpoints = endpointNames.map((endpoint) => {
    const limit = paced[endpoint];
    return {
      endpoint,
      waitedMs: waits.reduce((sum, one) => sum + (one.endpoint === endpoint ? one.waitedMs : 0), 0),
      ...defined({
        limit: limit && { requests: limit.most, windowSeconds: limit.windowMs / 1000 },
        contradiction: remarks.get(endpoint),
        scope: options.scope === undefined ? accounts.scopes.get(endpoint) : undefined,
      }),
    };
  });
  return { waitedMs: endpoints.reduce((sum, { waitedMs }) => sum + waitedMs, 0), endpoints };
}

/** What a longer run would reach, in seconds. */
export function needsOf(
  { maxDurationMs, maxRequests }: RunOptions,
  { needs }: Estimate,
): NonNullable<RunRecord['needs']> {
  const isMore = ({ durationMs, requests }: Need) => durationMs > maxDurationMs || requests > maxRequests;
  const inSeconds = ({ durationMs, ...need }: Need) => ({ ...need, seconds: durationMs / 1000 });
  return needs.filter(isMore).map(inSeconds);
}
