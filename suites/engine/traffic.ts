import type { EndpointTraffic, Traffic, TrafficStep } from '../../schemas/generated/types.ts';
import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Reply } from '../answer.ts';
import type { Request } from '../request.ts';

/** Maximum number of steps of the timeline, and the shortest step in ms. */
const [MAX_STEPS, SHORTEST_STEP] = [120, 10];

/** Histogram buckets per doubling of the latency; index of the first and last one: 2^-4 to 2^20 ms. */
const [PER_DOUBLING, FIRST, LAST] = [8, -4 * 8, 20 * 8 - 1];

/**
 * Counts answers by latency and time.
 *
 * @param startedAt in ms of the engine's clock
 */
export function createTraffic(startedAt: number) {
  // In whole ms, as in the record, so that a transcript gives the same figures.
  const begin = Math.floor(startedAt);
  const latencies = new Map<Endpoint, number[]>(endpointNames.map((name) => [name, []]));
  const events: [afterMs: number, what: keyof TrafficStep][] = [];
  let last = 0;
  return {
    add: ({ endpoint }: Pick<Request, 'endpoint'>, reply: Reply): void => {
      // The time of a failure is unknown: use the time of the answer before.
      if (reply.kind === 'trouble') return void events.push([last, 'troubles']);
      last = Math.max(0, reply.receivedAt - begin);
      latencies.get(endpoint)?.push(reply.tookMs);
      events.push([last, 'answers']);
      if (reply.status === 429) events.push([last, 'limited']);
    },
    figures: (): Traffic => ({
      endpoints: [...latencies].flatMap(([endpoint, list]) =>
        list.length === 0 ? [] : [{ endpoint, ...figuresOf(list.toSorted((a, b) => a - b)) }],
      ),
      timeline: timelineOf(events),
    }),
  };
}

/** @param sorted latencies in ms, the shortest first */
function figuresOf(sorted: readonly number[]): Omit<EndpointTraffic, 'endpoint'> {
  const quantile = (share: number) => rounded(sorted[Math.ceil(share * sorted.length) - 1]!);
  const buckets = new Map<number, number>();
  for (const ms of sorted) {
    const bucket = Math.min(Math.max(Math.floor(Math.log2(ms) * PER_DOUBLING), FIRST), LAST);
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
  }
  const bound = (bucket: number) => rounded(2 ** (bucket / PER_DOUBLING));
  return {
    answers: sorted.length,
    medianMs: quantile(0.5),
    p95Ms: quantile(0.95),
    p99Ms: quantile(0.99),
    maxMs: quantile(1),
    histogram: [...buckets].map(([at, answers]) => ({ fromMs: bound(at), toMs: bound(at + 1), answers })),
  };
}

/** The timeline, with the shortest step that does not need too many steps. */
function timelineOf(events: readonly (readonly [number, keyof TrafficStep])[]): Traffic['timeline'] {
  const end = events.reduce((latest, [ms]) => Math.max(latest, ms), 0);
  let stepMs = SHORTEST_STEP;
  while (Math.floor(end / stepMs) >= MAX_STEPS) stepMs *= 2;
  const length = events.length === 0 ? 0 : Math.floor(end / stepMs) + 1;
  const steps = Array.from({ length }, () => ({ answers: 0, limited: 0, troubles: 0 }));
  for (const [ms, what] of events) steps[Math.floor(ms / stepMs)]![what]++;
  return { stepMs, steps };
}

/** Four digits: more would be noise. */
const rounded = (ms: number) => Number(ms.toPrecision(4));
