import type { Endpoint } from '../schemas/endpoints.ts';
import type { Behaviour } from './behaviour.ts';
import type { Call, Finding } from './exchange.ts';
import { lookIn, type Limit, type World } from './world.ts';

/** The counted requests that still count at a time in Unix ms, and when the limiter answers again. */
function windowAt(hits: number[], { most, windowMs }: Limit, now: number) {
  // A window may hold many hits: copy it only when some of them are over.
  const live = hits[0] === undefined || hits[0] > now ? hits : hits.filter((at) => at > now);
  // A limit of 0 counts nothing: whoever it refuses waits for a window.
  const first = live[Math.max(0, live.length - most)] ?? now + windowMs;
  return { live, isLimited: live.length >= most, waitMs: first - now };
}

/** The refusal of a call whose limit is used up (Limits); undefined: it may pass. */
export function checkLimit(behaviour: Behaviour, world: World, call: Call, now: number): Finding | undefined {
  const limit = behaviour.limit(world, call.endpoint, call.caller, call);
  if (limit === undefined) return undefined;
  const hits = world.hits[call.endpoint].get(behaviour.countedFor(call)) ?? [];
  const { isLimited, waitMs } = windowAt(hits, limit, now);
  return isLimited ? { kind: 'limited', waitMs, limit } : undefined;
}

/** Counts a call if the limiter counts what it found (Limits). */
export function countCall(behaviour: Behaviour, world: World, call: Call, finding: Finding, now: number) {
  const limit = behaviour.limit(world, call.endpoint, call.caller);
  if (limit === undefined || !behaviour.counts[call.endpoint].includes(finding.kind)) return;
  const windows = world.hits[call.endpoint];
  const countedFor = behaviour.countedFor(call);
  const { live } = windowAt(windows.get(countedFor) ?? [], limit, now);
  behaviour.count(live, limit, now);
  windows.set(countedFor, live);
}

/** How full a limiter's window is. */
export interface Gauge {
  readonly endpoint: Endpoint;
  /** Name of the key; `<others>` where the limiter does not count by key. */
  readonly key: string;
  readonly counted: number;
  readonly most: number;
  readonly windowSeconds: number;
  readonly isLimited: boolean;
  /** Ms until the limiter answers again; 0 where it has counted nothing. */
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
