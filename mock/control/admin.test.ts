import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:http';
import { describe, test } from 'node:test';
import { ids, userPath } from '../testing/session.ts';
import { ask, bearer, mockFor } from '../testing/sockets.ts';
import type { AnsweredRequest } from '../server/answer-request.ts';
import { policyOf } from './admin.ts';
import { isLoopback, startMock } from '../server/server.ts';

/** Sends a call of the admin API. */
function call(port: number, method: string, path: string, options: RequestOptions = {}, body?: unknown) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  return ask(port, path, { method, headers, ...options }, body === undefined ? '' : JSON.stringify(body));
}

test('it is on the port of the service, outside the base path, and not reported by onExchange', async (t) => {
  const seen: AnsweredRequest[] = [];
  const onExchange = (one: AnsweredRequest) => seen.push(one);
  const { port, adminUrl } = await mockFor(t, { basePath: '/gateway', onExchange });
  assert.equal(adminUrl, `http://127.0.0.1:${port}/__admin`);
  const { status, headers, body } = await call(port, 'GET', '/__admin/health');
  assert.deepEqual([status, JSON.parse(body).status], [200, 'healthy']);
  assert.equal(headers['content-type'], 'application/json');
  assert.equal((await call(port, 'GET', '/gateway/__admin/health')).body, '{"error":"Not found"}');
  assert.equal((await call(port, 'GET', '/__administration')).body, '{"error":"Not found"}');
  assert.equal(seen.length, 2);
});

test('a fixture may be larger than the body limit of the service', async (t) => {
  const { port } = await mockFor(t);
  const users = Array.from({ length: 1000 }, (_, nth) => ({
    user_id: `aaaaaaaa-0000-4000-8000-${`${nth}`.padStart(12, '0')}`,
    partner: null,
    date_joined: '2026-01-01T00:00:00Z',
  }));
  const answer = await call(port, 'PUT', '/__admin/data', {}, { users });
  assert.deepEqual([answer.status, JSON.parse(answer.body).users], [200, 1000]);
  assert.equal((await call(port, 'POST', '/', {}, { users })).status, 413);
});

test('admin calls are never rate-limited', async (t) => {
  const { port } = await mockFor(t);
  for (let count = 0; count < 61; count++)
    await call(port, 'GET', userPath(ids.nobody), bearer('northwind-key'));
  assert.equal((await call(port, 'GET', userPath(ids.nobody), bearer('northwind-key'))).status, 429);
  assert.equal((await call(port, 'GET', '/__admin/requests', bearer('northwind-key'))).status, 200);
});

describe('if other machines can reach the port', () => {
  test('there is no admin API without a token', async (t) => {
    const { port, adminUrl } = await mockFor(t, { host: '0.0.0.0' });
    assert.equal(adminUrl, undefined);
    const headers = { host: 'localhost' };
    assert.equal((await call(port, 'GET', '/__admin/clock', { headers })).body, '{"error":"Not found"}');
  });
  for (const token of ['', 'two words', 'é'])
    test(`the token ${JSON.stringify(token)} is refused`, async () => {
      const started = startMock({ host: '0.0.0.0', admin: { token } }).then((mock) => mock.close());
      await assert.rejects(started, { code: 'usage', message: /^the admin token needs visible ASCII/ });
    });
  test('an address that only looks like loopback needs a token', () => {
    for (const host of ['127.0.0.1.example', '127.1.example']) assert.equal(isLoopback(host), false);
    for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) assert.equal(isLoopback(host), true);
  });
  test('callers need the token, except for health', async (t) => {
    const { port } = await mockFor(t, { host: '0.0.0.0', admin: { token: 'the-token' } });
    const refused = await call(port, 'GET', '/__admin/clock');
    assert.deepEqual([refused.status, refused.headers['www-authenticate']], [401, 'Bearer']);
    assert.equal((await call(port, 'GET', '/__admin/clock', bearer('the-token'))).status, 200);
    assert.equal((await call(port, 'GET', '/__admin/clock', bearer('northwind-key'))).status, 401);
    assert.equal((await call(port, 'GET', '/__admin/health')).status, 200);
  });
});

test('pages of other sites get 403, also with DNS rebinding', async (t) => {
  const { port } = await mockFor(t);
  for (const headers of [{ host: 'site.example' }, { origin: 'http://site.example' }])
    assert.equal((await call(port, 'POST', '/__admin/reset', { headers })).status, 403);
});

test('the page is public, with and without the slash, and has a policy', async (t) => {
  const { port } = await mockFor(t, { admin: { token: 'the-token' } });
  for (const target of ['/__admin', '/__admin/', '/__admin/?world=mine']) {
    const { status, headers, body } = await call(port, 'GET', target);
    assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8']);
    assert.match(String(headers['content-security-policy']), /^default-src 'none'; script-src 'sha256-/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.match(body, /^<!doctype html>/);
    assert.doesNotMatch(body, /northwind|the-token/);
  }
});

test('a browser that opens the root is led to the page; other callers get 404', async (t) => {
  const { port } = await mockFor(t);
  const answer = await ask(port, '/', { headers: { 'sec-fetch-dest': 'document' } });
  assert.deepEqual([answer.status, answer.headers.location], [302, '/__admin/']);
  assert.equal((await ask(port, '/')).status, 404);
});

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

test('the policy has the hashes of the style and the scripts', () => {
  const policy = policyOf('<style>a{}</style><script>one()</script><p></p><script>\ntwo()\n</script>');
  assert.ok(policy.includes(`script-src ${hash('one()')} ${hash('\ntwo()\n')};`));
  assert.ok(policy.includes(`style-src ${hash('a{}')};`));
  assert.match(policy, /^default-src 'none'; /);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
});
