import { defined } from '../../schemas/values.ts';
import { checkFixture } from '../../schemas/fixture.ts';
import type {
  DataFilter,
  Fixture,
  FixtureApiKey,
  FixtureDeposit,
  FixtureUser,
  StateChange,
} from '../../schemas/generated/types.ts';
import { Problem } from '../../schemas/problem.ts';
import { isValidId } from '../server/handler.ts';
import { badRequest, Refusal, refusalOf } from '../server/refusal.ts';
import { timeIn, type ControlContext, type Sandbox, type Session } from './session.ts';
import {
  depositNow,
  executedAs,
  expiryOf,
  keyAt,
  keysOf,
  lookUp,
  planOf,
  settled,
  valuesOf,
  type ApiKey,
  type DepositNow,
  type User,
  type World,
} from '../server/world.ts';

/** Default maximum of items in each list. */
const PAGE = 1000;

/** Returns the items that contain a text, up to the limit, and their number. */
export function pageOf<Value, Item extends object>(
  all: readonly Value[],
  { contains = '', limit = PAGE }: DataFilter,
  shown: (value: Value) => Item,
) {
  const wanted = contains.trim().toLowerCase();
  const holds = (value: unknown) => typeof value === 'string' && value.toLowerCase().includes(wanted);
  const matches = (kept: Value) => {
    const { date_joined: _, ...fields } = shown(kept) as Readonly<Record<string, unknown>>;
    return Object.values(fields).some(holds);
  };
  // Convert only the items on the page: a fixture may have a million.
  const matching = wanted === '' ? all : all.filter(matches);
  return { items: matching.slice(0, limit).map(shown), total: matching.length };
}

/**
 * Checks a part of a fixture like a fixture file.
 *
 * @param within place of the part in the fixture, such as `deposits[0]`
 * @throws Refusal with 400 and the first wrong place
 */
export function readPart(fixture: unknown, within = ''): Fixture {
  try {
    return checkFixture(fixture, '', {});
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const lines = error.message.split('\n').map((line) => line.replace(/^: /, ''));
    const ofBody = lines.map((line) => line.replace('the fixture', 'the body').replace(within, ''));
    throw refusalOf(ofBody.map((line) => line.replace(/^ /, 'the body ').replace(/^\./, '')));
  }
}

/** Checks an item like one of a fixture file; `users` are those that it may refer to. */
function readItem<List extends 'users' | 'deposits' | 'apiKeys'>(
  { served: { fixture } }: Session,
  list: List,
  item: object,
  users: Fixture['users'] = [],
) {
  const { partners } = fixture;
  const read = readPart({ ...(partners && { partners }), users, [list]: [item] }, `${list}[0]`);
  return read[list]![0] as NonNullable<Fixture[List]>[number];
}

/** Checks that a body is an object without the fields that the path has. */
function checkBody(given: unknown, ...inPath: readonly string[]): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw badRequest('', 'the body must be a JSON object');
  for (const name of inPath)
    if (Object.hasOwn(given, name)) throw badRequest(name, 'belongs into the path, not into the body');
}

/** Changes a user, or adds one, who joins now by default. Fields that are not given stay. */
export function setUser(
  { session, sandbox }: ControlContext,
  id: string,
  given: Partial<Omit<FixtureUser, 'user_id'>>,
): User {
  checkBody(given, 'user_id');
  const found = lookUp(sandbox.world.users, id.toLowerCase());
  const user = readItem(session, 'users', {
    user_id: id,
    date_joined: new Date(timeIn(session, sandbox)).toISOString(),
    ...found,
    ...given,
  });
  sandbox.world.users.changed.set(id.toLowerCase(), user);
  return user;
}

/** Default amount (USD) of an executed deposit. */
const DEFAULT_AMOUNT = 100;

/** A change of a deposit in the format of the fixture. */
export type DepositChange = Partial<
  Omit<FixtureDeposit & { amountInUsd: number; executedAt: number; becomes: unknown }, 'reference_id'>
>;

/**
 * Changes a deposit, or adds one. Without another state, fields that are not given stay. `afterSeconds` and
 * `afterPolls` count from now.
 */
export function setDeposit(
  { session, sandbox }: ControlContext,
  id: string,
  given: DepositChange,
): DepositNow {
  checkBody(given, 'reference_id');
  const { world } = sandbox;
  const now = timeIn(session, sandbox);
  const known = lookUp(world.deposits, id.toLowerCase());
  const found = known && settled(world, known, now);
  const { reference_id = id, user_id } = found ?? {};
  const isSame = given.state === undefined || given.state === found?.state;
  const planned = planOf(found);
  const executed = {
    amountInUsd: planned?.amountInUsd ?? DEFAULT_AMOUNT,
    executedAt: planned?.executedAt ?? Math.trunc(now),
  };
  const { since, ...fields } = { since: undefined, ...found };
  const item = {
    ...(isSame ? fields : { user_id, ...(given.state === 'EXECUTED' && executed) }),
    ...given,
    reference_id,
  };
  const deposit = readDeposit(session, world, item);
  if (given.becomes !== undefined || !isSame) {
    world.polls.delete(id.toLowerCase());
    world.foundAt.delete(id.toLowerCase());
  }
  const starts = given.becomes === undefined && isSame ? since : now - world.createdAt;
  const saved = { ...deposit, ...(starts !== undefined && { since: starts }) };
  world.deposits.changed.set(id.toLowerCase(), saved);
  return depositNow(world, saved, now);
}

function readDeposit(session: Session, world: World, item: { readonly user_id?: unknown }) {
  // The check of the format needs a user. Whether the world has the user is checked below.
  const user_id = typeof item.user_id === 'string' ? item.user_id : '';
  const someUser = { user_id, partner: null, date_joined: '2000-01-01T00:00:00Z' };
  const deposit = readItem(session, 'deposits', item, isValidId('user-status', user_id) ? [someUser] : []);
  if (lookUp(world.users, user_id.toLowerCase()) !== undefined) return deposit;
  throw badRequest('user_id', `${user_id} is not a known user; PUT /__admin/users adds one`);
}

/** A key; `key` is missing if it is secret, and `expiresAt` is in Unix ms. */
export interface ShownKey extends Pick<ApiKey, 'name' | 'partner' | 'state' | 'limits'> {
  readonly key?: string;
  readonly expiresAt?: number;
}

export function shownKey(session: Session, sandbox: Sandbox, key: ApiKey): ShownKey {
  const { arePublicKeys, fixture } = session.served;
  const expiresAt = expiryOf(sandbox.world, key);
  return {
    name: key.name,
    ...(arePublicKeys && keysOf(fixture).has(key.key) && { key: key.key }),
    partner: key.partner,
    state: keyAt(sandbox.world, key, timeIn(session, sandbox)).state,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(key.limits && { limits: key.limits }),
  };
}

/** Finds a key of a world by its value or name. */
export function findKey({ world }: Sandbox, asked: string): ApiKey | undefined {
  const isNamed = ({ name }: ApiKey) => name === asked || name === `<key ${asked}>`;
  return lookUp(world.keys, asked) ?? valuesOf(world.keys).find(isNamed);
}

/** Names of new keys. They stand in `<key …>`, and in a path. */
const NEW_NAME = /^[\w./-]{1,100}$/;

/** Changes a key by its value or name. A new one needs `key`. Fields that are not given stay. */
export function setKey(
  { session, sandbox }: ControlContext,
  asked: string,
  given: Partial<FixtureApiKey>,
): ShownKey {
  checkBody(given);
  const found = findKey(sandbox, asked);
  if (found === undefined) checkNewKey(sandbox, asked, given);
  else if (given.key !== undefined) throw badRequest('key', 'cannot be changed: add another one');
  const start: Partial<ApiKey> = found ?? { partner: null, state: 'active' };
  const { name = `<key ${asked}>`, since, expiresAt, expiresAfterSeconds, ...fields } = start;
  const expires = given.expiresAt !== undefined || given.expiresAfterSeconds !== undefined;
  const read = readItem(session, 'apiKeys', {
    ...fields,
    ...(!expires && defined({ expiresAt, expiresAfterSeconds })),
    ...given,
  });
  const starts =
    given.expiresAfterSeconds === undefined ? since : timeIn(session, sandbox) - sandbox.world.createdAt;
  const key = { ...read, name, ...(starts !== undefined && { since: starts }) };
  session.redactor.add({ value: key.key, name, owner: key.partner });
  sandbox.world.keys.changed.set(key.key, key);
  return shownKey(session, sandbox, key);
}

function checkNewKey({ world }: Sandbox, name: string, given: Partial<FixtureApiKey>): void {
  // The message does not repeat the text: it may be a key.
  if (given.key === undefined)
    throw new Refusal(
      404,
      'there is no such key here; GET /__admin/data lists the names. A new one needs "key"',
      { place: 'key' },
    );
  if (!NEW_NAME.test(name) || (typeof given.key === 'string' && name.includes(given.key)))
    throw badRequest(
      'name',
      'of a new key: up to 100 letters, digits, dots, slashes and hyphens, without the key',
    );
  if (lookUp(world.keys, given.key) !== undefined)
    throw new Refusal(409, 'this key exists already', { place: 'key' });
}

/**
 * Sets up or tears down a state of the world, as in Pact.
 *
 * @throws Refusal with 400 for missing parameters
 */
export function applyState({ keys, deposits }: World, change: StateChange): void {
  const { state, params = {}, action = 'setup' } = change;
  const isSetup = action === 'setup';
  if (state === 'key revoked') {
    const key = lookUp(keys, params.key ?? '');
    if (key === undefined) throw badRequest('params', 'need a key of the fixture');
    keys.changed.set(key.key, isSetup ? { ...key, state: 'revoked' } : (keys.base.get(key.key) ?? key));
    return;
  }
  const { reference_id: id = '', amountInUsd, executedAt } = params;
  const deposit = lookUp(deposits, id.toLowerCase());
  if (isSetup && (amountInUsd === undefined || executedAt === undefined))
    throw badRequest('params', 'need amountInUsd (USD) and executedAt (Unix ms)');
  if (deposit === undefined) throw badRequest('params', 'need the reference_id of a deposit of the fixture');
  const executed = executedAs(deposit, { amountInUsd: amountInUsd!, executedAt: executedAt! });
  deposits.changed.set(
    id.toLowerCase(),
    isSetup ? executed : (deposits.base.get(id.toLowerCase()) ?? deposit),
  );
}
