import type { Endpoint } from '../schemas/endpoints.ts';
import type { Behaviour } from './behaviour.ts';
import { lookIn } from './overlay.ts';
import type { World } from './world.ts';

/** How full a limiter's window is. */
export interface Gauge {
  readonly endpoint: Endpoint;
  /** Name of the key that is counted; where others are counted together, what for. */
  readonly key: string;
  readonly counted: number;
  readonly most: number;
  readonly windowSeconds: number;
  readonly isLimited: boolean;
  /** Until the window lets go, in ms; 0 where it holds nothing. */
  readonly freesInMs: number;
}

/** The limiters of a world that have counted something at a time in Unix ms. */
export function gaugesOf(behaviour: Behaviour, world: World, now: number): readonly Gauge[] {
  const windows = (Object.keys(world.hits) as Endpoint[]).flatMap((endpoint) =>
    Array.from(world.hits[endpoint], ([countedFor, hits]) => ({ endpoint, countedFor, hits })),
  );
  return windows.flatMap(({ endpoint, countedFor, hits }) => {
    const key = lookIn(world.keys, countedFor);
    const limit = behaviour.limit(world, endpoint, key);
    if (limit === undefined) return [];
    const live = behaviour.live(hits, limit.windowMs, now);
    const first = live[Math.max(0, live.length - limit.most)];
    return {
      endpoint,
      key: key?.name ?? '<others>',
      counted: live.length,
      most: limit.most,
      windowSeconds: limit.windowMs / 1000,
      isLimited: live.length >= limit.most,
      freesInMs: first === undefined ? 0 : Math.max(0, first + limit.windowMs - now),
    };
  });
}
