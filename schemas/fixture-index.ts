import type { Fixture, FixtureDeposit, FixtureUser } from './generated/types.ts';
import { oncePer } from './once-per.ts';

/**
 * Returns users and deposits by their ids in lower case. Of entries with the same id, the last one counts. Copies of a
 * fixture share the maps of their lists, so the lists must not change afterwards.
 */
export const indexOf = ({ users = [], deposits = [] }: Fixture) => ({
  users: usersById(users),
  deposits: depositsById(deposits),
});

const usersById = oncePer((users: readonly FixtureUser[]) => indexed(users, ({ user_id }) => user_id));
const depositsById = oncePer((deposits: readonly FixtureDeposit[]) =>
  indexed(deposits, ({ reference_id }) => reference_id),
);

function indexed<Item>(items: readonly Item[], idOf: (item: Item) => string): ReadonlyMap<string, Item> {
  const index = new Map<string, Item>();
  // A list of pairs would double the memory.
  for (const item of items) index.set(idOf(item).toLowerCase(), item);
  return index;
}
