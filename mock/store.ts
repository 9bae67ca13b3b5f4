import { depositsById, usersById } from '../schemas/cross-check.ts';
import type { Fixture, FixtureDeposit } from '../schemas/generated/types.ts';
import { inLowerCase, type IdIndex } from '../schemas/id-index.ts';
import type { Deposit, User } from './world.ts';

/** Things by their ids in lower case; a Map can stand in for it. */
export interface Lookup<Value> {
  readonly size: number;
  get(id: string): Value | undefined;
  has(id: string): boolean;
  /** In the order of the fixture. */
  values(): IterableIterator<Value>;
  entries(): IterableIterator<[string, Value]>;
}

/** Deposits, and a way to go through them that costs nothing for each. */
export interface StoredDeposits extends Lookup<Deposit> {
  /** As the fixture has them; of twins the last. */
  items(): readonly FixtureDeposit[];
  /** One of them with its partner. */
  whole(item: FixtureDeposit): Deposit;
}

/** Users and deposits as the fixture has them. */
export interface Store {
  readonly users: Lookup<User>;
  /** A deposit is put together when it is asked for: not the same object twice. */
  readonly deposits: StoredDeposits;
}

/**
 * What a fixture says of users and deposits. It holds no copies but the fixture's own lists, and an
 * index that all stores of the same lists share: so the lists must not change after.
 */
export function storeOf({ users = [], deposits = [] }: Fixture): Store {
  const byUserId = usersById(users);
  const byReferenceId = depositsById(deposits);
  const withPartner = (deposit: FixtureDeposit): Deposit => {
    const owner = users[byUserId.findInAnyCase(deposit.user_id)];
    return { ...deposit, partner: owner?.partner ?? null };
  };
  return {
    users: lookup(
      users,
      byUserId,
      ({ user_id }) => user_id,
      (user) => user,
    ),
    deposits: {
      ...lookup(deposits, byReferenceId, ({ reference_id }) => reference_id, withPartner),
      items: () =>
        byReferenceId.outdone.size === 0
          ? deposits
          : deposits.filter((_, position) => !byReferenceId.outdone.has(position)),
      whole: withPartner,
    },
  };
}

/** Of things with one id the last counts, as in a Map. */
function lookup<Item, Value>(
  items: readonly Item[],
  index: IdIndex,
  idOf: (item: Item) => string,
  valueOf: (item: Item) => Value,
): Lookup<Value> {
  const counted = function* () {
    for (const [position, item] of items.entries()) if (!index.outdone.has(position)) yield item;
  };
  return {
    size: items.length - index.outdone.size,
    get: (id) => {
      const item = items[index.find(id)];
      return item === undefined ? undefined : valueOf(item);
    },
    has: (id) => index.find(id) >= 0,
    values: function* () {
      for (const item of counted()) yield valueOf(item);
    },
    entries: function* () {
      for (const item of counted()) yield [inLowerCase(idOf(item)), valueOf(item)];
    },
  };
}
