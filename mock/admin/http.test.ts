import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { describe, test } from 'node:test';
import { ids, userPath } from '../testing/session.ts';
import { ask, bearer, sendRequest, mockFor } from '../testing/sockets.ts';
import { isLoopback, startMock, type AnsweredRequest } from '../server.ts';

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
  assert.deepEqual([status, body], [200, '{"status":"healthy"}']);
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
  const answer = await call(port, 'PUT', '/__admin/fixture', {}, { users });
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

test('events arrive over the socket, and close does not wait for watchers', async (t) => {
  const mock = await mockFor(t);
  const [stream] = (await once(sendRequest(mock.port, '/__admin/events'), 'response')) as [IncomingMessage];
  stream.setEncoding('utf8').on('error', () => undefined);
  assert.equal(stream.headers['content-type'], 'text/event-stream');
  let seen = '';
  const until = async (part: string) => {
    while (!seen.includes(part)) seen += String((await once(stream, 'data'))[0]);
  };
  await until(': watching');
  await call(mock.port, 'GET', userPath(ids.member), bearer('northwind-key'));
  await until('"reason":"200: member of the IB"');
  const closed = new Promise((resolve) => stream.once('close', resolve));
  await mock.close();
  await closed;
});
