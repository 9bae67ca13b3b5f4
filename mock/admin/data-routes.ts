import { checkFixture } from '../../schemas/fixture.ts';
import { keyNames } from '../../schemas/fixture-keys.ts';
import type { Fixture, FixtureDeposit } from '../../schemas/generated/types.ts';
import { Problem } from '../../schemas/problem.ts';
import { isId } from '../behaviour.ts';
import { addDeposit, executeDeposit, failDeposit, knownDeposit } from '../controls.ts';
import { gaugesOf } from '../limiter.ts';
import {
  redactAdded,
  Refusal,
  replaceFixture,
  sandboxNamed,
  sandboxSeen,
  tell,
  timeIn,
  type Sandbox,
  type Session,
} from '../session.ts';
import { depositNow, expiryOf, keyAt, keyOf, limitsOf, lookIn, valuesOf } from '../world.ts';
import type { ApiKey, Deposit, Limits } from '../world.ts';
import { countIn, ok, routeWithFields, type Route } from './route.ts';

/**
 * A part of a fixture, checked like a file.
 *
 * @param within where the body stands in that fixture, such as `deposits[0]`
 * @throws Refusal, 400 with the first place that is wrong
 */
function readPart(fixture: unknown, within = ''): Fixture {
  const withoutPlace = (problem: string) =>
    within === '' || !problem.startsWith(within)
      ? problem
      : problem.slice(within.length).replace(/^ /, 'the body ').replace(/^\./, '');
  try {
    return checkFixture(fixture, '', {});
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const problems = error.message.split('\n').map((line) => withoutPlace(line.replace(/^: /, '')));
    const [, place] = /^([\w$.[\]-]+) (?:is|lacks|has|needs)\b/.exec(problems[0] ?? '') ?? [];
    throw new Refusal(400, problems.join('\n'), place === undefined ? {} : { place });
  }
}

/** Items that a list answers, unless told otherwise. */
const PAGE = 1000;

const listQuery = {
  contains: 'only those that hold this text in an id, a partner, a name or a state, in any letter case',
  offset: 'how many to pass over',
  limit: `at most so many (${PAGE})`,
} as const;

/** The part of a list that a query asks for. An item is found by its texts. */
function partOf<Item>(
  all: readonly Item[],
  query: URLSearchParams,
  textsOf: (item: Item) => readonly (string | null | undefined)[],
) {
  const wanted = query.get('contains')?.trim() ?? '';
  const pattern = new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'i');
  const holds = (item: Item) => textsOf(item).some((text) => typeof text === 'string' && pattern.test(text));
  const found = wanted === '' ? all : all.filter(holds);
  const offset = countIn(query, 'offset', 0);
  const items = found.slice(offset, offset + countIn(query, 'limit', PAGE));
  return { items, meta: { total: found.length } };
}

const depositRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/deposits',
    summary: 'The deposits in their state of now, with what is to become of them.',
    query: { state: 'EXECUTED, pending or failed', ...listQuery },
    handle: (session, { world: name, query }) => {
      const sandbox = sandboxSeen(session, name);
      const { world } = sandbox;
      const now = timeIn(session, sandbox);
      const state = query.get('state');
      const stateOf = (deposit: Deposit) =>
        deposit.state === 'pending' && deposit.becomes !== undefined
          ? depositNow(world, deposit, now).state
          : deposit.state;
      const all = valuesOf(world.deposits);
      const { items, meta } = partOf(
        state === null ? all : all.filter((deposit) => stateOf(deposit) === state),
        query,
        (deposit) => [deposit.reference_id, deposit.user_id, deposit.partner, stateOf(deposit)],
      );
      return ok({ deposits: items.map((deposit) => depositNow(world, deposit, now)), meta });
    },
  },
  {
    method: 'POST',
    path: '/deposits',
    summary: 'Adds a deposit, as a fixture would have it; afterSeconds counts from now.',
    body: { $ref: '#/components/schemas/deposit' },
    handle: (session, { world, body }) => {
      // The fixture needs some user. Whether the world has one is checked when the deposit is added.
      const { user_id } = (body ?? {}) as { readonly user_id?: unknown };
      const users =
        typeof user_id === 'string' && isId('user-status', user_id)
          ? [{ user_id, partner: null, date_joined: '2000-01-01T00:00:00Z' }]
          : [];
      const { deposits } = readPart({ users, deposits: [body ?? null] }, 'deposits[0]');
      const added: FixtureDeposit = deposits![0]!;
      return { status: 201, json: addDeposit(session, sandboxNamed(session, world), added) };
    },
  },
  {
    method: 'GET',
    path: '/deposits/{id}',
    summary: 'One deposit.',
    handle: (session, { world, id }) => {
      const sandbox = sandboxSeen(session, world);
      return ok(depositNow(sandbox.world, knownDeposit(sandbox, id), timeIn(session, sandbox)));
    },
  },
  routeWithFields({
    method: 'POST',
    path: '/deposits/{id}/execute',
    summary:
      'Executes a pending deposit now: with the amount and time given, or those of the fixture, or 100 USD now. 409 where its state is final.',
    fields: { amountInUsd: { type: 'number', minimum: 0 }, executedAt: { type: 'integer', minimum: 0 } },
    handle: (session, { world, id, fields: { amountInUsd, executedAt } }) => {
      const given = {
        ...(amountInUsd !== undefined && { amountInUsd }),
        ...(executedAt !== undefined && { executedAt }),
      };
      return ok(executeDeposit(session, sandboxNamed(session, world), id, given));
    },
  }),
  routeWithFields({
    method: 'POST',
    path: '/deposits/{id}/fail',
    summary: 'Lets a pending deposit fail now. 409 where its state is final.',
    fields: {},
    handle: (session, { world, id }) => ok(failDeposit(session, sandboxNamed(session, world), id)),
  }),
];

const userRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/users',
    summary: 'The users.',
    query: listQuery,
    handle: (session, { world, query }) => {
      const all = valuesOf(sandboxSeen(session, world).world.users);
      const { items, meta } = partOf(all, query, ({ user_id, partner }) => [user_id, partner]);
      return ok({ users: items, meta });
    },
  },
  {
    method: 'POST',
    path: '/users',
    summary: 'Adds a user, as a fixture would have it.',
    body: { $ref: '#/components/schemas/user' },
    handle: (session, { world, body }) => {
      const { partners } = session.fixture;
      const read = readPart({ ...(partners && { partners }), users: [body ?? null] }, 'users[0]');
      const user = read.users![0]!;
      const { users } = sandboxNamed(session, world).world;
      const id = user.user_id.toLowerCase();
      if (lookIn(users, id) !== undefined)
        throw new Refusal(409, `there is a user ${user.user_id} already`, { place: 'user_id' });
      users.changed.set(id, user);
      tell(session.watchers, () => ({ kind: 'change', world, what: `user ${user.user_id} added` }));
      return { status: 201, json: user };
    },
  },
];

/** Limits as a fixture has them. */
function shownLimits({ 'user-status': user, 'deposit-check': deposit }: Limits) {
  return {
    ...(user && { 'user-status': { failedLookups: user.most, windowSeconds: user.windowMs / 1000 } }),
    ...(deposit && { 'deposit-check': { requests: deposit.most, windowSeconds: deposit.windowMs / 1000 } }),
  };
}

const isPublic = (session: Session, { key }: ApiKey) => session.arePublicKeys && session.facts.keys.has(key);

/** A key by its name. The key itself is shown only if it is no secret. */
function shownKey(session: Session, sandbox: Sandbox, key: ApiKey) {
  const expiresAt = expiryOf(sandbox.world, key);
  return {
    name: key.name,
    ...(isPublic(session, key) && { key: key.key }),
    partner: key.partner,
    state: keyAt(sandbox.world, key, timeIn(session, sandbox)).state,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(key.limits && { limits: shownLimits(key.limits) }),
  };
}

function changeKey(session: Session, sandbox: Sandbox, key: ApiKey, what: string) {
  sandbox.world.keys.changed.set(key.key, key);
  tell(session.watchers, () => ({ kind: 'change', world: sandbox.name, what: `${key.name} ${what}` }));
  return shownKey(session, sandbox, key);
}

/** Revokes or expires a key, which the body names by itself or by its name, with or without `<key …>`. */
const endKey = (state: 'revoked' | 'expired', verb: string) =>
  routeWithFields({
    method: 'POST',
    path: `/keys/${verb}`,
    summary: `Lets a key be ${state} from now on. 409 where it is already.`,
    fields: {
      key: {
        type: 'string',
        required: true,
        description: 'a key, or its name as GET /__admin/keys has it',
      },
    },
    handle: (session, { world, fields: { key: asked } }) => {
      const sandbox = sandboxNamed(session, world);
      const { keys } = sandbox.world;
      const key =
        lookIn(keys, asked) ?? valuesOf(keys).find(({ name }) => name === asked || name === `<key ${asked}>`);
      // What was asked for may be a key: it is not repeated.
      if (key === undefined)
        throw new Refusal(404, 'there is no such key here; GET /__admin/keys lists their names', {
          place: 'key',
        });
      const now = keyAt(sandbox.world, key, timeIn(session, sandbox)).state;
      if (now === state || now === 'revoked')
        throw new Refusal(409, `${key.name} is ${now} already`, { state: now });
      return ok(changeKey(session, sandbox, { ...key, state }, state));
    },
  });

/** Names come from the first state of a key, whatever has become of it. */
const fixtureStates = (session: Session, keys: readonly ApiKey[]) =>
  keys.map(({ key, partner, state, name }) => {
    const named = (['active', 'revoked', 'expired'] as const).find((one) => name.includes(`/${one}`));
    return { key, partner, state: session.facts.keys.get(key)?.state ?? named ?? state };
  });

const keyRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/keys',
    summary:
      'The keys in their state of now, by names; those of the built-in fixture are no secrets and are shown.',
    query: listQuery,
    handle: (session, { world, query }) => {
      const sandbox = sandboxSeen(session, world);
      const now = timeIn(session, sandbox);
      const { items, meta } = partOf(valuesOf(sandbox.world.keys), query, (key) => [
        key.name,
        key.partner,
        keyAt(sandbox.world, key, now).state,
        isPublic(session, key) ? key.key : null,
      ]);
      return ok({ keys: items.map((key) => shownKey(session, sandbox, key)), meta });
    },
  },
  {
    method: 'POST',
    path: '/keys',
    summary: 'Adds a key, as a fixture would have it; expiresAfterSeconds counts from now.',
    body: { $ref: '#/components/schemas/apiKey' },
    handle: (session, { world, body }) => {
      const { partners } = session.fixture;
      const read = readPart({ ...(partners && { partners }), apiKeys: [body ?? null] }, 'apiKeys[0]');
      const added = read.apiKeys![0]!;
      const sandbox = sandboxNamed(session, world);
      const { keys } = sandbox.world;
      if (lookIn(keys, added.key) !== undefined)
        throw new Refusal(409, 'there is such a key already', { place: 'key' });
      const names = keyNames([...fixtureStates(session, valuesOf(keys)), added]);
      const key = { ...keyOf(added, names.at(-1)!), since: timeIn(session, sandbox) };
      redactAdded(session, key);
      return { status: 201, json: changeKey(session, sandbox, key, 'added') };
    },
  },
  endKey('revoked', 'revoke'),
  endKey('expired', 'expire'),
];

function limitsNow(session: Session, name: string) {
  const sandbox = sandboxSeen(session, name);
  const { world, service } = sandbox;
  return {
    limits: shownLimits(world.limits),
    gauges: gaugesOf(service.behaviour, world, timeIn(session, sandbox)),
  };
}

const limitRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/limits',
    summary: 'The limits for all keys, and how full the windows are; ms until one lets go.',
    handle: (session, { world }) => ok(limitsNow(session, world)),
  },
  {
    method: 'PUT',
    path: '/limits',
    summary: 'Sets the limits for all keys, as a fixture would have them; {} takes them away.',
    body: { $ref: '#/components/schemas/limits' },
    handle: (session, { world, body }) => {
      const { limits } = readPart({ limits: body ?? null }, 'limits');
      const sandbox = sandboxNamed(session, world);
      sandbox.world = { ...sandbox.world, limits: limitsOf(limits!) };
      tell(session.watchers, () => ({ kind: 'change', world, what: 'limits set' }));
      return ok(limitsNow(session, world));
    },
  },
];

/** Names stand in the place of keys. */
function withoutKeys({ apiKeys, ...fixture }: Fixture): Fixture {
  if (apiKeys === undefined) return fixture;
  const names = keyNames(apiKeys);
  return { ...fixture, apiKeys: apiKeys.map((apiKey, index) => ({ ...apiKey, key: names[index]! })) };
}

const fixtureRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/fixture',
    summary: 'The fixture, as it was loaded; names stand in the place of keys that are no public ones.',
    isForAll: true,
    handle: ({ fixture, arePublicKeys }) => ok(arePublicKeys ? fixture : withoutKeys(fixture)),
  },
  {
    method: 'PUT',
    path: '/fixture',
    summary: 'Takes another fixture in its place, and begins all worlds anew.',
    body: { $ref: '#/components/schemas/fixture' },
    isForAll: true,
    handle: (session, { body }) => {
      const fixture = readPart(body ?? null);
      replaceFixture(session, fixture);
      const { partners = [], apiKeys = [], users = [], deposits = [] } = fixture;
      return ok({
        partners: partners.length,
        apiKeys: apiKeys.length,
        users: users.length,
        deposits: deposits.length,
      });
    },
  },
];

/** The data: each world has its own, made from one fixture. */
export const dataRoutes: readonly Route[] = [
  ...depositRoutes,
  ...userRoutes,
  ...keyRoutes,
  ...limitRoutes,
  ...fixtureRoutes,
];
