import type {
  FixtureApiKey,
  FixtureDeposit,
  FixtureLimits,
  FixtureUser,
} from '../../schemas/generated/types.ts';
import { listDeposits, listKeys, listUsers, readPart, type ListQuery, type Place } from '../controls/data.ts';
import { replaceFixture, sandboxNamed, sandboxSeen } from '../session.ts';
import { countIn, ok, route, type Route } from './route.ts';

const PAGE = 1000;

const listQuery = {
  contains: 'only items with this text in an id, a partner, a name or a state, in any letter case',
  offset: 'how many items to skip',
  limit: `maximum number of items (${PAGE})`,
} as const;

type List = (
  place: Place,
  query: ListQuery,
) => { readonly items: readonly unknown[]; readonly total: number };

/** A list of a world, with the number of all items that fit. */
const listRoute = (name: string, summary: string, list: List, query: Readonly<Record<string, string>> = {}) =>
  route(
    `GET /${name}`,
    summary,
    { query: { ...query, ...listQuery } },
    (session, { world, query: given }) => {
      const place = {
        session,
        here: () => sandboxNamed(session, world),
        seen: () => sandboxSeen(session, world),
      };
      const { state, contains } = Object.fromEntries(given);
      const [offset, limit] = [countIn(given, 'offset', 0), countIn(given, 'limit', PAGE)];
      const { items, total } = list(place, { state, contains, offset, limit });
      return ok({ [name]: items, meta: { total } });
    },
  );

const keyDescription = 'a key, or its name as GET /__admin/keys has it';
const keyFields = { key: { type: 'string', required: true, description: keyDescription } } as const;

/** Deposits, users, keys and limits of a world, and the fixture of all worlds. */
export const dataRoutes: readonly Route[] = [
  listRoute('deposits', 'The deposits in their current state, with what they become.', listDeposits, {
    state: 'EXECUTED, pending or failed',
  }),
  route(
    'POST /deposits',
    'Adds a deposit, as a fixture would have it; afterSeconds counts from now.',
    { body: { $ref: '#/components/schemas/deposit' } },
    (_, { controls, body }) => ok(controls.deposits.add(body as FixtureDeposit), 201),
  ),
  route('GET /deposits/{id}', 'One deposit.', {}, (_, { controls, id }) => ok(controls.deposits.get(id))),
  route(
    'POST /deposits/{id}/execute',
    'Executes a pending deposit, by default as the fixture plans it or with 100 USD; else 409.',
    { fields: { amountInUsd: { type: 'number', minimum: 0 }, executedAt: { type: 'integer', minimum: 0 } } },
    (_, { controls, id, fields }) => ok(controls.deposits.execute(id, fields)),
  ),
  route(
    'POST /deposits/{id}/fail',
    'Makes a pending deposit fail; 409 if its state is final.',
    { fields: {} },
    (_, { controls, id }) => ok(controls.deposits.fail(id)),
  ),
  listRoute('users', 'The users.', listUsers),
  route(
    'POST /users',
    'Adds a user, as a fixture would have it.',
    { body: { $ref: '#/components/schemas/user' } },
    (_, { controls, body }) => ok(controls.users.add(body as FixtureUser), 201),
  ),
  route(
    'GET /fixture',
    'The fixture that is served, with names instead of keys that are not public.',
    { isForAll: true },
    (_, { mock }) => ok(mock.fixture()),
  ),
  route(
    'PUT /fixture',
    'Replaces the fixture until a reset, and resets all worlds.',
    { body: { $ref: '#/components/schemas/fixture' }, isForAll: true },
    (session, { body }) => {
      const fixture = readPart(body ?? null);
      replaceFixture(session, fixture, false);
      const { partners = [], apiKeys = [], users = [], deposits = [] } = fixture;
      const counts = Object.entries({ partners, apiKeys, users, deposits });
      return ok(Object.fromEntries(counts.map(([name, list]) => [name, list.length])));
    },
  ),
  listRoute(
    'keys',
    'The names of the keys, and their current state. Keys of the built-in fixture are public, and shown.',
    listKeys,
  ),
  route(
    'POST /keys',
    'Adds a key, as a fixture would have it; expiresAfterSeconds counts from now.',
    { body: { $ref: '#/components/schemas/apiKey' } },
    (_, { controls, body }) => ok(controls.keys.add(body as FixtureApiKey), 201),
  ),
  route(
    'POST /keys/revoke',
    'Makes a key revoked from now on; 409 if it is already.',
    { fields: keyFields },
    (_, { controls, fields: { key } }) => ok(controls.keys.revoke(key)),
  ),
  route(
    'POST /keys/expire',
    'Makes a key expired from now on; 409 if it is already.',
    { fields: keyFields },
    (_, { controls, fields: { key } }) => ok(controls.keys.expire(key)),
  ),
  route(
    'GET /limits',
    'The limits for all keys, and how full the windows are, with ms until they free a request.',
    {},
    (_, { controls }) => ok(controls.limits.get()),
  ),
  route(
    'PUT /limits',
    'Sets the limits for all keys, as a fixture would have them; {} removes them.',
    { body: { $ref: '#/components/schemas/limits' } },
    (_, { controls, body }) => ok(controls.limits.set(body as FixtureLimits)),
  ),
];
