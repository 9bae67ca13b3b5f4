import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { trimBasePath } from './handler.ts';
import type { Session } from './session.ts';
import type { ApiKey, Deposit, Facts } from './world.ts';

/** A state of the interface, and what shows it: a request, and the key to send it with. */
export interface MagicValue {
  /** Status and state, such as `404, pending`. */
  readonly shows: string;
  readonly endpoint: Endpoint;
  readonly id: string;
  /** Path and query. */
  readonly target: string;
  /** Missing if the request is to have no key. */
  readonly keyName?: string;
  /** Missing also if it is secret. */
  readonly key?: string;
}

/** What shows each state that a fixture can show. */
export function shownMagicValues({ fixture, facts, options, arePublicKeys }: Session): readonly MagicValue[] {
  const basePath = trimBasePath(options.basePath ?? '/');
  const found = magicValues(fixture, facts);
  const noKey = found.slice(0, 1).map((first) => ({ ...first, shows: '401, no key', key: undefined }));
  return [...found, ...onDeposits(found), ...noKey].map(({ shows, endpoint, id, key }) => {
    const { path, parameter } = endpoints[endpoint];
    const target = `${basePath}${path}?${parameter}=${id}`;
    const named = key && { keyName: key.name, ...(arePublicKeys && { key: key.key }) };
    return { shows, endpoint, id, target, ...named };
  });
}

/** The other errors of deposit-check: its messages differ from those of user-status. */
const onDeposits = (found: readonly Found[]): readonly Found[] =>
  found.flatMap((value) => {
    const { shows, key } = value;
    const isLimited = shows.startsWith('429') && key.limits?.['deposit-check']?.most === 0;
    if (!isLimited && !/^(?:400|401, revoked)/.test(shows)) return [];
    const id = shows.startsWith('400') ? value.id : UNKNOWN_ID;
    return { endpoint: 'deposit-check', id, key, shows: `${shows}, of a deposit` };
  });

interface Found {
  readonly shows: string;
  readonly endpoint: Endpoint;
  readonly id: string;
  readonly key: ApiKey;
}

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
export function magicValues(fixture: Fixture, facts: Facts): readonly Found[] {
  const keys = (fixture.apiKeys ?? []).slice(0, MOST).flatMap(({ key }) => facts.keys.get(key) ?? []);
  const users = (fixture.users ?? []).slice(0, MOST);
  const deposits = (fixture.deposits ?? []).slice(0, MOST);
  const caller = keys.find(isLasting);
  if (caller === undefined) return [];

  const isOurs = ({ partner }: { readonly partner: string | null }) => partner === caller.partner;
  const member = users.find(isOurs)?.user_id;
  const foreign = users.find((user) => user.partner !== null && !isOurs(user))?.user_id;
  const ofNoIb = users.find(({ partner }) => partner === null)?.user_id;

  const inState = (state: ApiKey['state']) => keys.find((key) => key.state === state);
  const nonPartner = keys.find(({ state, partner }) => state === 'active' && partner === null);
  const ending = keys.find(({ state, expiresAfterSeconds }) => state === 'active' && expiresAfterSeconds);
  const limited = keys.find(({ limits }) => limits?.['user-status']?.most === 0);

  const isOfOurs = ({ user_id }: Deposit) => isOurs(facts.users.get(user_id.toLowerCase())!);
  const ours = deposits.filter(isOfOurs);
  const polled = ours.find((deposit) => planOf(deposit)?.afterPolls !== undefined);
  const timed = ours.find((deposit) => planOf(deposit)?.afterSeconds !== undefined);
  const [polls, seconds] = [planOf(polled)?.afterPolls, planOf(timed)?.afterSeconds];
  const pending = ours.find((deposit) => deposit.state === 'pending' && planOf(deposit) === undefined);
  const ofOthers = deposits.find((deposit) => !isOfOurs(deposit) && planOf(deposit) === undefined);
  const inStateOf = (state: Deposit['state']) => ours.find((deposit) => deposit.state === state);

  const rows: readonly Row[] = [
    ['200, a member', 'user-status', member, caller],
    ["200, another IB's user", 'user-status', foreign, caller],
    ['200, a user of no IB', 'user-status', ofNoIb, caller],
    ['200, an unknown user', 'user-status', UNKNOWN_ID, caller],
    ['400, not a UUID', 'user-status', 'not-a-uuid', caller],
    ['401, revoked key', 'user-status', member, inState('revoked')],
    ['401, expired key', 'user-status', member, inState('expired')],
    ['401, non-Partner key', 'user-status', member, nonPartner],
    [`200, then 401 after ${ending?.expiresAfterSeconds} s`, 'user-status', member, ending],
    ['429, always limited', 'user-status', member, limited],
    ['200, EXECUTED', 'deposit-check', inStateOf('EXECUTED')?.reference_id, caller],
    ['404, pending', 'deposit-check', pending?.reference_id, caller],
    ['404, failed', 'deposit-check', inStateOf('failed')?.reference_id, caller],
    [`404, then 200 after ${polls} polls`, 'deposit-check', polled?.reference_id, caller],
    [`404, then 200 after ${seconds} s`, 'deposit-check', timed?.reference_id, caller],
    ["404, another IB's deposit", 'deposit-check', ofOthers?.reference_id, caller],
    ['404, an unknown deposit', 'deposit-check', UNKNOWN_ID, caller],
  ];
  return rows.flatMap(([shows, endpoint, id, key]) =>
    id === undefined || key === undefined ? [] : [{ shows, endpoint, id, key }],
  );
}

/** What the fixture may lack is undefined: then it is no magic value. */
type Row = readonly [shows: string, endpoint: Endpoint, id: string | undefined, key: ApiKey | undefined];

/** An active key of a partner that does not end by itself, and has no limits of its own. */
const isLasting = ({ state, partner, expiresAfterSeconds, limits }: ApiKey) =>
  state === 'active' && partner !== null && expiresAfterSeconds === undefined && limits === undefined;

const planOf = (deposit: Deposit | undefined) => (deposit?.state === 'pending' ? deposit.becomes : undefined);
