import { listed } from './fixture-problems.ts';
import type { Fixture, FixtureDeposit, FixtureUser } from './generated/types.ts';
import { indexById } from './id-index.ts';

/** The users of a fixture by user_id; made once for each list. */
export const usersById = (users: readonly FixtureUser[]) => indexById(users, ({ user_id }) => user_id);

/** The deposits of a fixture by reference_id; made once for each list. */
export const depositsById = (deposits: readonly FixtureDeposit[]) =>
  indexById(deposits, ({ reference_id }) => reference_id);

/** What a schema cannot say: no duplicates, no dangling references, one trigger for each transition. */
export function* crossCheck(fixture: Fixture): Generator<string> {
  const { partners, apiKeys = [], users = [], deposits = [] } = fixture;
  const partnerIds = partners && new Set(partners.map(({ id }) => id));
  for (const { later, first, value } of twins((partners ?? []).map(({ id }) => id)))
    yield `${sameAs('partners', 'id', later, first)}: ${listed([value])}`;
  // A key's value is never shown.
  for (const { later, first } of twins(apiKeys.map(({ key }) => key)))
    yield sameAs('apiKeys', 'key', later, first);
  for (const [later, first] of usersById(users).twins)
    yield `${sameAs('users', 'user_id', later, first)}: ${listed([users[later]!.user_id.toLowerCase()])}`;
  for (const [later, first] of depositsById(deposits).twins)
    yield `${sameAs('deposits', 'reference_id', later, first)}: ${listed([deposits[later]!.reference_id.toLowerCase()])}`;
  yield* strangePartners('apiKeys', apiKeys, partnerIds);
  for (const [index, { expiresAt, expiresAfterSeconds }] of apiKeys.entries())
    if (expiresAt !== undefined && expiresAfterSeconds !== undefined)
      yield `apiKeys[${index}] has both "expiresAt" and "expiresAfterSeconds": one is enough`;
  yield* strangePartners('users', users, partnerIds);
  const known = usersById(users);
  for (let index = 0; index < deposits.length; index++) {
    const deposit = deposits[index]!;
    if (known.findInAnyCase(deposit.user_id) < 0)
      yield `deposits[${index}].user_id ${listed([deposit.user_id])} is not among the users`;
    if (deposit.state === 'pending' && deposit.becomes !== undefined) {
      const { afterPolls, afterSeconds } = deposit.becomes;
      if ((afterPolls === undefined) === (afterSeconds === undefined))
        yield `deposits[${index}].becomes needs either "afterPolls" or "afterSeconds"`;
    }
  }
}

const sameAs = (place: string, field: string, later: number, first: number) =>
  `${place}[${later}].${field} is the same as ${place}[${first}].${field}`;

function* twins(values: readonly string[]) {
  const firsts = new Map<string, number>();
  for (const [later, value] of values.entries()) {
    const first = firsts.get(value);
    if (first === undefined) firsts.set(value, later);
    else yield { later, first, value };
  }
}

function* strangePartners(
  place: string,
  items: readonly { readonly partner: string | null }[],
  partnerIds: ReadonlySet<string> | undefined,
) {
  if (partnerIds === undefined) return;
  for (let index = 0; index < items.length; index++) {
    const { partner } = items[index]!;
    if (partner !== null && !partnerIds.has(partner))
      yield `${place}[${index}].partner ${listed([partner])} is not among the partners`;
  }
}
