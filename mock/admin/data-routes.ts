import { checkFixture } from '../../schemas/fixture.ts';
import { keyNames } from '../../schemas/fixture-keys.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { Problem } from '../../schemas/problem.ts';
import { isId } from '../behaviour.ts';
import { controlsIn, tellChange } from '../controls.ts';
import { Refusal, replaceFixture, timeIn, type Session } from '../session.ts';
import { depositNow, lookIn, valuesOf } from '../world.ts';
import { countIn, ok, route, type Route } from './route.ts';

/**
 * A part of a fixture, checked like a file.
 *
 * @param within where the body stands in that fixture, such as `deposits[0]`
 * @throws Refusal, 400 with the first place that is wrong
 */
export function readPart(fixture: unknown, within = ''): Fixture {
  try {
    return checkFixture(fixture, '', {});
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const problems = error.message
      .split('\n')
      .map((line) =>
        line.replace(/^: /, '').replace(within, '').replace(/^ /, 'the body ').replace(/^\./, ''),
      );
    const [, place] = /^([\w$.[\]-]+) (?:is|lacks|has|needs|must)\b/.exec(problems[0] ?? '') ?? [];
    throw new Refusal(400, problems.join('\n'), place === undefined ? {} : { place });
  }
}

/**
 * The body as an item of a list of the fixture.
 *
 * @param users whom the item may refer to
 * @throws Refusal, 400 with the first place that is wrong
 */
export function readItem<List extends 'users' | 'deposits' | 'apiKeys'>(
  { fixture: { partners } }: Session,
  list: List,
  body: unknown = null,
  users: Fixture['users'] = [],
) {
  const read = readPart({ ...(partners && { partners }), users, [list]: [body] }, `${list}[0]`);
  return read[list]![0] as NonNullable<Fixture[List]>[number];
}

const PAGE = 1000;

export const listQuery = {
  contains: 'only items with this text in an id, a partner, a name or a state, in any letter case',
  offset: 'how many items to skip',
  limit: `maximum number of items (${PAGE})`,
} as const;

/** The part of a list that a query asks for. `state` and `contains` look at the items as they are shown. */
export function listed<Item>(
  name: string,
  query: URLSearchParams,
  all: readonly Item[],
  shown: (item: Item) => object = (item) => item as object,
) {
  const { state, contains = '' } = Object.fromEntries(query);
  const wanted = contains.trim().toLowerCase();
  const fits = (item: Item) => {
    const { date_joined: _, ...fields } = shown(item) as Record<string, unknown>;
    const holds = (value: unknown) => typeof value === 'string' && value.toLowerCase().includes(wanted);
    return (state === undefined || fields['state'] === state) && Object.values(fields).some(holds);
  };
  // Items are shown when that is needed: a fixture may have a million.
  const found = state === undefined && wanted === '' ? all : all.filter(fits);
  const offset = countIn(query, 'offset', 0);
  const items = found.slice(offset, offset + countIn(query, 'limit', PAGE));
  return ok({ [name]: items.map(shown), meta: { total: found.length } });
}

function withoutKeys({ apiKeys, ...fixture }: Fixture): Fixture {
  if (apiKeys === undefined) return fixture;
  const names = keyNames(apiKeys);
  return { ...fixture, apiKeys: apiKeys.map((apiKey, index) => ({ ...apiKey, key: names[index]! })) };
}

/** Deposits and users of a world, and the fixture of all worlds. */
export const dataRoutes: readonly Route[] = [
  route(
    'GET /deposits',
    'The deposits in their current state, with what they become.',
    { query: { state: 'EXECUTED, pending or failed', ...listQuery } },
    (session, { sandbox, query }) => {
      const { world } = sandbox;
      const now = timeIn(session, sandbox);
      return listed('deposits', query, valuesOf(world.deposits), (deposit) =>
        depositNow(world, deposit, now),
      );
    },
  ),
  route(
    'POST /deposits',
    'Adds a deposit, as a fixture would have it; afterSeconds counts from now.',
    { body: { $ref: '#/components/schemas/deposit' } },
    (session, request) => {
      // The fixture needs some user. Whether the world has one is checked when the deposit is added.
      const user_id = String((request.body as { readonly user_id?: unknown } | null)?.user_id);
      const user = { user_id, partner: null, date_joined: '2000-01-01T00:00:00Z' };
      const users = isId('user-status', user_id) ? [user] : [];
      const deposit = readItem(session, 'deposits', request.body, users);
      return ok(controlsIn(session, request.world).deposits.add(deposit), 201);
    },
  ),
  route('GET /deposits/{id}', 'One deposit.', {}, (session, { world, id }) =>
    ok(controlsIn(session, world).deposits.get(id)),
  ),
  route(
    'POST /deposits/{id}/execute',
    'Executes a pending deposit, by default as the fixture plans it or with 100 USD; else 409.',
    { fields: { amountInUsd: { type: 'number', minimum: 0 }, executedAt: { type: 'integer', minimum: 0 } } },
    (session, { world, id, fields }) => ok(controlsIn(session, world).deposits.execute(id, fields)),
  ),
  route(
    'POST /deposits/{id}/fail',
    'Makes a pending deposit fail; 409 if its state is final.',
    { fields: {} },
    (session, { world, id }) => ok(controlsIn(session, world).deposits.fail(id)),
  ),
  route('GET /users', 'The users.', { query: listQuery }, (_, { sandbox, query }) =>
    listed('users', query, valuesOf(sandbox.world.users)),
  ),
  route(
    'POST /users',
    'Adds a user, as a fixture would have it.',
    { body: { $ref: '#/components/schemas/user' } },
    (session, request) => {
      const user = readItem(session, 'users', request.body);
      const { sandbox } = request;
      const id = user.user_id.toLowerCase();
      if (lookIn(sandbox.world.users, id) !== undefined)
        throw new Refusal(409, `there is a user ${user.user_id} already`, { place: 'user_id' });
      sandbox.world.users.changed.set(id, user);
      tellChange(session, sandbox, `user ${user.user_id} added`);
      return ok(user, 201);
    },
  ),
  route(
    'GET /fixture',
    'The fixture as it was loaded, with names instead of keys that are not public.',
    { isForAll: true },
    ({ fixture, arePublicKeys }) => ok(arePublicKeys ? fixture : withoutKeys(fixture)),
  ),
  route(
    'PUT /fixture',
    'Replaces the fixture, and resets all worlds.',
    { body: { $ref: '#/components/schemas/fixture' }, isForAll: true },
    (session, { body }) => {
      const fixture = readPart(body ?? null);
      replaceFixture(session, fixture);
      const { partners = [], apiKeys = [], users = [], deposits = [] } = fixture;
      const counts = Object.entries({ partners, apiKeys, users, deposits });
      return ok(Object.fromEntries(counts.map(([name, list]) => [name, list.length])));
    },
  ),
];
