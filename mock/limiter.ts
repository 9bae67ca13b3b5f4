import type { Behaviour } from './behaviour.ts';
import type { Call, Finding, Refusal } from './exchange.ts';
import type { World } from './world.ts';

/**
 * Counted requests that still matter in a fixed window: it begins with the first one and they are
 * all forgotten when it ends.
 *
 * @param hits their times in Unix ms, oldest first
 */
export function inFixedWindow(hits: readonly number[], windowMs: number, now: number): readonly number[] {
  const first = hits[0];
  return first !== undefined && now < first + windowMs ? hits : [];
}

/** The refusal of a call whose limiter has been triggered (Limits); undefined where it may pass. */
export function checkLimit(behaviour: Behaviour, world: World, call: Call, now: number): Refusal | undefined {
  const limit = behaviour.limit(world, call.endpoint, call.caller);
  if (limit === undefined) return undefined;
  const hits = behaviour.live(
    world.hits[call.endpoint].get(behaviour.countedFor(call)) ?? [],
    limit.windowMs,
    now,
  );
  if (hits.length < limit.most) return undefined;
  const first = hits[hits.length - limit.most] ?? now;
  return { kind: 'limited', waitMs: Math.max(0, first + limit.windowMs - now), limit };
}

/** Counts a call that was answered, if it is one that counts (Limits). */
export function countCall(
  behaviour: Behaviour,
  world: World,
  call: Call,
  finding: Finding,
  now: number,
): void {
  const limit = behaviour.limit(world, call.endpoint, call.caller);
  if (limit === undefined || !behaviour.counts[call.endpoint].includes(finding.kind)) return;
  const windows = world.hits[call.endpoint];
  const countedFor = behaviour.countedFor(call);
  const counted = windows.get(countedFor);
  const live = behaviour.live(counted ?? [], limit.windowMs, now);
  // A window may hold many: it is copied only when some of it is over.
  if (counted !== undefined && live === counted) counted.push(now);
  else windows.set(countedFor, [...live, now]);
}
