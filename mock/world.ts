import type { Endpoint } from '../schemas/endpoints.ts';
import type {
  Fixture,
  FixtureApiKey,
  FixtureDeposit,
  FixtureKeyLimits,
  FixtureUser,
} from '../schemas/generated/types.ts';
import { keyNames } from '../schemas/fixture-keys.ts';
import { overlayOn, type Overlay } from './overlay.ts';
import { storeOf, type Lookup, type StoredDeposits } from './store.ts';

/** So many counted requests are answered in a window of so many ms. */
export interface Limit {
  readonly most: number;
  readonly windowMs: number;
}

/** Limits by endpoint; what is missing has none. */
export type Limits = Readonly<Partial<Record<Endpoint, Limit>>>;

/**
 * A key; `name` is shown in its place (`<key northwind/active>`), `limits` are its own, and `since` is the
 * Unix ms from which `expiresAfterSeconds` counts where it came later than its world.
 */
export type ApiKey = Readonly<Omit<FixtureApiKey, 'limits'>> & {
  readonly name: string;
  readonly limits?: Limits;
  readonly since?: number;
};

export type User = Readonly<FixtureUser>;

/**
 * A deposit, with the partner to whose IB its user belongs (null: none), and the Unix ms from which
 * `afterSeconds` counts where it came later than its world.
 */
export type Deposit = Readonly<FixtureDeposit> & {
  readonly partner: string | null;
  readonly since?: number;
};

/** What a fixture says, by id: shared by all worlds made from it, and never changed. */
export interface Facts {
  readonly keys: ReadonlyMap<string, ApiKey>;
  /** By user_id in lower case. */
  readonly users: Lookup<User>;
  /** By reference_id in lower case. */
  readonly deposits: StoredDeposits;
  readonly limits: Limits;
}

/** All that the mock knows: what the fixture says, and what has happened since. */
export interface World {
  /** Unix ms at which the world came to be; `afterSeconds` and `expiresAfterSeconds` count from here. */
  readonly createdAt: number;
  readonly asFixture: Facts;
  readonly keys: Overlay<ApiKey>;
  readonly users: Overlay<User>;
  readonly deposits: Overlay<Deposit, StoredDeposits>;
  readonly limits: Limits;
  /** Unix ms of the counted requests of each limiter window, by whom they are counted for. */
  readonly hits: Readonly<Record<Endpoint, Map<string, number[]>>>;
  /** Polls that found a deposit pending, by reference_id in lower case. */
  readonly polls: Map<string, number>;
  /** Unix ms at which a poll first found a deposit executed, by reference_id in lower case. */
  readonly foundAt: Map<string, number>;
}

/** What a fixture says, made ready for look-ups. */
export function factsOf(fixture: Fixture): Facts {
  const { apiKeys = [], limits = {} } = fixture;
  const names = keyNames(apiKeys);
  return {
    keys: new Map(apiKeys.map((apiKey, index) => [apiKey.key, keyOf(apiKey, names[index]!)])),
    ...storeOf(fixture),
    limits: limitsOf(limits),
  };
}

/** A world in which nothing has happened yet; `now` in Unix ms. Costs a few empty maps. */
export function worldOf(facts: Facts, now: number): World {
  return {
    createdAt: now,
    asFixture: facts,
    keys: overlayOn<ApiKey>(facts.keys),
    users: overlayOn<User>(facts.users),
    deposits: overlayOn<Deposit, StoredDeposits>(facts.deposits),
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
