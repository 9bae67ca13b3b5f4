import type { Fixture } from '../../schemas/generated/types.ts';
import { keyNames } from '../../schemas/fixture-keys.ts';
import { replaceFixture } from '../session.ts';
import { readPart } from './part.ts';
import { ok, type Route } from './route.ts';

function withoutKeys({ apiKeys, ...fixture }: Fixture): Fixture {
  if (apiKeys === undefined) return fixture;
  const names = keyNames(apiKeys);
  return { ...fixture, apiKeys: apiKeys.map((apiKey, index) => ({ ...apiKey, key: names[index]! })) };
}

function counted({ partners = [], apiKeys = [], users = [], deposits = [] }: Fixture) {
  return {
    partners: partners.length,
    apiKeys: apiKeys.length,
    users: users.length,
    deposits: deposits.length,
  };
}

/** The data under all worlds. */
export const fixtureRoutes: readonly Route[] = [
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
      return ok(counted(fixture));
    },
  },
];
