import type { Endpoint } from '../schemas/endpoints.ts';
import type {
  Fixture,
  FixtureApiKey,
  FixtureDeposit,
  FixtureKeyLimits,
  FixtureUser,
} from '../schemas/generated/types.ts';
import { indexOf, type FixtureIndex } from '../schemas/fixture-index.ts';
import { keyNames } from '../schemas/fixture-keys.ts';

/** At most this many counted requests are answered in a window of this length. */
export interface Limit {
  readonly most: number;
  readonly windowMs: number;
}

/** Limits by endpoint. An endpoint that is missing has no limit. */
export type Limits = Readonly<Partial<Record<Endpoint, Limit>>>;

/**
 * An API key. Output shows `name` (`<key northwind/active>`), never the key. A key that was added to a
 * running world has `since`: so many ms after the world's creation `expiresAfterSeconds` begins to count.
 */
export type ApiKey = Readonly<Omit<FixtureApiKey, 'limits'>> & {
  readonly name: string;
  readonly limits?: Limits;
  readonly since?: number;
};

export type User = Readonly<FixtureUser>;

/** A deposit. One that was added to a running world has `since`, as a key has, from which `afterSeconds` counts. */
export type Deposit = Readonly<FixtureDeposit> & { readonly since?: number };

/** Amount in USD and time in Unix ms of a deposit that is EXECUTED. */
export interface Execution {
  readonly amountInUsd: number;
  readonly executedAt: number;
}

/** The content of a fixture, by id. All worlds of the fixture share it, and nothing changes it. */
export interface Facts extends FixtureIndex {
  readonly keys: ReadonlyMap<string, ApiKey>;
  readonly limits: Limits;
}

/** Shared values, and what one world has changed or added. */
export interface Overlay<Value> {
  readonly base: ReadonlyMap<string, Value>;
  readonly changed: Map<string, Value>;
}

/** All that the mock knows: the fixture, and what has happened since. */
export interface World {
  /** Unix ms from which `afterSeconds` and `expiresAfterSeconds` of the fixture count. */
  readonly createdAt: number;
  readonly keys: Overlay<ApiKey>;
  readonly users: Overlay<User>;
  readonly deposits: Overlay<Deposit>;
  readonly limits: Limits;
  /** Unix ms at which each counted request is forgotten, ascending, by endpoint and by what the limiter counts for. */
  readonly hits: Readonly<Record<Endpoint, Map<string, number[]>>>;
  /** Polls that found a deposit pending, by reference_id in lower case. */
  readonly polls: Map<string, number>;
  /** Ms after the creation at which a poll first found a deposit executed, by reference_id in lower case. */
  readonly foundAt: Map<string, number>;
}

const MAX_NAME = 100;

/** Why no world can have a name, which stands behind the `~` of a key in a header; undefined: one can. */
export function wrongWorldName(name: string): string | undefined {
  if (name.length > MAX_NAME) return `has ${name.length} characters; the maximum is ${MAX_NAME}`;
  if (/^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(name)) return undefined;
  return 'must be visible ASCII characters, with spaces only between them';
}

/** The content of a fixture, by id. Where two entries share an id, the last one counts. */
export function factsOf(fixture: Fixture): Facts {
  const { apiKeys = [], limits = {} } = fixture;
  const names = keyNames(apiKeys);
  return {
    ...indexOf(fixture),
    keys: new Map(apiKeys.map((apiKey, index) => [apiKey.key, keyOf(apiKey, names[index]!)])),
    limits: limitsOf(limits),
  };
}

/** A world in which nothing has happened yet; `now` in Unix ms. */
export function worldOf(facts: Facts, now: number): World {
  return {
    createdAt: now,
    keys: { base: facts.keys, changed: new Map() },
    users: { base: facts.users, changed: new Map() },
    deposits: { base: facts.deposits, changed: new Map() },
    limits: facts.limits,
    hits: { 'user-status': new Map(), 'deposit-check': new Map() },
    polls: new Map(),
    foundAt: new Map(),
  };
}

/** The world of a fixture in which nothing has happened yet; `now` in Unix ms. */
export function createWorld(fixture: Fixture, now: number): World {
  return worldOf(factsOf(fixture), now);
}

/** A key of a fixture under its name. */
export function keyOf({ limits, ...apiKey }: FixtureApiKey, name: string): ApiKey {
  return { ...apiKey, name, ...(limits === undefined ? {} : { limits: limitsOf(limits) }) };
}

/** The limits that a fixture states, for all keys or for one. */
export function limitsOf(limits: FixtureKeyLimits): Limits {
  const { 'user-status': user, 'deposit-check': deposit } = limits;
  return {
    ...(user && { 'user-status': { most: user.failedLookups, windowMs: user.windowSeconds * 1000 } }),
    ...(deposit && { 'deposit-check': { most: deposit.requests, windowMs: deposit.windowSeconds * 1000 } }),
  };
}

/** The value of an id; undefined: there is none. */
export function lookIn<Value>({ base, changed }: Overlay<Value>, id: string): Value | undefined {
  return changed.get(id) ?? base.get(id);
}

/** Every value in the order of the fixture; added ones last. */
export function* eachOf<Value>({ base, changed }: Overlay<Value>): Generator<Value> {
  for (const [id, value] of base.entries()) yield changed.get(id) ?? value;
  for (const [id, value] of changed) if (!base.has(id)) yield value;
}

/** Every value in the order of the fixture; added ones last. */
export const valuesOf = <Value>(overlay: Overlay<Value>): readonly Value[] => [...eachOf(overlay)];

/** The partner of the user of a deposit; null: no IB. */
export function partnerOf({ users }: World, { user_id }: Deposit): string | null {
  return lookIn(users, user_id.toLowerCase())?.partner ?? null;
}

/** Unix ms at which a key expires; undefined: never. */
export function expiryOf(
  { createdAt }: World,
  { expiresAt, expiresAfterSeconds, since = 0 }: ApiKey,
): number | undefined {
  const due = expiresAfterSeconds === undefined ? undefined : createdAt + since + expiresAfterSeconds * 1000;
  return expiresAt ?? due;
}

/** The key at a time in Unix ms: an active key is expired from its expiry on (Authentication 2). */
export function keyAt(world: World, key: ApiKey, now: number): ApiKey {
  const expiry = expiryOf(world, key) ?? Infinity;
  return key.state !== 'active' || now < expiry ? key : { ...key, state: 'expired' };
}

const planOf = (deposit: Deposit) => (deposit.state === 'pending' ? deposit.becomes : undefined);

/** Unix ms at which time alone executes a pending deposit; undefined: never. */
export function dueAt({ createdAt }: World, deposit: Deposit): number | undefined {
  const { afterSeconds } = planOf(deposit) ?? {};
  return afterSeconds === undefined ? undefined : createdAt + (deposit.since ?? 0) + afterSeconds * 1000;
}

/** Polls that will find a pending deposit not executed before one finds it executed; undefined: polls do not count. */
function pollsLeft({ polls }: World, deposit: Deposit): number | undefined {
  const { afterPolls } = planOf(deposit) ?? {};
  const counted = polls.get(deposit.reference_id.toLowerCase()) ?? 0;
  return afterPolls === undefined ? undefined : Math.max(0, afterPolls - counted);
}

/**
 * Amount and time of a pending deposit if it has become EXECUTED by now (States and transitions). Without
 * a time in the fixture, it was executed when it fell due, or when a poll first found it executed.
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

/** Counts a poll of a deposit by its own partner, after it was answered. */
export function countPoll(world: World, deposit: Deposit, now: number): void {
  const left = pollsLeft(world, deposit);
  const id = deposit.reference_id.toLowerCase();
  if (left === 0 && !world.foundAt.has(id)) world.foundAt.set(id, now - world.createdAt);
  else if (left !== undefined && left > 0) world.polls.set(id, (world.polls.get(id) ?? 0) + 1);
}

/** A deposit at a time, and when it becomes EXECUTED. */
export interface DepositNow {
  readonly reference_id: string;
  readonly user_id: string;
  readonly partner: string | null;
  readonly state: Deposit['state'];
  readonly amountInUsd?: number;
  readonly executedAt?: number;
  /** Ms until time alone executes it. */
  readonly dueInMs?: number;
  /** Polls that will find it pending before one finds it executed. */
  readonly pollsLeft?: number;
}

/** A deposit at a time in Unix ms. This is not a poll: after enough polls, the next one executes it. */
export function depositNow(world: World, deposit: Deposit, now: number): DepositNow {
  const { reference_id, user_id, state } = deposit;
  const shown = { reference_id, user_id, partner: partnerOf(world, deposit), state };
  if (deposit.state === 'EXECUTED') {
    const { amountInUsd, executedAt } = deposit;
    return { ...shown, amountInUsd, executedAt };
  }
  const left = pollsLeft(world, deposit);
  if (left !== undefined && !world.foundAt.has(reference_id.toLowerCase()))
    return { ...shown, pollsLeft: left };
  const execution = becomeExecuted(world, deposit, now);
  if (execution !== undefined) return { ...shown, state: 'EXECUTED', ...execution };
  const due = dueAt(world, deposit);
  return due === undefined ? shown : { ...shown, dueInMs: due - now };
}
