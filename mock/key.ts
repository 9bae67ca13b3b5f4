import type { ApiKey, World } from './world.ts';

/** Unix ms at which a key expires by itself; undefined: never. */
export function expiryOf(
  world: World,
  { expiresAt, expiresAfterSeconds, since }: ApiKey,
): number | undefined {
  if (expiresAt !== undefined) return expiresAt;
  return expiresAfterSeconds === undefined
    ? undefined
    : (since ?? world.createdAt) + expiresAfterSeconds * 1000;
}

/** The key as it is at a time in Unix ms: an active one that has expired by then is expired (Authentication 2). */
export function keyAt(world: World, key: ApiKey, now: number): ApiKey {
  if (key.state !== 'active') return key;
  const expiry = expiryOf(world, key);
  return expiry === undefined || now < expiry ? key : { ...key, state: 'expired' };
}
