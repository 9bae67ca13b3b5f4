import type {
  Fixture,
  FixtureApiKey,
  FixtureExecutedDeposit,
  FixtureFailedDeposit,
  FixturePendingDeposit,
  FixtureTransition,
} from '../schemas/generated/types.ts';
import { keyVariables, namedKeys } from '../schemas/fixture.ts';
import { Problem } from '../schemas/problem.ts';

/** A key of the fixture, with the name that outputs show instead of it. */
export interface KnownKey extends Readonly<Pick<FixtureApiKey, 'key' | 'partner' | 'state'>> {
  /** Such as `<key northwind/active>`. */
  readonly name: string;
  /** Set while another key of its partner is revoked: it may stop working, too. */
  readonly mayBeRefused?: true;
}

/** A pending deposit that becomes EXECUTED by itself, according to the fixture. */
export type BecomingDeposit = FixturePendingDeposit & { readonly becomes: FixtureTransition };

export type FixtureDeposit = FixtureExecutedDeposit | FixturePendingDeposit | FixtureFailedDeposit;

/** The facts of a fixture, as seen by the partner whose key is under test. */
export type Known = ReadonlyLists<ReturnType<typeof knownFrom>>;

type ReadonlyLists<Members> = {
  readonly [Name in keyof Members]: Members[Name] extends (infer Item)[] ? readonly Item[] : Members[Name];
};

/**
 * Reads a fixture from the point of view of one partner.
 *
 * @param partner its id; without it, the partner of the first active partner key
 * @throws Problem with code `usage` if the fixture has no active key of `partner`
 */
export function knownFrom(fixture: Fixture, partner?: string) {
  const { apiKeys = [], users = [], deposits = [] } = fixture;
  const named = namedKeys(apiKeys);
  const active = named.filter(
    (apiKey) => apiKey.state === 'active' && apiKey.partner !== null && isLasting(apiKey),
  );
  const caller = partner ?? active[0]?.partner ?? undefined;
  const callerKeys = active.filter(({ partner: owner }) => owner === caller);
  if (partner !== undefined && callerKeys.length === 0) {
    const known = [...new Set(active.map(({ partner: owner }) => owner))].join(', ') || 'none';
    throw new Problem(
      'usage',
      `--partner ${partner}: the fixture has no active key of that partner (only of: ${known})`,
    );
  }
  const userById = new Map(users.map((user) => [user.user_id.toLowerCase(), user]));
  const isOurs = ({ user_id }: { readonly user_id: string }) =>
    caller !== undefined && userById.get(user_id.toLowerCase())?.partner === caller;
  const ours = deposits.filter(isOurs);
  const pending = ours.filter((deposit) => deposit.state === 'pending');
  const withDeposit = new Set(
    deposits.flatMap(({ state, user_id }) =>
      state === 'EXECUTED' ? [userById.get(user_id.toLowerCase())?.partner] : [],
    ),
  );
  const rank = ({ partner: owner }: FixtureApiKey) => (withDeposit.has(owner) ? 0 : 1);
  return {
    partner: caller,
    /** Active keys of that partner. The first is under test. The others may share the load. */
    callerKeys,
    /** Active keys of other partners, those with an EXECUTED deposit first. */
    otherKeys: active
      .filter(({ partner: owner }) => owner !== caller)
      .toSorted((one, other) => rank(one) - rank(other)),
    revokedKeys: named.filter(({ state }) => state === 'revoked'),
    expiredKeys: named.filter(({ state }) => state === 'expired'),
    nonPartnerKeys: named.filter(({ state, partner: owner }) => state === 'active' && owner === null),
    everyKey: named as KnownKey[],
    /** Shell variables for keys in commands. */
    variables: keyVariables(named, callerKeys[0]),
    members: users.filter(isOurs),
    /** Users of another IB, or of no IB. */
    foreigners: users.filter((user) => !isOurs(user)),
    executed: ours.filter((deposit) => deposit.state === 'EXECUTED'),
    /** Pending deposits without `becomes`. */
    pending: pending.filter((deposit) => !isBecoming(deposit)),
    /** A pending deposit that only a state hook changes; undefined if none can be spared. */
    spare: undefined as FixturePendingDeposit | undefined,
    becoming: pending.filter(isBecoming),
    failed: ours.filter((deposit) => deposit.state === 'failed'),
    /** Deposits of users outside the IB, in any state. */
    foreignDeposits: deposits.filter((deposit) => !isOurs(deposit)),
    /** By id in lower case. */
    userById,
    /** By reference id in lower case. */
    depositById: new Map(deposits.map((deposit) => [deposit.reference_id.toLowerCase(), deposit])),
    partnerIds: [
      ...new Set([
        ...(fixture.partners ?? []).map(({ id }) => id),
        ...apiKeys.map((apiKey) => apiKey.partner),
        ...users.map((user) => user.partner),
      ]),
    ].filter((id) => id !== null),
    limits: fixture.limits ?? {},
  };
}

/** Whether a key lasts for a run: it does not expire by itself and has no own limits. */
const isLasting = ({ expiresAfterSeconds, limits }: FixtureApiKey): boolean =>
  expiresAfterSeconds === undefined && limits === undefined;

const isBecoming = (deposit: FixtureDeposit): deposit is BecomingDeposit =>
  deposit.state === 'pending' && deposit.becomes !== undefined;

/** What a state hook changes. */
export type Change =
  | { readonly state: 'deposit executed'; readonly deposit: FixtureExecutedDeposit }
  | { readonly state: 'key revoked'; readonly key: KnownKey };

/** What is known of the target at present. Changes by the state hook replace it. */
export interface Present {
  known: Known;
  /**
   * Whether rows about lookups judge answers. Not while a change is under way: the old and the new state are right.
   * A failure in a changed state is not asked for again, because the change is undone then.
   */
  state: 'as before' | 'changing' | 'changed';
}

export const presentOf = (known: Known): Present => ({ known, state: 'as before' });

/** What a state hook writes, by a run that asks at `now` (Unix ms). */
export const executionAt = (now: number) => ({
  amountInUsd: 123.45,
  // In the past, not in whole seconds. Clocks have fractions of milliseconds.
  executedAt: (Math.floor(now / 1000) - 1) * 1000 + 123,
});

/** What is known after a change. */
export function afterChange(change: Change, known: Known): Known {
  if (change.state === 'deposit executed') return withDeposit(known, change.deposit);
  const { key } = change.key;
  const all = withOpenKeys(known, change.key);
  return {
    ...all,
    everyKey: all.everyKey.map((one) => (one.key === key ? { ...one, state: 'revoked' } : one)),
  };
}

/** What is known once a change is undone: a server may keep answers of the changed state. */
export function afterUndo(change: Change, known: Known): Known {
  if (change.state === 'key revoked') return withOpenKeys(known, change.key);
  const { reference_id, user_id, amountInUsd } = change.deposit;
  const becomes = { state: 'EXECUTED', amountInUsd } as const;
  return withDeposit(known, { reference_id, user_id, state: 'pending', becomes });
}

const withDeposit = (known: Known, deposit: FixtureDeposit): Known => ({
  ...known,
  depositById: new Map([...known.depositById, [deposit.reference_id.toLowerCase(), deposit]]),
});

/** The keys of the partner may work or not. The revoked one is not used any more, unless it is the only one. */
function withOpenKeys(known: Known, { key, partner }: KnownKey): Known {
  const others = known.callerKeys.filter((one) => one.key !== key);
  return {
    ...known,
    callerKeys: others.length > 0 ? others : known.callerKeys,
    everyKey: known.everyKey.map((one) =>
      one.partner === partner && one.state === 'active' ? { ...one, mayBeRefused: true } : one,
    ),
  };
}
