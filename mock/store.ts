import type { Fixture } from '../schemas/generated/types.ts';
import type { Deposit, User } from './world.ts';

/** Records by their ids in lower case, in the order of the fixture. */
export type Lookup<Value> = ReadonlyMap<string, Value>;

export type StoredDeposits = Lookup<Deposit>;

/** Users and deposits of a fixture. If several have the same id, the last one counts. */
export interface Store {
  readonly users: Lookup<User>;
  readonly deposits: StoredDeposits;
}

export function storeOf({ users = [], deposits = [] }: Fixture): Store {
  const usersById = new Map<string, User>();
  for (const user of users) usersById.set(user.user_id.toLowerCase(), user);
  const depositsById = new Map<string, Deposit>();
  for (const deposit of deposits) {
    const partner = usersById.get(deposit.user_id.toLowerCase())?.partner ?? null;
    depositsById.set(deposit.reference_id.toLowerCase(), { ...deposit, partner });
  }
  return { users: usersById, deposits: depositsById };
}
