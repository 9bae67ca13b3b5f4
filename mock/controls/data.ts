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
import { isId } from '../behaviour.ts';
import { gaugesOf, type Gauge } from '../limiter.ts';
import { redactAdded, Refusal, tellChange, timeIn, wrongAt } from '../session.ts';
import type { Place, Sandbox, Session } from '../session.ts';
import { depositNow, expiryOf, keyAt, keyOf, limitsOf, lookIn, valuesOf } from '../world.ts';
import type { ApiKey, Deposit, DepositNow, Execution, Limits, User } from '../world.ts';

/** The part of a list to show. */
export interface ListQuery {
  /** Only items in this state. */
  readonly state?: string | undefined;
  /** Only items with this text in an id, a partner, a name or a state, in any letter case. */
  readonly contains?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** A part of a list, and the number of all items that fit. */
function listed<Kept, Item extends object>(
  all: readonly Kept[],
  shown: (kept: Kept) => Item,
  { state, contains = '', offset = 0, limit = Infinity }: ListQuery,
) {
  const wanted = contains.trim().toLowerCase();
  const fits = (kept: Kept) => {
    const fields = Object.entries(shown(kept)).filter(([name]) => name !== 'date_joined');
    const holds = ([, value]: [string, unknown]) =>
      typeof value === 'string' && value.toLowerCase().includes(wanted);
    const hasState = ([name, value]: [string, unknown]) => name === 'state' && value === state;
    return (state === undefined || fields.some(hasState)) && fields.some(holds);
  };
  // Items are shown when that is needed: a fixture may have a million.
  const found = state === undefined && wanted === '' ? all : all.filter(fits);
  return { items: found.slice(offset, offset + limit).map(shown), total: found.length };
}

/**
 * A part of a fixture, checked like a file.
 *
 * @param within where the part stands in that fixture, such as `deposits[0]`
 * @throws Refusal, 400 with the first place that is wrong
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

/** An item of a list of the fixture, checked like one in a file; `users` are those that it may refer to. */
function readItem<List extends 'users' | 'deposits' | 'apiKeys'>(
  { fixture: { partners } }: Session,
  list: List,
  item: unknown = null,
  users: Fixture['users'] = [],
) {
  const read = readPart({ ...(partners && { partners }), users, [list]: [item] }, `${list}[0]`);
  return read[list]![0] as NonNullable<Fixture[List]>[number];
}

/** The lists of a world. */
export const listsIn = ({ session, seen }: Place) => ({
  deposits: (query: ListQuery = {}) => {
    const states = ['EXECUTED', 'pending', 'failed'];
    if (query.state !== undefined && !states.includes(query.state))
      throw wrongAt('state', `must be one of ${states.join(', ')}`);
    const sandbox = seen();
    return listed(valuesOf(sandbox.world.deposits), shownDeposit(session, sandbox), query);
  },
  users: (query: ListQuery = {}) => listed(valuesOf(seen().world.users), (user: User) => user, query),
  keys: (query: ListQuery = {}) => {
    const sandbox = seen();
    return listed(valuesOf(sandbox.world.keys), shownKey(session, sandbox), query);
  },
});

/** Amount (USD) of an executed deposit where neither the call nor the fixture gives one. */
const DEFAULT_AMOUNT = 100;

const shownDeposit = (session: Session, sandbox: Sandbox) => (deposit: Deposit) =>
  depositNow(sandbox.world, deposit, timeIn(session, sandbox));

/** The deposits of a world, by reference_id. */
export interface DepositControls extends ReturnType<typeof depositsIn> {}

export function depositsIn(place: Place) {
  const { session, here, seen } = place;
  const known = ({ world }: Sandbox, id: string) => {
    const deposit = lookIn(world.deposits, id.toLowerCase());
    if (deposit !== undefined) return deposit;
    throw new Refusal(404, `there is no deposit ${id} here; GET /__admin/deposits lists them`);
  };
  const pending = (id: string) => {
    const deposit = known(here(), id);
    const { state } = shownDeposit(session, here())(deposit);
    if (state === 'pending') return deposit;
    throw new Refusal(409, `the deposit is ${state}, which is final; a reset begins anew`, { state });
  };
  const put = (what: string, deposit: Deposit) => {
    const sandbox = here();
    sandbox.world.deposits.changed.set(deposit.reference_id.toLowerCase(), deposit);
    tellChange(session, sandbox, `deposit ${deposit.reference_id} ${what}`);
    return shownDeposit(session, sandbox)(deposit);
  };
  return {
    list: (query?: ListQuery): readonly DepositNow[] => listsIn(place).deposits(query).items,
    get: (id: string) => shownDeposit(session, seen())(known(seen(), id)),
    /** `afterSeconds` counts from now. */
    add: (given: FixtureDeposit) => {
      // The check needs some user. Whether the world has one is checked behind it.
      const user_id = String((given as Partial<FixtureDeposit> | null)?.user_id);
      const someUser = { user_id, partner: null, date_joined: '2000-01-01T00:00:00Z' };
      const users = isId('user-status', user_id) ? [someUser] : [];
      const deposit = readItem(session, 'deposits', given, users);
      const { reference_id } = deposit;
      const { world } = here();
      if (lookIn(world.users, user_id.toLowerCase()) === undefined)
        throw wrongAt('user_id', `${user_id} is not among the users; POST /__admin/users adds one`);
      if (lookIn(world.deposits, reference_id.toLowerCase()) !== undefined)
        throw new Refusal(409, `there is a deposit ${reference_id} already`, { place: 'reference_id' });
      return put('added', { ...deposit, since: timeIn(session, here()) - world.createdAt });
    },
    /** Executes it with what is given, or what the fixture plans, or 100 USD now. */
    execute: (id: string, given: { readonly [Name in keyof Execution]?: number | undefined } = {}) => {
      const { reference_id, user_id, ...deposit } = pending(id);
      const planned = deposit.state === 'pending' ? deposit.becomes : undefined;
      const amountInUsd = given.amountInUsd ?? planned?.amountInUsd ?? DEFAULT_AMOUNT;
      const at = given.executedAt ?? planned?.executedAt ?? timeIn(session, here());
      const executedAt = Math.trunc(at);
      return put('executed', { reference_id, user_id, state: 'EXECUTED', amountInUsd, executedAt });
    },
    fail: (id: string) => {
      const { reference_id, user_id } = pending(id);
      return put('failed', { reference_id, user_id, state: 'failed' });
    },
  } as const;
}

/** The users of a world. */
export interface UserControls extends ReturnType<typeof usersIn> {}

export function usersIn(place: Place) {
  const { session, here } = place;
  return {
    list: (query?: ListQuery): readonly User[] => listsIn(place).users(query).items,
    add: (given: FixtureUser): User => {
      const user = readItem(session, 'users', given);
      const sandbox = here();
      const id = user.user_id.toLowerCase();
      if (lookIn(sandbox.world.users, id) !== undefined)
        throw new Refusal(409, `there is a user ${user.user_id} already`, { place: 'user_id' });
      sandbox.world.users.changed.set(id, user);
      tellChange(session, sandbox, `user ${user.user_id} added`);
      return user;
    },
  } as const;
}

/** A key by its name; `key` is missing if it is secret, and `expiresAt` is in Unix ms. */
export interface ShownKey {
  readonly name: string;
  readonly key?: string;
  readonly partner: string | null;
  readonly state: ApiKey['state'];
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
 * A key of a world by itself or by its name.
 *
 * @throws a Refusal of this status where there is none
 */
export function keyNamed({ world: { keys } }: Sandbox, asked: string, status: number): ApiKey {
  const isNamed = ({ name }: ApiKey) => name === asked || name === `<key ${asked}>`;
  const key = lookIn(keys, asked) ?? valuesOf(keys).find(isNamed);
  if (key !== undefined) return key;
  // What was asked for may be a key: the message leaves it out.
  throw new Refusal(status, 'there is no such key here; GET /__admin/keys lists their names', {
    place: 'key',
  });
}

/** The state in the name of a key: the one that it had at first. */
const namedState = ({ name }: ApiKey) =>
  /\/(active|revoked|expired)(?:\/\d+)?>$/.exec(name)![1] as ApiKey['state'];

/** The keys of a world. A key is named by itself, or as the list names it: `<key northwind/active>`. */
export interface KeyControls extends ReturnType<typeof keysIn> {}

export function keysIn(place: Place) {
  const { session, here } = place;
  const put = (sandbox: Sandbox, key: ApiKey, what: string) => {
    sandbox.world.keys.changed.set(key.key, key);
    tellChange(session, sandbox, `${key.name} ${what}`);
    return shownKey(session, sandbox)(key);
  };
  const end = (asked: string, state: 'revoked' | 'expired') => {
    const sandbox = here();
    const key = keyNamed(sandbox, asked, 404);
    const now = keyAt(sandbox.world, key, timeIn(session, sandbox)).state;
    if (now === state || now === 'revoked')
      throw new Refusal(409, `${key.name} is ${now} already`, { state: now });
    return put(sandbox, { ...key, state }, state);
  };
  return {
    list: (query?: ListQuery): readonly ShownKey[] => listsIn(place).keys(query).items,
    /** `expiresAfterSeconds` counts from now. */
    add: (given: FixtureApiKey) => {
      const added = readItem(session, 'apiKeys', given);
      const sandbox = here();
      const { keys } = sandbox.world;
      if (lookIn(keys, added.key) !== undefined)
        throw new Refusal(409, 'there is such a key already', { place: 'key' });
      const others = valuesOf(keys).map((key) => ({ ...key, limits: {}, state: namedState(key) }));
      const name = keyNames([...others, added]).at(-1)!;
      const key = { ...keyOf(added, name), since: timeIn(session, sandbox) - sandbox.world.createdAt };
      redactAdded(session, key);
      return put(sandbox, key, 'added');
    },
    revoke: (key: string) => end(key, 'revoked'),
    expire: (key: string) => end(key, 'expired'),
  } as const;
}

/** The limits for all keys, and how full the windows are. */
export interface ShownLimits {
  readonly limits: FixtureLimits;
  readonly gauges: readonly Gauge[];
}

/** The limits for all keys of a world. */
export interface LimitControls extends ReturnType<typeof limitsIn> {}

export function limitsIn({ session, here, seen }: Place) {
  const shown = (sandbox: Sandbox): ShownLimits => {
    const { world, service } = sandbox;
    const gauges = gaugesOf(service.behaviour, world, timeIn(session, sandbox));
    return { limits: shownLimits(world.limits), gauges };
  };
  return {
    get: () => shown(seen()),
    /** `{}` removes them. */
    set: (given: FixtureLimits) => {
      const { limits } = readPart({ limits: given ?? null }, 'limits');
      const sandbox = here();
      sandbox.world = { ...sandbox.world, limits: limitsOf(limits!) };
      tellChange(session, sandbox, 'limits set');
      return shown(sandbox);
    },
  } as const;
}
