import type { Fixture, FixtureDeposit, FixtureUser } from './generated/types.ts';

/** Users and deposits by their ids in lower case. Where two entries share an id, the last one counts. */
export interface FixtureIndex {
  readonly users: ReadonlyMap<string, FixtureUser>;
  readonly deposits: ReadonlyMap<string, FixtureDeposit>;
}

/** The check of a fixture and the mock both need the index. */
const indexes = new WeakMap<Fixture, FixtureIndex>();

/** The index of a fixture, made once: nothing may change the fixture afterwards. */
export function indexOf(fixture: Fixture): FixtureIndex {
  const { users = [], deposits = [] } = fixture;
  const index = indexes.get(fixture) ?? {
    users: indexed(users, ({ user_id }) => user_id),
    deposits: indexed(deposits, ({ reference_id }) => reference_id),
  };
  indexes.set(fixture, index);
  return index;
}

function indexed<Item>(items: readonly Item[], idOf: (item: Item) => string): ReadonlyMap<string, Item> {
  const index = new Map<string, Item>();
  // A list of pairs would double the memory.
  for (const item of items) index.set(idOf(item).toLowerCase(), item);
  return index;
}
