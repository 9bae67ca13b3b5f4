import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { indexOf, keyVariables } from '../../schemas/fixture.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { trimBasePath } from './handler.ts';
import type { Session } from '../control/session.ts';
import { keysOf, lastingKey, planOf, type ApiKey, type Deposit } from './world.ts';

/** A request, and the key to send it with, that shows a state of the interface. */
export interface Example {
  /** Status and state, such as `404, pending`. */
  readonly shows: string;
  readonly endpoint: Endpoint;
  readonly id: string;
  /** Path and query. */
  readonly target: string;
  /** Missing if the request has no key. */
  readonly keyName?: string;
  /** Missing if the request has no key, or if the key is secret. */
  readonly key?: string;
  /** The shell variable that a command reads a secret key from. */
  readonly variable?: string;
  /** The world to send it to, if the answer changes after the first request: there it has not been sent yet. */
  readonly world?: string;
}

/** Lists a request for each state that the fixture can show. */
export function listExamples({ served, options }: Session): readonly Example[] {
  const { fixture, arePublicKeys } = served;
  const basePath = trimBasePath(options.basePath ?? '/');
  const keys = [...keysOf(fixture).values()];
  const variables = keyVariables(keys, lastingKey(keys));
  return findExamples(fixture).map(({ shows, endpoint, id, key }) => {
    const { path, parameter } = endpoints[endpoint];
    const target = `${basePath}${path}?${parameter}=${id}`;
    const named = key && {
      keyName: key.name,
      ...(arePublicKeys ? { key: key.key } : { variable: variables.get(key.key)! }),
    };
    const [, change] = /, then \d+ (after .+)$/.exec(shows) ?? [];
    const world = change?.replaceAll(' ', '-');
    return { shows, endpoint, id, target, ...named, ...(world && { world }) };
  });
}

/** An id that no fixture has. */
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** Maximum number of entries of each kind to search. */
const MAX_ENTRIES = 10_000;

/** Id and key are undefined if the fixture has none; `null` sends no key. */
type ExampleText = readonly [
  shows: string,
  endpoint: Endpoint,
  id: string | undefined,
  key: ApiKey | null | undefined,
];

/** Finds ids and keys for each state, for the partner of the first lasting key. Without one, the list is empty. */
export function findExamples(fixture: Fixture) {
  const keys = [...keysOf(fixture).values()].slice(0, MAX_ENTRIES);
  const users = (fixture.users ?? []).slice(0, MAX_ENTRIES);
  const deposits = (fixture.deposits ?? []).slice(0, MAX_ENTRIES);
  const caller = lastingKey(keys);
  if (caller === undefined) return [];

  const isOfCaller = ({ partner }: { readonly partner: string | null }) => partner === caller.partner;
  const member = users.find(isOfCaller)?.user_id;
  const foreign = users.find((user) => user.partner !== null && !isOfCaller(user))?.user_id;
  const withoutIb = users.find(({ partner }) => partner === null)?.user_id;

  const inState = (state: ApiKey['state']) => keys.find((key) => key.state === state);
  const nonPartner = keys.find(({ state, partner }) => state === 'active' && partner === null);
  const expiring = keys.find(({ state, expiresAfterSeconds }) => state === 'active' && expiresAfterSeconds);
  const limited = keys.find(({ limits }) => limits?.['user-status']?.failedLookups === 0);
  const limitedForDeposits = keys.find(({ limits }) => limits?.['deposit-check']?.requests === 0);

  const { users: usersById } = indexOf(fixture);
  const isCallerDeposit = ({ user_id }: Deposit) => isOfCaller(usersById.get(user_id.toLowerCase())!);
  const callerDeposits = deposits.filter(isCallerDeposit);
  const polled = callerDeposits.find((deposit) => planOf(deposit)?.afterPolls !== undefined);
  const timed = callerDeposits.find((deposit) => planOf(deposit)?.afterSeconds !== undefined);
  const [polls, seconds] = [planOf(polled)?.afterPolls, planOf(timed)?.afterSeconds];
  const pending = callerDeposits.find((one) => one.state === 'pending' && planOf(one) === undefined);
  const foreignDeposit = deposits.find((one) => !isCallerDeposit(one) && planOf(one) === undefined);
  const inStateOf = (state: Deposit['state']) => callerDeposits.find((deposit) => deposit.state === state);

  const rows: readonly ExampleText[] = [
    ['200, a member', 'user-status', member, caller],
    ["200, another IB's user", 'user-status', foreign, caller],
    ['200, a user of no IB', 'user-status', withoutIb, caller],
    ['200, an unknown user', 'user-status', UNKNOWN_ID, caller],
    ['400, not a UUID', 'user-status', 'not-a-uuid', caller],
    ['401, revoked key', 'user-status', member, inState('revoked')],
    ['401, expired key', 'user-status', member, inState('expired')],
    ['401, non-Partner key', 'user-status', member, nonPartner],
    [`200, then 401 after ${expiring?.expiresAfterSeconds} s`, 'user-status', member, expiring],
    ['429, always limited', 'user-status', member, limited],
    ['200, EXECUTED', 'deposit-check', inStateOf('EXECUTED')?.reference_id, caller],
    ['404, pending', 'deposit-check', pending?.reference_id, caller],
    ['404, failed', 'deposit-check', inStateOf('failed')?.reference_id, caller],
    [`404, then 200 after ${polls} polls`, 'deposit-check', polled?.reference_id, caller],
    [`404, then 200 after ${seconds} s`, 'deposit-check', timed?.reference_id, caller],
    ["404, another IB's deposit", 'deposit-check', foreignDeposit?.reference_id, caller],
    ['404, an unknown deposit', 'deposit-check', UNKNOWN_ID, caller],
    // The messages of deposit-check differ from those of user-status.
    ['400, not a UUID, of a deposit', 'deposit-check', 'not-a-uuid', caller],
    ['401, revoked key, of a deposit', 'deposit-check', UNKNOWN_ID, inState('revoked')],
    ['429, always limited, of a deposit', 'deposit-check', UNKNOWN_ID, limitedForDeposits],
    ['401, no key', 'user-status', member ?? UNKNOWN_ID, null],
  ];
  return rows.flatMap(([shows, endpoint, id, key]) =>
    id === undefined || key === undefined ? [] : [{ shows, endpoint, id, key }],
  );
}
