import { namedKeys } from '../../schemas/fixture-keys.ts';
import type { FixtureApiKey, FixtureLimits } from '../../schemas/generated/types.ts';
import { gaugesOf, type Gauge } from '../limiter.ts';
import { Refusal, emitChange, redactKey, timeIn, type WorldHandle, type Sandbox } from '../session.ts';
import { expiryOf, keyAt, keyOf, limitsOf, lookUp, valuesOf, type ApiKey, type Limits } from '../world.ts';
import { listOf, readItem, readPart } from './data.ts';
import { required, text } from './fields.ts';
import { operation, bySchema } from './operation.ts';

const byKey = {
  body: { key: required(text(), 'a key, or its name in GET /__admin/keys') },
  example: { key: 'northwind/active' },
  result: 'shownKey',
  args: (key: string) => [{ key }] as const,
};

/** The keys of a world. Calls take a key or its name in the list: `<key northwind/active>`. */
export const keys = {
  list: listOf(
    'keys',
    'The names of the keys, and their current state. Keys of the built-in fixture are public, and shown.',
    ({ peek }) => valuesOf(peek().world.keys),
    (handle) => (key: ApiKey) => shownKey(handle, handle.peek(), key),
  ),
  add: operation(
    'POST /keys',
    'Adds a key in the format of the fixture; expiresAfterSeconds counts from now.',
    {
      result: 'shownKey',
      body: bySchema<FixtureApiKey>('apiKey'),
      status: 201,
      args: (key: FixtureApiKey) => [key],
      run: addKey,
    },
  ),
  revoke: operation('POST /keys/revoke', 'Makes a key revoked from now on; 409 if it is already.', {
    ...byKey,
    run: (handle, { key }) => endKey(handle, key, 'revoked'),
  }),
  expire: operation('POST /keys/expire', 'Makes a key expired from now on; 409 if it is already.', {
    ...byKey,
    run: (handle, { key }) => endKey(handle, key, 'expired'),
  }),
};

/** The limits for all keys of a world. */
export const limits = {
  get: operation(
    'GET /limits',
    'The limits for all keys, and the state of each limiter, with ms until it frees a request.',
    {
      result: 'shownLimits',
      run: (handle) => shownState(handle, handle.peek()),
    },
  ),
  set: operation(
    'PUT /limits',
    'Sets the limits of the given endpoints for all keys, as in a fixture; null removes one, {} all.',
    {
      result: 'shownLimits',
      body: bySchema<LimitChange>({ type: 'object' }),
      example: { 'deposit-check': { requests: 2, windowSeconds: 60 } },
      args: (change: LimitChange) => [change],
      run: setLimits,
    },
  ),
};

/** A key; `key` is missing if it is secret, and `expiresAt` is in Unix ms. */
export interface ShownKey extends Pick<ApiKey, 'name' | 'partner' | 'state'> {
  readonly key?: string;
  readonly expiresAt?: number;
  readonly limits?: FixtureLimits;
}

function shownLimits({ 'user-status': user, 'deposit-check': deposit }: Limits): FixtureLimits {
  return {
    ...(user && { 'user-status': { failedLookups: user.most, windowSeconds: user.windowMs / 1000 } }),
    ...(deposit && { 'deposit-check': { requests: deposit.most, windowSeconds: deposit.windowMs / 1000 } }),
  };
}

function shownKey({ session }: WorldHandle, sandbox: Sandbox, key: ApiKey): ShownKey {
  const expiresAt = expiryOf(sandbox.world, key);
  return {
    name: key.name,
    ...(session.arePublicKeys && session.facts.keys.has(key.key) && { key: key.key }),
    partner: key.partner,
    state: keyAt(sandbox.world, key, timeIn(session, sandbox)).state,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(key.limits && { limits: shownLimits(key.limits) }),
  };
}

/**
 * Finds a key of a world by its value or name.
 *
 * @throws Refusal with this status if there is none
 */
export function findKeyByName({ world }: Sandbox, asked: string, status: number): ApiKey {
  const isNamed = ({ name }: ApiKey) => name === asked || name === `<key ${asked}>`;
  const key = lookUp(world.keys, asked) ?? valuesOf(world.keys).find(isNamed);
  if (key !== undefined) return key;
  // The message does not repeat the text: it may be a key.
  throw new Refusal(status, 'there is no such key here; GET /__admin/keys lists their names', {
    place: 'key',
  });
}

/** Returns the state in the name of a key, which is its initial state. */
const namedState = ({ name }: ApiKey) =>
  /\/(active|revoked|expired)(?:\/\d+)?>$/.exec(name)![1] as ApiKey['state'];

function save(handle: WorldHandle, sandbox: Sandbox, key: ApiKey, what: string): ShownKey {
  sandbox.world.keys.changed.set(key.key, key);
  emitChange(handle.session, sandbox, `${key.name} ${what}`);
  return shownKey(handle, sandbox, key);
}

function addKey(handle: WorldHandle, given: FixtureApiKey): ShownKey {
  const { session, open } = handle;
  const added = readItem(session, 'apiKeys', given);
  const sandbox = open();
  const all = sandbox.world.keys;
  if (lookUp(all, added.key) !== undefined)
    throw new Refusal(409, 'this key exists already', { place: 'key' });
  const others = valuesOf(all).map((key) => ({ ...key, limits: {}, state: namedState(key) }));
  const { name } = namedKeys([...others, added]).at(-1)!;
  const key = { ...keyOf({ ...added, name }), since: timeIn(session, sandbox) - sandbox.world.createdAt };
  redactKey(session, key);
  return save(handle, sandbox, key, 'added');
}

function endKey(handle: WorldHandle, asked: string, state: 'revoked' | 'expired'): ShownKey {
  const sandbox = handle.open();
  const key = findKeyByName(sandbox, asked, 404);
  const now = keyAt(sandbox.world, key, timeIn(handle.session, sandbox)).state;
  if (now === state || now === 'revoked')
    throw new Refusal(409, `${key.name} is ${now} already`, { state: now });
  return save(handle, sandbox, { ...key, state }, state);
}

/** The limits for all keys, and the state of each limiter. */
export interface ShownLimits {
  readonly limits: FixtureLimits;
  readonly gauges: readonly Gauge[];
}

/** New limits by endpoint; `null` removes one. */
export type LimitChange = { readonly [Name in keyof FixtureLimits]?: FixtureLimits[Name] | null };

function shownState({ session }: WorldHandle, sandbox: Sandbox): ShownLimits {
  const { world, service } = sandbox;
  const gauges = gaugesOf(service.behaviour, world, timeIn(session, sandbox));
  return { limits: shownLimits(world.limits), gauges };
}

function setLimits(handle: WorldHandle, given: LimitChange): ShownLimits {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  const named = isObject ? Object.entries(given).filter(([, limit]) => limit !== null) : [];
  const { limits: read } = readPart(
    { limits: isObject ? Object.fromEntries(named) : (given ?? null) },
    'limits',
  );
  const sandbox = handle.open();
  const kept = Object.entries(sandbox.world.limits).filter(([name]) => !Object.hasOwn(given, name));
  const others = Object.keys(given).length === 0 ? {} : Object.fromEntries(kept);
  sandbox.world = { ...sandbox.world, limits: { ...others, ...limitsOf(read!) } };
  emitChange(handle.session, sandbox, 'limits set');
  return shownState(handle, sandbox);
}
