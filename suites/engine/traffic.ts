import type { EndpointTraffic, Traffic } from '../../schemas/generated/types.ts';
import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { Answer, Reply } from '../answer.ts';
import type { Request } from '../request.ts';
import { createLatencies } from './latencies.ts';
import { createTimeline } from './timeline.ts';

/** What has to be known of a reply. */
type Seen =
  Pick<Answer, 'kind' | 'status' | 'receivedAt' | 'tookMs'> | Pick<Reply & { kind: 'trouble' }, 'kind'>;

/** Counts what goes to and fro, in memory that does not grow with the run. */
export interface TrafficCounter {
  readonly see: (request: Pick<Request, 'endpoint'>, reply: Seen) => void;
  readonly figures: () => Traffic;
}

/** @param startedAt in ms of the engine's clock */
export function createTraffic(startedAt: number): TrafficCounter {
  // In whole ms, as a record states it: what is counted again from a transcript comes to the same.
  const timeline = createTimeline(Math.floor(startedAt));
  const byEndpoint = new Map(names.map((name) => [name, createLatencies()]));
  let last = startedAt;
  return {
    see: ({ endpoint }, reply) => {
      // Nobody notes when an answer did not come: it is put to the one before.
      if (reply.kind === 'trouble') return timeline.add(last, 'troubles');
      last = reply.receivedAt;
      byEndpoint.get(endpoint)?.add(reply.tookMs);
      timeline.add(last, 'answers');
      if (reply.status === 429) timeline.add(last, 'limited');
    },
    figures: () => ({
      endpoints: [...byEndpoint].flatMap(([endpoint, latencies]): readonly EndpointTraffic[] => {
        const figures = latencies.figures();
        return figures === undefined ? [] : [{ endpoint, ...figures }];
      }),
      timeline: timeline.figures(),
    }),
  };
}

const names = Object.keys(endpoints) as readonly Endpoint[];
