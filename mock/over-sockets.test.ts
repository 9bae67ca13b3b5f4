import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { builtIn, START } from './testing/probes.ts';
import { ids, userPath } from './run-session.ts';
import { startMock, type MockOptions } from './server.ts';

async function startFor(t: TestContext, options: Partial<MockOptions> = {}) {
  const mock = await startMock({ fixture: builtIn, clock: { now: () => START }, ...options });
  t.after(() => mock.close());
  return mock.url.replace(/\/$/, '') + userPath(ids.member);
}

test('--cors: a page may ask, and read the answer', async (t) => {
  const url = await startFor(t, { cors: true });
  const origin = 'https://app.example';
  const asked = {
    origin,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization',
  };
  const preflight = await fetch(url, { method: 'OPTIONS', headers: asked });
  assert.deepEqual(
    [preflight.status, preflight.headers.get('access-control-allow-headers')],
    [204, 'authorization'],
  );
  const answer = await fetch(url, { headers: { origin, authorization: 'Bearer northwind-key' } });
  assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [200, '*']);
});

test('without --cors no page may', async (t) => {
  const answer = await fetch(await startFor(t), { headers: { authorization: 'Bearer northwind-key' } });
  assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [200, null]);
});

test('Prefer: code=429 forces that answer, and the next one is as ever', async (t) => {
  const url = await startFor(t);
  const headers = { authorization: 'Bearer northwind-key' };
  const forced = await fetch(url, { headers: { ...headers, prefer: 'code=429' } });
  assert.deepEqual([forced.status, forced.headers.get('preference-applied')], [429, 'code=429']);
  assert.deepEqual(await forced.json(), { error: 'Too many failed lookups. Please try again later.' });
  assert.equal((await fetch(url, { headers })).status, 200);
});
