import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAdmin } from '../testing/admin.ts';

for (const [method, path, body, place] of [
  ['PUT', '/limits', { 'deposit-check': 5 }, 'deposit-check'],
  ['PUT', '/limits', { 'deposit-check': { requests: 2 } }, 'deposit-check'],
  ['PUT', '/limits', { 'deposit-check': { requests: '2', windowSeconds: 1 } }, 'deposit-check.requests'],
  ['POST', '/users', { user_id: '1', partner: 1, date_joined: '2024-01-01T00:00:00Z' }, 'user_id'],
  ['PUT', '/fixture', { apiKeys: 5 }, 'apiKeys'],
  ['PUT', '/limits', 5, undefined],
] as const)
  test(`${method} ${path} ${JSON.stringify(body)} names the place ${place}`, async () => {
    const [status, , gotPlace] = await testAdmin().refused(method, path, body);
    assert.deepEqual([status, gotPlace], [400, place]);
  });

test('a call that is refused creates no world', async () => {
  const { refused, session } = testAdmin();
  await refused('PUT', '/limits?world=new', { 'deposit-check': 5 });
  await refused('PUT', '/faults?world=new', { chaos: ['x'] });
  await refused('POST', '/users?world=new', {});
  assert.equal(session.sandboxes.size, 0);
});
