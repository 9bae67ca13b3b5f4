import { checkFixture } from '../../schemas/fixture.ts';
import { keyNames } from '../../schemas/fixture-keys.ts';
import type {
  Fixture,
  FixtureApiKey,
  FixtureDeposit,
  FixtureLimits,
  FixtureUser,
} from '../../schemas/generated/types.ts';
import { Problem } from '../../schemas/problem.ts';
import { isValidId } from '../behaviour.ts';
import { gaugesOf, type Gauge } from '../limiter.ts';
import { checkFields, inputs } from './inputs.ts';
import { redactKey, Refusal, emitChange, timeIn, badRequest } from '../session.ts';
import type { WorldHandle, Sandbox, Session } from '../session.ts';
import { depositNow, expiryOf, keyAt, keyOf, limitsOf, lookUp, valuesOf } from '../world.ts';
import type { ApiKey, Deposit, DepositNow, Execution, Limits, User } from '../world.ts';

/** Filter and page of a list. */
export interface ListQuery {
  /** Only items in this state. */
  readonly state?: string | undefined;
  /** Only items with this text in an id, partner, name or state, in any letter case. */
  readonly contains?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** Returns a page of the matching items, and the total number of matches. */
function toPage<Value, Item extends object>(
  all: readonly Value[],
  shown: (value: Value) => Item,
  { state, contains = '', offset = 0, limit = Infinity }: ListQuery,
) {
  const wanted = contains.trim().toLowerCase();
  const matches = (kept: Value) => {
    const { date_joined: _, ...fields } = shown(kept) as Readonly<Record<string, unknown>>;
    const holds = (value: unknown) => typeof value === 'string' && value.toLowerCase().includes(wanted);
    return (state === undefined || fields['state'] === state) && Object.values(fields).some(holds);
  };
  // Convert only the items on the page: a fixture may have a million.
  const matching = state === undefined && wanted === '' ? all : all.filter(matches);
  return { items: matching.slice(offset, offset + limit).map(shown), total: matching.length };
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
    const problems = error.message
      .split('\n')
      .map((line) =>
        line.replace(/^: /, '').replace(within, '').replace(/^ /, 'the body ').replace(/^\./, ''),
      );
    const [first = ''] = problems;
    const [, ofWhole] = /^the (?:body|fixture) (?:lacks|has an unknown key) "(.*?)"/.exec(first) ?? [];
    const [, place = 'body'] = /^(?!the )([\w$.[\]-]+)[ :]/.exec(first) ?? [];
    throw new Refusal(400, problems.join('\n'), { place: ofWhole ?? place });
  }
}

/** Checks an item like one of a fixture file; `users` are those that it may refer to. */
function readItem<List extends 'users' | 'deposits' | 'apiKeys'>(
  { fixture: { partners } }: Session,
  list: List,
  item: unknown = null,
  users: Fixture['users'] = [],
) {
  const read = readPart({ ...(partners && { partners }), users, [list]: [item] }, `${list}[0]`);
  return read[list]![0] as NonNullable<Fixture[List]>[number];
}

/** Returns functions that list the data of a world. */
export const worldLists = ({ session, peek }: WorldHandle) => ({
  deposits: (query: ListQuery = {}) => {
    const states = ['EXECUTED', 'pending', 'failed'];
    if (query.state !== undefined && !states.includes(query.state))
      throw badRequest('state', `must be one of ${states.join(', ')}`);
    const sandbox = peek();
    return toPage(valuesOf(sandbox.world.deposits), shownDeposit(session, sandbox), query);
  },
  users: (query: ListQuery = {}) => toPage(valuesOf(peek().world.users), (user: User) => user, query),
  keys: (query: ListQuery = {}) => {
    const sandbox = peek();
    return toPage(valuesOf(sandbox.world.keys), shownKey(session, sandbox), query);
  },
});

/** Default amount (USD) of an executed deposit. */
const DEFAULT_AMOUNT = 100;

const shownDeposit = (session: Session, sandbox: Sandbox) => (deposit: Deposit) =>
  depositNow(sandbox.world, deposit, timeIn(session, sandbox));

/** The deposits of a world, by reference_id. */
export interface DepositControls extends ReturnType<typeof depositControls> {}

export function depositControls(place: WorldHandle) {
  const { session, open, peek } = place;
  const findDeposit = ({ world }: Sandbox, id: string) => {
    checkFields(inputs.id, { id });
    const deposit = lookUp(world.deposits, id.toLowerCase());
    if (deposit !== undefined) return deposit;
    throw new Refusal(404, `there is no deposit ${id} here; GET /__admin/deposits lists them`);
  };
  const findPending = (id: string) => {
    const deposit = findDeposit(open(), id);
    const { state } = shownDeposit(session, open())(deposit);
    if (state === 'pending') return deposit;
    throw new Refusal(409, `the deposit is ${state}, which is final; a reset restores it`, { state });
  };
  const save = (what: string, deposit: Deposit) => {
    const sandbox = open();
    sandbox.world.deposits.changed.set(deposit.reference_id.toLowerCase(), deposit);
    emitChange(session, sandbox, `deposit ${deposit.reference_id} ${what}`);
    return shownDeposit(session, sandbox)(deposit);
  };
  return {
    list: (query?: ListQuery): readonly DepositNow[] => worldLists(place).deposits(query).items,
    get: (id: string) => shownDeposit(session, peek())(findDeposit(peek(), id)),
    /** `afterSeconds` counts from now. */
    add: (given: FixtureDeposit) => {
      // The check of the format needs a user. Whether the world has the user is checked below.
      const user_id = String((given as Partial<FixtureDeposit> | null)?.user_id);
      const someUser = { user_id, partner: null, date_joined: '2000-01-01T00:00:00Z' };
      const users = isValidId('user-status', user_id) ? [someUser] : [];
      const deposit = readItem(session, 'deposits', given, users);
      const { reference_id } = deposit;
      const { world } = open();
      if (lookUp(world.users, user_id.toLowerCase()) === undefined)
        throw badRequest('user_id', `${user_id} is not a known user; POST /__admin/users adds one`);
      if (lookUp(world.deposits, reference_id.toLowerCase()) !== undefined)
        throw new Refusal(409, `the deposit ${reference_id} exists already`, { place: 'reference_id' });
      return save('added', { ...deposit, since: timeIn(session, open()) - world.createdAt });
    },
    /** Executes a pending deposit with the given values. Default: those of the fixture, or 100 USD now. */
    execute: (id: string, given: { readonly [Name in keyof Execution]?: number | undefined } = {}) => {
      checkFields(inputs.execute, given);
      const { reference_id, user_id, ...deposit } = findPending(id);
      const planned = deposit.state === 'pending' ? deposit.becomes : undefined;
      const amountInUsd = given.amountInUsd ?? planned?.amountInUsd ?? DEFAULT_AMOUNT;
      const at = given.executedAt ?? planned?.executedAt ?? timeIn(session, open());
      const executedAt = Math.trunc(at);
      return save('executed', { reference_id, user_id, state: 'EXECUTED', amountInUsd, executedAt });
    },
    fail: (id: string) => {
      const { reference_id, user_id } = findPending(id);
      return save('failed', { reference_id, user_id, state: 'failed' });
    },
  } as const;
}

/** The users of a world. */
export interface UserControls extends ReturnType<typeof userControls> {}

export function userControls(place: WorldHandle) {
  const { session, open } = place;
  return {
    list: (query?: ListQuery): readonly User[] => worldLists(place).users(query).items,
    add: (given: FixtureUser): User => {
      const user = readItem(session, 'users', given);
      const sandbox = open();
      const id = user.user_id.toLowerCase();
      if (lookUp(sandbox.world.users, id) !== undefined)
        throw new Refusal(409, `the user ${user.user_id} exists already`, { place: 'user_id' });
      sandbox.world.users.changed.set(id, user);
      emitChange(session, sandbox, `user ${user.user_id} added`);
      return user;
    },
  } as const;
}

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

const shownKey =
  (session: Session, sandbox: Sandbox) =>
  (key: ApiKey): ShownKey => {
    const expiresAt = expiryOf(sandbox.world, key);
    return {
      name: key.name,
      ...(session.arePublicKeys && session.facts.keys.has(key.key) && { key: key.key }),
      partner: key.partner,
      state: keyAt(sandbox.world, key, timeIn(session, sandbox)).state,
      ...(expiresAt !== undefined && { expiresAt }),
      ...(key.limits && { limits: shownLimits(key.limits) }),
    };
  };

/**
 * Finds a key of a world by its value or name.
 *
 * @throws Refusal with this status if there is none
 */
export function findKeyByName({ world: { keys } }: Sandbox, asked: string, status: number): ApiKey {
  const isNamed = ({ name }: ApiKey) => name === asked || name === `<key ${asked}>`;
  const key = lookUp(keys, asked) ?? valuesOf(keys).find(isNamed);
  if (key !== undefined) return key;
  // The message does not repeat the text: it may be a key.
  throw new Refusal(status, 'there is no such key here; GET /__admin/keys lists their names', {
    place: 'key',
  });
}

/** Returns the state in the name of a key, which is its initial state. */
const namedState = ({ name }: ApiKey) =>
  /\/(active|revoked|expired)(?:\/\d+)?>$/.exec(name)![1] as ApiKey['state'];

/** The keys of a world. Calls take a key or its name in the list: `<key northwind/active>`. */
export interface KeyControls extends ReturnType<typeof keyControls> {}

export function keyControls(place: WorldHandle) {
  const { session, open } = place;
  const save = (sandbox: Sandbox, key: ApiKey, what: string) => {
    sandbox.world.keys.changed.set(key.key, key);
    emitChange(session, sandbox, `${key.name} ${what}`);
    return shownKey(session, sandbox)(key);
  };
  const endKey = (asked: string, state: 'revoked' | 'expired') => {
    checkFields(inputs.key, { key: asked });
    const sandbox = open();
    const key = findKeyByName(sandbox, asked, 404);
    const now = keyAt(sandbox.world, key, timeIn(session, sandbox)).state;
    if (now === state || now === 'revoked')
      throw new Refusal(409, `${key.name} is ${now} already`, { state: now });
    return save(sandbox, { ...key, state }, state);
  };
  return {
    list: (query?: ListQuery): readonly ShownKey[] => worldLists(place).keys(query).items,
    /** `expiresAfterSeconds` counts from now. */
    add: (given: FixtureApiKey) => {
      const added = readItem(session, 'apiKeys', given);
      const sandbox = open();
      const { keys } = sandbox.world;
      if (lookUp(keys, added.key) !== undefined)
        throw new Refusal(409, 'this key exists already', { place: 'key' });
      const others = valuesOf(keys).map((key) => ({ ...key, limits: {}, state: namedState(key) }));
      const name = keyNames([...others, added]).at(-1)!;
      const key = { ...keyOf(added, name), since: timeIn(session, sandbox) - sandbox.world.createdAt };
      redactKey(session, key);
      return save(sandbox, key, 'added');
    },
    revoke: (key: string) => endKey(key, 'revoked'),
    expire: (key: string) => endKey(key, 'expired'),
  } as const;
}

/** The limits for all keys, and the state of each limiter. */
export interface ShownLimits {
  readonly limits: FixtureLimits;
  readonly gauges: readonly Gauge[];
}

/** New limits by endpoint; `null` removes one. */
export type LimitChange = { readonly [Name in keyof FixtureLimits]?: FixtureLimits[Name] | null };

/** The limits for all keys of a world. */
export interface LimitControls extends ReturnType<typeof limitControls> {}

export function limitControls({ session, open, peek }: WorldHandle) {
  const shown = (sandbox: Sandbox): ShownLimits => {
    const { world, service } = sandbox;
    const gauges = gaugesOf(service.behaviour, world, timeIn(session, sandbox));
    return { limits: shownLimits(world.limits), gauges };
  };
  return {
    get: () => shown(peek()),
    /** Sets the limits of the given endpoints. `null` removes one, and `{}` removes all. */
    set: (given: LimitChange) => {
      const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
      const named = isObject ? Object.entries(given).filter(([, limit]) => limit !== null) : [];
      const { limits } = readPart(
        { limits: isObject ? Object.fromEntries(named) : (given ?? null) },
        'limits',
      );
      const sandbox = open();
      const kept = Object.entries(sandbox.world.limits).filter(([name]) => !Object.hasOwn(given, name));
      const others = Object.keys(given).length === 0 ? {} : Object.fromEntries(kept);
      sandbox.world = { ...sandbox.world, limits: { ...others, ...limitsOf(limits!) } };
      emitChange(session, sandbox, 'limits set');
      return shown(sandbox);
    },
  } as const;
}
