import type { Endpoint } from '../schemas/endpoints.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import type { ApiKey, Deposit, Facts } from './world.ts';

/** A state of the interface, and what shows it: an id, and the key to ask with. */
export interface MagicValue {
  /** Status and state, such as `404, pending`. */
  readonly shows: string;
  readonly endpoint: Endpoint;
  readonly id: string;
  readonly key: ApiKey;
}

/** What is looked for; where the fixture has none, it is no magic value. */
type Wanted = { readonly [Name in keyof MagicValue]: MagicValue[Name] | undefined } & Pick<
  MagicValue,
  'shows' | 'endpoint'
>;

/** An id that no fixture has. */
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** Of a large fixture so many entries of each kind are looked through. */
const MOST = 10_000;

/**
 * What shows each state that a fixture can show, seen from the partner of its first lasting active key.
 * Empty where there is none: then every request is answered 401.
 *
 * @param facts those made of the fixture
 */
export function magicValues(
  fixture: Fixture,
  facts: Pick<Facts, 'keys' | 'deposits'>,
): readonly MagicValue[] {
  const keys = (fixture.apiKeys ?? []).slice(0, MOST).flatMap(({ key }) => facts.keys.get(key) ?? []);
  const caller = keys.find(isLasting);
  if (caller === undefined) return [];
  const wanted: readonly Wanted[] = [
    ...usersSeenBy(caller, fixture).map((one) => ({ ...one, endpoint: 'user-status' as const, key: caller })),
    ...keysAskingFor(usersSeenBy(caller, fixture)[0]?.id, keys),
    ...depositsSeenBy(caller, fixture, facts).map(({ shows, deposit }) => ({
      shows,
      endpoint: 'deposit-check' as const,
      id: deposit?.reference_id,
      key: caller,
    })),
    { shows: '404, an unknown deposit', endpoint: 'deposit-check', id: UNKNOWN_ID, key: caller },
  ];
  return wanted.flatMap(({ shows, endpoint, id, key }) =>
    id === undefined || key === undefined ? [] : [{ shows, endpoint, id, key }],
  );
}

/** An active key of a partner that does not end by itself, and has no limits of its own. */
function isLasting({ state, partner, expiresAfterSeconds, limits }: ApiKey): boolean {
  return state === 'active' && partner !== null && expiresAfterSeconds === undefined && limits === undefined;
}

function usersSeenBy({ partner: caller }: ApiKey, { users = [] }: Fixture) {
  const some = users.slice(0, MOST);
  const idWhere = (is: (partner: string | null) => boolean) =>
    some.find(({ partner }) => is(partner))?.user_id;
  return [
    { shows: '200, a member', id: idWhere((partner) => partner === caller) },
    {
      shows: "200, another IB's user",
      id: idWhere((partner) => partner !== null && partner !== caller),
    },
    { shows: '200, a user of no IB', id: idWhere((partner) => partner === null) },
    { shows: '200, an unknown user', id: UNKNOWN_ID },
    { shows: '400, not a UUID', id: 'not-a-uuid' },
  ];
}

function keysAskingFor(id: string | undefined, keys: readonly ApiKey[]): readonly Wanted[] {
  const ending = keys.find(({ state, expiresAfterSeconds }) => state === 'active' && expiresAfterSeconds);
  const rows = [
    { shows: '401, revoked key', key: keys.find(({ state }) => state === 'revoked') },
    { shows: '401, expired key', key: keys.find(({ state }) => state === 'expired') },
    {
      shows: '401, non-Partner key',
      key: keys.find(({ state, partner }) => state === 'active' && partner === null),
    },
    { shows: `200, then 401 after ${ending?.expiresAfterSeconds} s`, key: ending },
    {
      shows: '429, always limited',
      key: keys.find(({ limits }) => limits?.['user-status']?.most === 0),
    },
  ];
  return rows.map((row) => ({ ...row, endpoint: 'user-status', id }));
}

function depositsSeenBy(
  { partner: caller }: ApiKey,
  { deposits = [] }: Fixture,
  facts: Pick<Facts, 'deposits'>,
) {
  const some = deposits
    .slice(0, MOST)
    .flatMap(({ reference_id }) => facts.deposits.get(reference_id.toLowerCase()) ?? []);
  const ours = some.filter(({ partner }) => partner === caller);
  const afterPolls = ours.find((deposit) => planOf(deposit)?.afterPolls !== undefined);
  const afterSeconds = ours.find((deposit) => planOf(deposit)?.afterSeconds !== undefined);
  return [
    { shows: '200, EXECUTED', deposit: ours.find(({ state }) => state === 'EXECUTED') },
    {
      shows: '404, pending',
      deposit: ours.find((deposit) => deposit.state === 'pending' && planOf(deposit) === undefined),
    },
    { shows: '404, failed', deposit: ours.find(({ state }) => state === 'failed') },
    { shows: `404, then 200 after ${planOf(afterPolls)?.afterPolls} polls`, deposit: afterPolls },
    { shows: `404, then 200 after ${planOf(afterSeconds)?.afterSeconds} s`, deposit: afterSeconds },
    {
      shows: "404, another IB's deposit",
      deposit: some.find((deposit) => deposit.partner !== caller && planOf(deposit) === undefined),
    },
  ];
}

const planOf = (deposit: Deposit | undefined) => (deposit?.state === 'pending' ? deposit.becomes : undefined);
