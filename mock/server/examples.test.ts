import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '../../schemas/endpoints.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { findExamples } from './examples.ts';
import { builtIn, ids, testSession } from '../testing/session.ts';

test('each value of the built-in fixture gets its status', () => {
  const values = findExamples(builtIn);
  assert.equal(values.length, 21);
  for (const { shows, endpoint, id, key } of values) {
    const { path, parameter } = endpoints[endpoint];
    const { status } = testSession().get(`${path}?${parameter}=${id}`, key?.key ?? null);
    assert.equal(status, Number(shows.slice(0, 3)), shows);
  }
});

test('states that the fixture lacks are left out', () => {
  const shown = (fixture: Fixture) => findExamples(fixture).map(({ shows }) => shows);
  assert.deepEqual(shown({}), []);
  assert.deepEqual(shown({ apiKeys: [{ key: 'northwind-key', partner: 'northwind', state: 'active' }] }), [
    '200, an unknown user',
    '400, not a UUID',
    '404, an unknown deposit',
    '400, not a UUID, of a deposit',
    '401, no key',
  ]);
});

test('only public keys are shown', () => {
  assert.deepEqual(testSession().data().examples[0], {
    shows: '200, a member',
    endpoint: 'user-status',
    id: ids.member,
    target: '/api/ib/user-status?user_id=11111111-1111-4111-8111-111111111111',
    keyName: '<key northwind/active>',
    variable: 'IB_API_KEY',
  });
  const [open] = testSession({ arePublicKeys: true, basePath: '/gateway/' }).data().examples;
  assert.equal(open?.key, 'northwind-key');
  assert.match(open.target, /^\/gateway\/api\/ib\//);
});
