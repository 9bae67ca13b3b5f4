import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '../schemas/endpoints.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { testAdmin } from './testing/admin.ts';
import { findMagicValues } from './magic-values.ts';
import { builtIn, ids, testSession } from './testing/session.ts';
import { factsOf } from './world.ts';

test('each value of the built-in fixture gets its status', () => {
  const values = findMagicValues(builtIn, factsOf(builtIn));
  assert.equal(values.length, 17);
  for (const { shows, endpoint, id, key } of values) {
    const { path, parameter } = endpoints[endpoint];
    const { status } = testSession().get(`${path}?${parameter}=${id}`, key.key);
    assert.equal(status, Number(shows.slice(0, 3)), shows);
  }
});

test('states that the fixture lacks are left out', () => {
  const shown = (fixture: Fixture) => findMagicValues(fixture, factsOf(fixture)).map(({ shows }) => shows);
  assert.deepEqual(shown({}), []);
  assert.deepEqual(shown({ apiKeys: [{ key: 'northwind-key', partner: 'northwind', state: 'active' }] }), [
    '200, an unknown user',
    '400, not a UUID',
    '404, an unknown deposit',
  ]);
});

test('the admin API shows only public keys', async () => {
  const secret = await testAdmin().callJson('GET', '/magic-values');
  assert.deepEqual(secret['values'][0], {
    shows: '200, a member',
    endpoint: 'user-status',
    id: ids.member,
    target: '/api/ib/user-status?user_id=11111111-1111-4111-8111-111111111111',
    keyName: '<key northwind/active>',
  });
  const { callJson } = testAdmin({ arePublicKeys: true, basePath: '/gateway/' });
  const open = await callJson('GET', '/magic-values');
  assert.equal(open['values'][0].key, 'northwind-key');
  assert.match(open['values'][0].target, /^\/gateway\/api\/ib\//);
});
