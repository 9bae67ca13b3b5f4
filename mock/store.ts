import type { Fixture, FixtureDeposit } from '../schemas/generated/types.ts';
import type { Deposit, User } from './world.ts';

/** Records by their ids in lower case, in the order of the fixture. */
export interface Lookup<Value> {
  readonly size: number;
  get(id: string): Value | undefined;
  has(id: string): boolean;
  values(): IterableIterator<Value>;
  entries(): IterableIterator<[string, Value]>;
}

export type StoredDeposits = Lookup<Deposit>;

/** Users and deposits of a fixture. If several have the same id, the last one counts. */
export interface Store {
  readonly users: Lookup<User>;
  readonly deposits: StoredDeposits;
}

export function storeOf({ users = [], deposits = [] }: Fixture): Store {
  const usersById = new Map<string, User>();
  for (const user of users) usersById.set(user.user_id.toLowerCase(), user);
  const depositsById = new Map<string, FixtureDeposit>();
  for (const deposit of deposits) depositsById.set(deposit.reference_id.toLowerCase(), deposit);
  // To copy a million deposits would take seconds.
  const withPartner = (deposit: FixtureDeposit): Deposit => {
    const partner = usersById.get(deposit.user_id.toLowerCase())?.partner ?? null;
    return { ...deposit, partner };
  };
  return {
    users: usersById,
    deposits: {
      size: depositsById.size,
      has: (id) => depositsById.has(id),
      get: (id) => {
        const deposit = depositsById.get(id);
        return deposit && withPartner(deposit);
      },
      *values() {
        for (const deposit of depositsById.values()) yield withPartner(deposit);
      },
      *entries() {
        for (const [id, deposit] of depositsById) yield [id, withPartner(deposit)];
      },
    },
  };
}
