import type { Endpoint } from '../schemas/endpoints.ts';
import type { Fixture, FixtureApiKey, FixtureDeposit, FixtureUser } from '../schemas/generated/types.ts';
import { overlay, type Changeable } from './overlay.ts';
import { storeOf, type Store } from './store.ts';

export type ApiKey = Readonly<FixtureApiKey>;
export type User = Readonly<FixtureUser>;

/** A deposit, with the partner to whose IB its user belongs (null: none). */
export type Deposit = Readonly<FixtureDeposit> & { readonly partner: string | null };

/** So many counted requests are answered in a window of so many ms. */
export interface Limit {
  readonly most: number;
  readonly windowMs: number;
}

/** All that the mock knows: what the fixture says, and what has happened since. */
export interface World {
  /** Unix ms at which the world came to be; `afterSeconds` counts from here. */
  readonly createdAt: number;
  readonly keys: Map<string, ApiKey>;
  /** By user_id in lower case. */
  readonly users: Store['users'];
  /** By reference_id in lower case. */
  readonly deposits: Changeable<Deposit>;
  /** Keys and deposits as the fixture has them, whatever has happened since. */
  readonly asFixture: Pick<World, 'keys'> & Pick<Store, 'deposits'>;
  readonly limits: Readonly<Partial<Record<Endpoint, Limit>>>;
  /** Unix ms of the counted requests of a limiter window, by endpoint and whom they are counted for. */
  readonly hits: Map<string, readonly number[]>;
  /** Polls that found a deposit pending, by reference_id in lower case. */
  readonly polls: Map<string, number>;
  /** Unix ms at which a poll first found a deposit executed, by reference_id in lower case. */
  readonly foundAt: Map<string, number>;
}

/**
 * A world in which nothing has happened yet.
 *
 * @param now its time of creation in Unix milliseconds
 */
export function createWorld(fixture: Fixture, now: number): World {
  const { apiKeys = [], limits = {} } = fixture;
  const { users, deposits } = storeOf(fixture);
  const asFixture = { keys: new Map(apiKeys.map((apiKey) => [apiKey.key, apiKey])), deposits };
  return {
    createdAt: now,
    keys: new Map(asFixture.keys),
    users,
    deposits: overlay(deposits),
    asFixture,
    limits: {
      ...limitOf('user-status', limits['user-status']?.failedLookups, limits['user-status']?.windowSeconds),
      ...limitOf('deposit-check', limits['deposit-check']?.requests, limits['deposit-check']?.windowSeconds),
    },
    hits: new Map(),
    polls: new Map(),
    foundAt: new Map(),
  };
}

function limitOf(endpoint: Endpoint, most: number | undefined, windowSeconds: number | undefined) {
  return most === undefined || windowSeconds === undefined
    ? {}
    : { [endpoint]: { most, windowMs: windowSeconds * 1000 } };
}
