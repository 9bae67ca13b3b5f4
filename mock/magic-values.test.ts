import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '../schemas/endpoints.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { testAdmin } from './testing/admin.ts';
import { magicValues } from './magic-values.ts';
import { builtIn, ids, testSession } from './testing/session.ts';
import { factsOf } from './world.ts';

test('each value of the built-in fixture shows the status that it says', () => {
  const values = magicValues(builtIn, factsOf(builtIn));
  assert.equal(values.length, 17);
  for (const { shows, endpoint, id, key } of values) {
    const { path, parameter } = endpoints[endpoint];
    const { status } = testSession().get(`${path}?${parameter}=${id}`, key.key);
    assert.equal(status, Number(shows.slice(0, 3)), shows);
  }
});

test('what a fixture has none of is left out', () => {
  const shown = (fixture: Fixture) => magicValues(fixture, factsOf(fixture)).map(({ shows }) => shows);
  assert.deepEqual(shown({}), []);
  assert.deepEqual(shown({ apiKeys: [{ key: 'northwind-key', partner: 'northwind', state: 'active' }] }), [
    '200, an unknown user',
    '400, not a UUID',
    '404, an unknown deposit',
  ]);
});

test('over the admin API a key stands there only where it is no secret', async () => {
  const secret = await testAdmin().done('GET', '/magic-values');
  assert.deepEqual(secret['values'][0], {
    shows: '200, a member',
    endpoint: 'user-status',
    id: ids.member,
    target: '/api/ib/user-status?user_id=11111111-1111-4111-8111-111111111111',
    keyName: '<key northwind/active>',
  });
  const open = await testAdmin({ arePublicKeys: true, basePath: '/gateway/' }).done('GET', '/magic-values');
  assert.equal(open['values'][0].key, 'northwind-key');
  assert.match(open['values'][0].target, /^\/gateway\/api\/ib\//);
});
