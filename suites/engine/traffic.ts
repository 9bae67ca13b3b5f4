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
  const timeline: Traffic['timeline'] = { stepMs: SHORTEST_STEP, steps: [] };
  let last = 0;
  return {
    add: ({ endpoint }: Pick<Request, 'endpoint'>, reply: Reply): void => {
      if (reply.kind === 'answer') {
        last = Math.max(0, reply.receivedAt - begin);
        latencies.get(endpoint)!.push(reply.tookMs);
      }
      // The time of a failure is unknown: use the time of the answer before.
      const step = stepAt(timeline, last);
      step[reply.kind === 'answer' ? 'answers' : 'troubles']++;
      if (reply.kind === 'answer' && reply.status === 429) step.limited++;
    },
    figures: (): Traffic => ({
      endpoints: [...latencies].flatMap(([endpoint, list]) =>
        list.length === 0 ? [] : [{ endpoint, ...figuresOf(list.toSorted((a, b) => a - b)) }],
      ),
      timeline,
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

/** The step of a time, in ms. Steps become twice as long when there would be too many. */
function stepAt(timeline: Traffic['timeline'], ms: number): TrafficStep {
  while (Math.floor(ms / timeline.stepMs) >= MAX_STEPS) {
    timeline.stepMs *= 2;
    for (const [nth, { answers, limited, troubles }] of timeline.steps.splice(0).entries()) {
      const both = nthOf(timeline.steps, nth >> 1);
      both.answers += answers;
      both.limited += limited;
      both.troubles += troubles;
    }
  }
  return nthOf(timeline.steps, Math.floor(ms / timeline.stepMs));
}

function nthOf(steps: TrafficStep[], nth: number): TrafficStep {
  while (steps.length <= nth) steps.push({ answers: 0, limited: 0, troubles: 0 });
  return steps[nth]!;
}

/** Four digits: more would be noise. */
const rounded = (ms: number) => Number(ms.toPrecision(4));
