import { usersById } from '../schemas/cross-check.ts';
import { inLowerCase } from '../schemas/id-index.ts';
import type { Fixture, FixtureDeposit, FixtureUser } from '../schemas/generated/types.ts';

/** Entities of each kind that an excerpt holds. */
const OF_EACH_KIND = 200;

/**
 * A fixture of some thousand entities at most, with users and deposits of every kind that the whole
 * one has, and every key: enough to show examples, at once also of a fixture of millions.
 */
export function excerpt(fixture: Fixture): Fixture {
  const { users = [], deposits = [] } = fixture;
  const shownDeposits = firstOfEach(deposits, kindOfDeposit);
  const owners = shownDeposits.map(({ user_id }) => users[usersById(users).find(inLowerCase(user_id))]);
  const shownUsers = new Set([
    ...firstOfEach(users, ({ partner }: FixtureUser) => partner ?? ''),
    ...owners.filter((user) => user !== undefined),
  ]);
  return { ...fixture, users: [...shownUsers], deposits: shownDeposits };
}

function kindOfDeposit(deposit: FixtureDeposit): string {
  if (deposit.state !== 'pending' || deposit.becomes === undefined) return deposit.state;
  return deposit.becomes.afterPolls === undefined ? 'afterSeconds' : 'afterPolls';
}

function firstOfEach<Item>(items: readonly Item[], kindOf: (item: Item) => string): Item[] {
  const counts = new Map<string, number>();
  return items.filter((item) => {
    const kind = kindOf(item);
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= OF_EACH_KIND;
  });
}
