import type { Fixture } from './generated/types.ts';

/** Cache by list, which copies of a fixture share. Validation and mock use the same index. */
const indexes = new WeakMap<readonly object[], ReadonlyMap<string, unknown>>();

/**
 * Returns users and deposits by their ids in lower case. Of entries with the same id, the last one counts. The maps
 * are cached, so the lists must not change afterwards.
 */
export function indexOf({ users = [], deposits = [] }: Fixture) {
  return {
    users: indexed(users, ({ user_id }) => user_id),
    deposits: indexed(deposits, ({ reference_id }) => reference_id),
  };
}

function indexed<Item extends object>(
  items: readonly Item[],
  idOf: (item: Item) => string,
): ReadonlyMap<string, Item> {
  const known = indexes.get(items) as ReadonlyMap<string, Item> | undefined;
  if (known !== undefined) return known;
  const index = new Map<string, Item>();
  // A list of pairs would double the memory.
  for (const item of items) index.set(idOf(item).toLowerCase(), item);
  indexes.set(items, index);
  return index;
}
