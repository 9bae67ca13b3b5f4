import { endpointNames, countsFailures, perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import type { Call, Finding, FindingKind } from './exchange.ts';
import { limitIn, lookUp, type ApiKey, type Limit, type World } from './world.ts';

/** Counts a request: adds the Unix ms at which it leaves the window. `hits` stays ascending. */
type Count = (hits: number[], limit: Limit, now: number) => void;

/** Kinds of rate limiters that the interface allows (Limits). */
export const limiters = {
  fixedWindow: (hits, { windowMs }, now) => void hits.push(hits[0] ?? now + windowMs),
  slidingWindow: (hits, { windowMs }, now) => void hits.push(now + windowMs),
  alignedWindow: (hits, { windowMs }, now) => void hits.push((Math.floor(now / windowMs) + 1) * windowMs),
  weightedWindow: (hits, { windowMs }, now) => {
    const end = (Math.floor(now / windowMs) + 1) * windowMs;
    const before = hits.filter((at) => at <= end).length;
    const count = hits.length - before + 1;
    // Spread them over the next window, so that they count less and less.
    for (let nth = 0; nth < count; nth++) hits[before + nth] = end + (windowMs * (nth + 0.5)) / count;
  },
  bucket: (hits, { most, windowMs }, now) => void hits.push((hits.at(-1) ?? now) + windowMs / most),
  bucketAtIntervals: (hits, { most, windowMs }, now) => {
    const parts = Math.min(4, most);
    const [perInterval, intervalMs] = [Math.floor(most / parts), windowMs / parts];
    const intervals = Math.ceil((hits.length + 1) / perInterval);
    hits.push((Math.floor(now / intervalMs) + intervals) * intervalMs);
  },
  windowThenBan: (hits, { most, windowMs }, now) => {
    hits.push(hits[0] ?? now + windowMs);
    if (hits.length >= most) hits.fill(now + 3 * windowMs);
  },
} as const satisfies Readonly<Record<string, Count>>;

/** How a rate limiter works. The interface shows no numbers (Limits). */
export interface Limiter {
  /** Returns the limit of an endpoint for a key; undefined: none. */
  readonly limit: (world: World, endpoint: Endpoint, key: ApiKey | undefined) => Limit | undefined;
  /** Returns the name under which a call is counted. */
  readonly limiterKey: (call: Call, world: World) => string;
  /** The findings that count. */
  readonly counted: Readonly<Record<Endpoint, readonly FindingKind[]>>;
  readonly count: Count;
}

const failed: readonly FindingKind[] = ['invalid', 'foreign', 'unknown'];
const others: readonly FindingKind[] = ['notYet', 'executed'];

/** Counts failed lookups, and every request to deposit-check, for each key in a fixed window. */
export const defaultLimiter: Limiter = {
  limit: (world, endpoint, key) => limitIn(key?.limits, endpoint) ?? limitIn(world.limits, endpoint),
  limiterKey: ({ caller, endpoint }, { limits: { scope = 'key' } }) => {
    if (caller === undefined || scope === 'key' || limitIn(caller.limits, endpoint) !== undefined)
      return caller?.key ?? '';
    return scope === 'partner' ? (caller.partner ?? caller.key) : scope;
  },
  counted: perEndpoint((endpoint) => [...failed, ...(countsFailures(endpoint) ? [] : others)]),
  count: limiters.fixedWindow,
};

/** Returns the hits in the window at `now` (Unix ms), and the wait until the next request may pass. */
function windowAt(hits: number[], { most, windowMs }: Limit, now: number) {
  // A window may hold many hits: copy it only if some have left it.
  const live = hits[0] === undefined || hits[0] > now ? hits : hits.filter((at) => at > now);
  // A limit of 0 has no hits: the wait is one window.
  const first = live[Math.max(0, live.length - most)] ?? now + windowMs;
  return { live, isLimited: live.length >= most, waitMs: first - now };
}

/** Refuses a call if its limit is used up (Limits); undefined: it may pass. */
export function checkLimit(limiter: Limiter, world: World, call: Call, now: number): Finding | undefined {
  const limit = limiter.limit(world, call.endpoint, call.caller);
  if (limit === undefined) return undefined;
  const hits = world.hits[call.endpoint].get(limiter.limiterKey(call, world)) ?? [];
  const { isLimited, waitMs } = windowAt(hits, limit, now);
  return isLimited ? { kind: 'limited', waitMs, limit } : undefined;
}

/** Counts a call if its result counts (Limits). */
export function countCall(limiter: Limiter, world: World, call: Call, finding: Finding, now: number): void {
  const limit = limiter.limit(world, call.endpoint, call.caller);
  if (limit === undefined || !limiter.counted[call.endpoint].includes(finding.kind)) return;
  const windows = world.hits[call.endpoint];
  const limiterKey = limiter.limiterKey(call, world);
  const { live } = windowAt(windows.get(limiterKey) ?? [], limit, now);
  limiter.count(live, limit, now);
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
export function gaugesOf(limiter: Limiter, world: World, now: number): readonly Gauge[] {
  return endpointNames.flatMap((endpoint) =>
    [...world.hits[endpoint]].flatMap(([limiterKey, hits]) => {
      const key = lookUp(world.keys, limiterKey);
      const limit = limiter.limit(world, endpoint, key);
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
    }),
  );
}
