import type { Endpoint } from '../schemas/endpoints.ts';
import type { Behaviour } from './behaviour.ts';
import type { Call, Finding } from './exchange.ts';
import { lookUp, type Limit, type World } from './world.ts';

/** Returns the hits in the window at `now` (Unix ms), and the wait until the next request may pass. */
function windowAt(hits: number[], { most, windowMs }: Limit, now: number) {
  // A window may hold many hits: copy it only if some have left it.
  const live = hits[0] === undefined || hits[0] > now ? hits : hits.filter((at) => at > now);
  // A limit of 0 has no hits: the wait is one window.
  const first = live[Math.max(0, live.length - most)] ?? now + windowMs;
  return { live, isLimited: live.length >= most, waitMs: first - now };
}

/** Refuses a call if its limit is used up (Limits); undefined: it may pass. */
export function checkLimit(behaviour: Behaviour, world: World, call: Call, now: number): Finding | undefined {
  const limit = behaviour.limit(world, call.endpoint, call.caller, call);
  if (limit === undefined) return undefined;
  const hits = world.hits[call.endpoint].get(behaviour.limiterKey(call)) ?? [];
  const { isLimited, waitMs } = windowAt(hits, limit, now);
  return isLimited ? { kind: 'limited', waitMs, limit } : undefined;
}

/** Counts a call if its result counts (Limits). */
export function countCall(behaviour: Behaviour, world: World, call: Call, finding: Finding, now: number) {
  const limit = behaviour.limit(world, call.endpoint, call.caller);
  if (limit === undefined || !behaviour.counted[call.endpoint].includes(finding.kind)) return;
  const windows = world.hits[call.endpoint];
  const limiterKey = behaviour.limiterKey(call);
  const { live } = windowAt(windows.get(limiterKey) ?? [], limit, now);
  behaviour.count(live, limit, now);
  windows.set(limiterKey, live);
}

/** The state of one rate limit. */
export interface Gauge {
  readonly endpoint: Endpoint;
  /** Name of the key; `<others>` if the limiter does not count by key. */
  readonly key: string;
  readonly counted: number;
  readonly most: number;
  readonly windowSeconds: number;
  readonly isLimited: boolean;
  /** Ms until the window frees a request; 0 if it is empty. */
  readonly freesInMs: number;
}

/** Returns the state of each rate limit that has counted a request; `now` is in Unix ms. */
export function gaugesOf(behaviour: Behaviour, world: World, now: number): readonly Gauge[] {
  const windows = (Object.keys(world.hits) as Endpoint[]).flatMap((endpoint) =>
    Array.from(world.hits[endpoint], ([limiterKey, hits]) => ({ endpoint, limiterKey, hits })),
  );
  return windows.flatMap(({ endpoint, limiterKey, hits }) => {
    const key = lookUp(world.keys, limiterKey);
    const limit = behaviour.limit(world, endpoint, key);
    if (limit === undefined) return [];
    const { live, isLimited, waitMs } = windowAt(hits, limit, now);
    return {
      endpoint,
      key: key?.name ?? '<others>',
      counted: live.length,
      most: limit.most,
      windowSeconds: limit.windowMs / 1000,
      isLimited,
      freesInMs: live.length === 0 ? 0 : waitMs,
    };
  });
}
