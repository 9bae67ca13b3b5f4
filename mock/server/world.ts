import { perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import type {
  Fixture,
  FixtureApiKey,
  FixtureDeposit,
  FixtureExecutedDeposit,
  FixtureKeyLimits,
  FixtureLimits,
  FixtureUser,
} from '../../schemas/generated/types.ts';
import { indexOf, namedKeys } from '../../schemas/fixture.ts';
import { oncePer } from '../../schemas/values.ts';

/** Maximum number of counted requests in a window. */
export interface Limit {
  readonly most: number;
  readonly windowMs: number;
}

/**
 * An API key. Output shows `name` (`<key northwind/active>`), never the key. `since` is the start of
 * `expiresAfterSeconds`, in ms after the creation of the world. Only keys added to a running world have it.
 */
export type ApiKey = Readonly<FixtureApiKey> & { readonly name: string; readonly since?: number };

export type User = Readonly<FixtureUser>;

/** A deposit. `since` is the start of `afterSeconds`, like that of a key. */
export type Deposit = Readonly<FixtureDeposit> & { readonly since?: number };

/** Amount (USD) and time (Unix ms) of an EXECUTED deposit. */
export type Execution = Readonly<Pick<FixtureExecutedDeposit, 'amountInUsd' | 'executedAt'>>;

/** The values of a fixture by id, which all its worlds share and which never change, and the values that one world changed or added. */
export interface Overlay<Value> {
  readonly base: ReadonlyMap<string, Value>;
  readonly changed: Map<string, Value>;
}

/** The data of one world: the fixture and all changes since. */
export interface World {
  /** Unix ms; the start of `afterSeconds` and `expiresAfterSeconds` of the fixture. */
  readonly createdAt: number;
  readonly keys: Overlay<ApiKey>;
  readonly users: Overlay<User>;
  readonly deposits: Overlay<Deposit>;
  readonly limits: FixtureLimits;
  /** By endpoint and limiter key: Unix ms at which each counted request leaves the window, ascending. */
  readonly hits: Readonly<Record<Endpoint, Map<string, number[]>>>;
  /** Number of polls that found a deposit pending, by lower-case reference_id. */
  readonly polls: Map<string, number>;
  /** Ms from the creation to the first poll that found a deposit executed, by lower-case reference_id. */
  readonly foundAt: Map<string, number>;
  /** Whether a test has set up how this world behaves: a clock, limits, a fault or next answers, or other data after its first request. */
  isSetUp: boolean;
}

/** Returns the keys of a fixture by value. If two have the same value, the last one is used. */
export const keysOf = ({ apiKeys = [] }: Fixture) => keysByValue(apiKeys);

const keysByValue = oncePer(
  (apiKeys: readonly FixtureApiKey[]): ReadonlyMap<string, ApiKey> =>
    new Map(namedKeys(apiKeys).map((named) => [named.key, named])),
);

/** Returns the first active key of a partner without `expiresAfterSeconds` and own limits. */
export const lastingKey = <Key extends FixtureApiKey>(keys: readonly Key[] = []): Key | undefined =>
  keys.find(
    ({ state, partner, expiresAfterSeconds, limits }) =>
      state === 'active' && partner !== null && expiresAfterSeconds === undefined && limits === undefined,
  );

/** Creates the world of a fixture; `now` is in Unix ms. */
export function createWorld(fixture: Fixture, now: number): World {
  const { users, deposits } = indexOf(fixture);
  return {
    createdAt: now,
    keys: { base: keysOf(fixture), changed: new Map() },
    users: { base: users, changed: new Map() },
    deposits: { base: deposits, changed: new Map() },
    limits: fixture.limits ?? {},
    hits: perEndpoint(() => new Map()),
    polls: new Map(),
    foundAt: new Map(),
    isSetUp: false,
  };
}

/** Returns the limit of an endpoint, for one key or for all; undefined: it has none. */
export function limitIn(limits: FixtureKeyLimits | undefined, endpoint: Endpoint): Limit | undefined {
  const found = limits?.[endpoint];
  if (found === undefined) return undefined;
  const most = 'requests' in found ? found.requests : found.failedLookups;
  return { most, windowMs: found.windowSeconds * 1000 };
}

/** Returns the value with an id; undefined: there is none. */
export function lookUp<Value>({ base, changed }: Overlay<Value>, id: string): Value | undefined {
  return changed.get(id) ?? base.get(id);
}

/** Returns the values in the order of the fixture, then added ones. */
export function valuesOf<Value>({ base, changed }: Overlay<Value>): readonly Value[] {
  const added = [...changed].filter(([id]) => !base.has(id));
  return [...Array.from(base, ([id, value]) => changed.get(id) ?? value), ...added.map(([, value]) => value)];
}

/** Returns the partner of a deposit's user; null: no IB. */
export function partnerOf({ users }: World, { user_id }: Deposit): string | null {
  return lookUp(users, user_id.toLowerCase())?.partner ?? null;
}

/** Returns the Unix ms at which a key expires; undefined: never. */
export function expiryOf({ createdAt }: World, { expiresAt, expiresAfterSeconds, since = 0 }: ApiKey) {
  const due = expiresAfterSeconds === undefined ? undefined : createdAt + since + expiresAfterSeconds * 1000;
  return expiresAt ?? due;
}

/** Returns a key with its state at `now` (Unix ms): an active key may have expired (Authentication: partner keys). */
export function keyAt(world: World, key: ApiKey, now: number): ApiKey {
  const expiry = expiryOf(world, key) ?? Infinity;
  return key.state !== 'active' || now < expiry ? key : { ...key, state: 'expired' };
}

/** Returns what a pending deposit becomes, if it does. */
export const planOf = (deposit: Deposit | undefined) =>
  deposit?.state === 'pending' ? deposit.becomes : undefined;

/** Returns the Unix ms at which `afterSeconds` executes a pending deposit; undefined: never. */
function dueAt({ createdAt }: World, deposit: Deposit): number | undefined {
  const { afterSeconds } = planOf(deposit) ?? {};
  return afterSeconds === undefined ? undefined : createdAt + (deposit.since ?? 0) + afterSeconds * 1000;
}

/** Returns how many more polls find a deposit pending; undefined: it does not depend on polls. */
function pollsLeft({ polls }: World, deposit: Deposit): number | undefined {
  const { afterPolls } = planOf(deposit) ?? {};
  const counted = polls.get(deposit.reference_id.toLowerCase()) ?? 0;
  return afterPolls === undefined ? undefined : Math.max(0, afterPolls - counted);
}

/**
 * Returns amount and time of a pending deposit that is EXECUTED by `now` (Deposit states). The default
 * time is when `afterSeconds` ended, or when a poll first found the deposit executed.
 */
export function becomeExecuted(world: World, deposit: Deposit, now: number): Execution | undefined {
  const plan = planOf(deposit);
  const due =
    pollsLeft(world, deposit) === 0
      ? world.createdAt + (world.foundAt.get(deposit.reference_id.toLowerCase()) ?? now - world.createdAt)
      : dueAt(world, deposit);
  if (plan === undefined || due === undefined || now < due) return undefined;
  return { amountInUsd: plan.amountInUsd, executedAt: plan.executedAt ?? Math.trunc(due) };
}

/** Returns a deposit as it is at `now` (Unix ms): EXECUTED if a poll has found it so, or if time alone made it so. */
export function settled(world: World, deposit: Deposit, now: number): Deposit {
  const isPolled = pollsLeft(world, deposit) !== undefined;
  if (isPolled && !world.foundAt.has(deposit.reference_id.toLowerCase())) return deposit;
  const execution = becomeExecuted(world, deposit, now);
  return execution === undefined ? deposit : executedAs(deposit, execution);
}

/** Returns a deposit as an EXECUTED one. */
export const executedAs = ({ reference_id, user_id }: Deposit, execution: Execution): Deposit => ({
  reference_id,
  user_id,
  state: 'EXECUTED',
  ...execution,
});

/** Counts an answered poll of a deposit by its own partner. */
export function countPoll(world: World, deposit: Deposit, now: number): void {
  const left = pollsLeft(world, deposit);
  const id = deposit.reference_id.toLowerCase();
  if (left === 0 && !world.foundAt.has(id)) world.foundAt.set(id, now - world.createdAt);
  else if (left !== undefined && left > 0) world.polls.set(id, (world.polls.get(id) ?? 0) + 1);
}

/** The current state of a deposit, and when it becomes EXECUTED. */
export interface DepositNow extends Pick<Deposit, 'reference_id' | 'user_id' | 'state'>, Partial<Execution> {
  readonly partner: string | null;
  /** Ms until `afterSeconds` executes it. */
  readonly dueInMs?: number;
  /** Number of polls that will still find it pending. */
  readonly pollsLeft?: number;
}

/** Returns the state of a deposit at `now` (Unix ms). This does not count as a poll. */
export function depositNow(world: World, deposit: Deposit, now: number): DepositNow {
  const current = settled(world, deposit, now);
  const { reference_id, user_id, state } = current;
  const shown = { reference_id, user_id, partner: partnerOf(world, deposit), state };
  if (current.state === 'EXECUTED') {
    const { amountInUsd, executedAt } = current;
    return { ...shown, amountInUsd, executedAt };
  }
  const [left, due] = [pollsLeft(world, current), dueAt(world, current)];
  if (left !== undefined) return { ...shown, pollsLeft: left };
  return due === undefined ? shown : { ...shown, dueInMs: due - now };
}
