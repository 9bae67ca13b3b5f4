import type { Endpoint } from '../schemas/endpoints.ts';
import type {
  Fixture,
  FixtureApiKey,
  FixtureDeposit,
  FixtureKeyLimits,
  FixtureUser,
} from '../schemas/generated/types.ts';
import { keyNames } from '../schemas/fixture-keys.ts';

/** At most this many counted requests are answered in a window of this length. */
export interface Limit {
  readonly most: number;
  readonly windowMs: number;
}

/** Limits by endpoint. An endpoint that is missing has no limit. */
export type Limits = Readonly<Partial<Record<Endpoint, Limit>>>;

/**
 * An API key. Output shows `name` (`<key northwind/active>`), never the key. A key that was added to a
 * running world has `since`, the Unix ms from which `expiresAfterSeconds` counts.
 */
export type ApiKey = Readonly<Omit<FixtureApiKey, 'limits'>> & {
  readonly name: string;
  readonly limits?: Limits;
  readonly since?: number;
};

export type User = Readonly<FixtureUser>;

/**
 * A deposit, with the partner of its user (null: no IB). A deposit that was added to a running world has
 * `since`, the Unix ms from which `afterSeconds` counts.
 */
export type Deposit = Readonly<FixtureDeposit> & {
  readonly partner: string | null;
  readonly since?: number;
};

/** Amount in USD and time in Unix ms of a deposit that is EXECUTED. */
export interface Execution {
  readonly amountInUsd: number;
  readonly executedAt: number;
}

/** The part of a Map that is needed to read it. */
export type Lookup<Value> = Pick<ReadonlyMap<string, Value>, 'get' | 'has'> & {
  values(): IterableIterator<Value>;
  entries(): IterableIterator<[string, Value]>;
};

/** The content of a fixture, by id. All worlds of the fixture share it, and nothing changes it. */
export interface Facts {
  readonly keys: ReadonlyMap<string, ApiKey>;
  /** By user_id in lower case. */
  readonly users: Lookup<User>;
  /** By reference_id in lower case. */
  readonly deposits: Lookup<Deposit>;
  readonly limits: Limits;
}

/** Shared values, and what one world has changed or added. */
export interface Overlay<Value> {
  readonly base: Lookup<Value>;
  readonly changed: Map<string, Value>;
}

/** All that the mock knows: the fixture, and what has happened since. */
export interface World {
  /** Unix ms from which `afterSeconds` and `expiresAfterSeconds` of the fixture count. */
  readonly createdAt: number;
  readonly asFixture: Facts;
  readonly keys: Overlay<ApiKey>;
  readonly users: Overlay<User>;
  readonly deposits: Overlay<Deposit>;
  readonly limits: Limits;
  /** Unix ms of the counted requests, by endpoint and by what the limiter counts for. */
  readonly hits: Readonly<Record<Endpoint, Map<string, number[]>>>;
  /** Polls that found a deposit pending, by reference_id in lower case. */
  readonly polls: Map<string, number>;
  /** Unix ms at which a poll first found a deposit executed, by reference_id in lower case. */
  readonly foundAt: Map<string, number>;
}

/** The content of a fixture, by id. Where two entries share an id, the last one counts. */
export function factsOf({ apiKeys = [], users = [], deposits = [], limits = {} }: Fixture): Facts {
  const names = keyNames(apiKeys);
  const byUserId = new Map<string, User>();
  for (const user of users) byUserId.set(user.user_id.toLowerCase(), user);
  const byReferenceId = new Map<string, FixtureDeposit>();
  for (const deposit of deposits) byReferenceId.set(deposit.reference_id.toLowerCase(), deposit);
  return {
    keys: new Map(apiKeys.map((apiKey, index) => [apiKey.key, keyOf(apiKey, names[index]!)])),
    users: byUserId,
    // To copy a million deposits takes seconds: each gets its partner when it is asked for.
    deposits: mapped(byReferenceId, (deposit) => ({
      ...deposit,
      partner: byUserId.get(deposit.user_id.toLowerCase())?.partner ?? null,
    })),
    limits: limitsOf(limits),
  };
}

function mapped<From, To>(from: ReadonlyMap<string, From>, make: (value: From) => To): Lookup<To> {
  return {
    has: (id) => from.has(id),
    get: (id) => {
      const value = from.get(id);
      return value === undefined ? undefined : make(value);
    },
    *values() {
      for (const value of from.values()) yield make(value);
    },
    *entries() {
      for (const [id, value] of from) yield [id, make(value)];
    },
  };
}

/** A world in which nothing has happened yet; `now` in Unix ms. */
export function worldOf(facts: Facts, now: number): World {
  return {
    createdAt: now,
    asFixture: facts,
    keys: { base: facts.keys, changed: new Map() },
    users: { base: facts.users, changed: new Map() },
    deposits: { base: facts.deposits, changed: new Map() },
    limits: facts.limits,
    hits: { 'user-status': new Map(), 'deposit-check': new Map() },
    polls: new Map(),
    foundAt: new Map(),
  };
}

/** The world of a fixture in which nothing has happened yet; `now` in Unix ms. */
export function createWorld(fixture: Fixture, now: number): World {
  return worldOf(factsOf(fixture), now);
}

/** A key of a fixture under its name. */
export function keyOf({ limits, ...apiKey }: FixtureApiKey, name: string): ApiKey {
  return { ...apiKey, name, ...(limits === undefined ? {} : { limits: limitsOf(limits) }) };
}

/** The limits that a fixture states, for all keys or for one. */
export function limitsOf(limits: FixtureKeyLimits): Limits {
  const { 'user-status': user, 'deposit-check': deposit } = limits;
  return {
    ...(user && { 'user-status': { most: user.failedLookups, windowMs: user.windowSeconds * 1000 } }),
    ...(deposit && { 'deposit-check': { most: deposit.requests, windowMs: deposit.windowSeconds * 1000 } }),
  };
}

/** The value of an id; undefined: there is none. */
export function lookIn<Value>({ base, changed }: Overlay<Value>, id: string): Value | undefined {
  return changed.get(id) ?? base.get(id);
}

/** Every value in the order of the fixture; added ones last. */
export function* eachOf<Value>({ base, changed }: Overlay<Value>): Generator<Value> {
  for (const [id, value] of base.entries()) yield changed.get(id) ?? value;
  for (const [id, value] of changed) if (!base.has(id)) yield value;
}

/** Every value in the order of the fixture; added ones last. */
export const valuesOf = <Value>(overlay: Overlay<Value>): readonly Value[] => [...eachOf(overlay)];

/** Unix ms at which a key expires; undefined: never. */
export function expiryOf(
  world: World,
  { expiresAt, expiresAfterSeconds, since }: ApiKey,
): number | undefined {
  if (expiresAt !== undefined) return expiresAt;
  return expiresAfterSeconds === undefined
    ? undefined
    : (since ?? world.createdAt) + expiresAfterSeconds * 1000;
}

/** The key at a time in Unix ms: an active key is expired from its expiry on (Authentication 2). */
export function keyAt(world: World, key: ApiKey, now: number): ApiKey {
  if (key.state !== 'active') return key;
  const expiry = expiryOf(world, key);
  return expiry === undefined || now < expiry ? key : { ...key, state: 'expired' };
}

/** Unix ms at which time alone executes a pending deposit; undefined: never. */
export function dueAt(world: World, deposit: Deposit): number | undefined {
  if (deposit.state !== 'pending' || deposit.becomes?.afterSeconds === undefined) return undefined;
  return (deposit.since ?? world.createdAt) + deposit.becomes.afterSeconds * 1000;
}

/**
 * Amount and time of a pending deposit if it has become EXECUTED by now (States and transitions). Without
 * a time in the fixture, it was executed when it fell due, or when a poll first found it executed.
 */
export function becomeExecuted(world: World, deposit: Deposit, now: number): Execution | undefined {
  if (deposit.state !== 'pending' || deposit.becomes === undefined) return undefined;
  const { amountInUsd, executedAt, afterPolls } = deposit.becomes;
  const at =
    afterPolls === undefined ? dueBy(world, deposit, now) : polledAt(world, deposit, afterPolls, now);
  return at === undefined ? undefined : { amountInUsd, executedAt: executedAt ?? Math.trunc(at) };
}

function dueBy(world: World, deposit: Deposit, now: number): number | undefined {
  const due = dueAt(world, deposit);
  return due === undefined || now < due ? undefined : due;
}

function polledAt(
  { polls, foundAt }: World,
  deposit: Deposit,
  afterPolls: number,
  now: number,
): number | undefined {
  const id = deposit.reference_id.toLowerCase();
  return (polls.get(id) ?? 0) < afterPolls ? undefined : (foundAt.get(id) ?? now);
}

/** Counts a poll of a deposit by its own partner, after it was answered. */
export function countPoll({ polls, foundAt }: World, deposit: Deposit, now: number): void {
  if (deposit.state !== 'pending' || deposit.becomes?.afterPolls === undefined) return;
  const id = deposit.reference_id.toLowerCase();
  const before = polls.get(id) ?? 0;
  if (before < deposit.becomes.afterPolls) polls.set(id, before + 1);
  else if (!foundAt.has(id)) foundAt.set(id, now);
}

/** A deposit at a time, and when it becomes EXECUTED. */
export interface DepositNow {
  readonly reference_id: string;
  readonly user_id: string;
  readonly partner: string | null;
  readonly state: Deposit['state'];
  readonly amountInUsd?: number;
  readonly executedAt?: number;
  /** Ms until time alone executes it. */
  readonly dueInMs?: number;
  /** Polls that will find it pending before one finds it executed. */
  readonly pollsLeft?: number;
}

/** A deposit at a time in Unix ms. This is not a poll. */
export function depositNow(world: World, deposit: Deposit, now: number): DepositNow {
  const { reference_id, user_id, partner, state } = deposit;
  const shown = { reference_id, user_id, partner, state };
  if (deposit.state === 'EXECUTED') {
    const { amountInUsd, executedAt } = deposit;
    return { ...shown, amountInUsd, executedAt };
  }
  if (deposit.state === 'failed' || deposit.becomes === undefined) return shown;
  const { amountInUsd, executedAt, afterPolls } = deposit.becomes;
  const id = reference_id.toLowerCase();
  const due = dueAt(world, deposit);
  const at = dueBy(world, deposit, now) ?? world.foundAt.get(id);
  if (at !== undefined)
    return { ...shown, state: 'EXECUTED', amountInUsd, executedAt: executedAt ?? Math.trunc(at) };
  return afterPolls === undefined
    ? { ...shown, ...(due !== undefined && { dueInMs: due - now }) }
    : { ...shown, pollsLeft: Math.max(0, afterPolls - (world.polls.get(id) ?? 0)) };
}

/** The deposit of a reference_id, in any letter case. */
export function foundDeposit(world: World, id: string): Deposit | undefined {
  return lookIn(world.deposits, id.toLowerCase());
}
