import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Need } from '../../schemas/progress.ts';
import type { Lookup } from '../engine/lookups.ts';
import type { RateLimit } from './limit.ts';

/** The lookups of an endpoint that a strength needs, in the order of the run: every level, every pair, and the rest. */
export type Stages = readonly (readonly Pick<Lookup, 'endpoint' | 'cost' | 'times'>[])[];

export interface EstimateOptions {
  readonly stages: Stages;
  readonly limits: Readonly<Partial<Record<Endpoint, RateLimit>>>;
  /** Number of keys that share the load. */
  readonly keys: number;
  /** Requests per second, if they are bounded. */
  readonly rate: number | undefined;
  readonly maxDurationMs: number;
  readonly maxRequests: number;
  /** Requests of everything that is no lookup, and the time of what comes after lookups (ms). */
  readonly others: number;
  readonly othersMs: number;
}

/** How far a run gets. Times are in ms, without the response times of the target. */
export interface Estimate {
  readonly requests: number;
  readonly durationMs: number;
  readonly strength: number;
  /** What each higher strength needs, and last everything. */
  readonly needs: readonly Need[];
}

/**
 * Tells how long a run waits, by arithmetic: each key sends one request less than its limit in a window, so that the
 * nth counted request waits for n / (keys × (limit - 1)) windows.
 */
export function estimate(options: EstimateOptions): Estimate {
  const { stages, limits, keys, rate, maxDurationMs, maxRequests, others, othersMs } = options;
  const counted = { 'user-status': 0, 'deposit-check': 0 };
  let requests = 0;
  const ends = stages.map((stage) => {
    for (const { endpoint, cost, times } of stage) {
      requests += times;
      counted[endpoint] += cost * times;
    }
    const waits = endpointNames.map((endpoint) => {
      const { most, windowMs } = limits[endpoint] ?? { most: Infinity, windowMs: 0 };
      const perWindow = Math.max(1, keys) * Math.max(1, most - 1);
      return Math.floor(Math.max(0, counted[endpoint] - 1) / perWindow) * windowMs;
    });
    return { requests, durationMs: Math.max(...waits, rate === undefined ? 0 : (1000 * requests) / rate) };
  });
  const isReached = (end: Pick<Estimate, 'requests' | 'durationMs'>) =>
    end.durationMs <= maxDurationMs && end.requests <= maxRequests;
  const steps = ends.slice(0, 2);
  const missed = steps.findIndex((end) => !isReached(end));
  const strength = missed < 0 ? steps.length : missed;
  const last = ends.at(-1)!;
  const all = { requests: last.requests + others, durationMs: last.durationMs + othersMs };
  return {
    requests: Math.min(all.requests, maxRequests),
    durationMs: Math.min(all.durationMs, maxDurationMs),
    strength,
    needs: [
      ...steps.slice(strength).map((end, nth) => ({
        reaches: `strength ${(strength + nth + 1) as 1 | 2}` as const,
        ...rounded(end),
      })),
      { reaches: 'everything', ...rounded(all) },
    ],
  };
}

/** With a margin: a bound must be enough. */
const rounded = ({ requests, durationMs }: Pick<Estimate, 'requests' | 'durationMs'>) => ({
  durationMs: Math.ceil((1.1 * durationMs) / 60_000) * 60_000,
  requests: Math.ceil((1.2 * requests) / 50) * 50,
});
