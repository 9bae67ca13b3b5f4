import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { describe, test } from 'node:test';
import { ids, userPath } from '../testing/session.ts';
import { ask, bearer, send, startFor } from '../testing/sockets.ts';
import { isLoopback, startMock, type AnsweredRequest } from '../server.ts';

/** Sends a call of the admin API. */
function call(port: number, method: string, path: string, options: RequestOptions = {}, body?: unknown) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  return ask(port, path, { method, headers, ...options }, body === undefined ? '' : JSON.stringify(body));
}

test('on the port of the service, at the root, whatever the base path, and no exchange of it', async (t) => {
  const seen: AnsweredRequest[] = [];
  const { port, adminUrl } = await startFor(t, { basePath: '/gateway', onExchange: (one) => seen.push(one) });
  assert.equal(adminUrl, `http://127.0.0.1:${port}/__admin`);
  const { status, headers, body } = await call(port, 'GET', '/__admin/health');
  assert.deepEqual([status, body], [200, '{"status":"healthy"}']);
  assert.equal(headers['content-type'], 'application/json');
  assert.equal((await call(port, 'GET', '/gateway/__admin/health')).body, '{"error":"Not found"}');
  assert.equal((await call(port, 'GET', '/__administration')).body, '{"error":"Not found"}');
  assert.equal(seen.length, 2);
});

test('a fixture may be larger than the body of a request to the service', async (t) => {
  const { port } = await startFor(t);
  const users = Array.from({ length: 1000 }, (_, nth) => ({
    user_id: `aaaaaaaa-0000-4000-8000-${`${nth}`.padStart(12, '0')}`,
    partner: null,
    date_joined: '2026-01-01T00:00:00Z',
  }));
  const answer = await call(port, 'PUT', '/__admin/fixture', {}, { users });
  assert.deepEqual([answer.status, JSON.parse(answer.body).users], [200, 1000]);
  assert.equal((await call(port, 'POST', '/', {}, { users })).status, 413);
});

test('never limited, whoever is', async (t) => {
  const { port } = await startFor(t);
  for (let count = 0; count < 61; count++)
    await call(port, 'GET', userPath(ids.nobody), bearer('northwind-key'));
  assert.equal((await call(port, 'GET', userPath(ids.nobody), bearer('northwind-key'))).status, 429);
  assert.equal((await call(port, 'GET', '/__admin/requests', bearer('northwind-key'))).status, 200);
});

describe('where others can reach the port', () => {
  test('there is none without a token', async (t) => {
    const { port, adminUrl } = await startFor(t, { host: '0.0.0.0' });
    assert.equal(adminUrl, undefined);
    const headers = { host: 'localhost' };
    assert.equal((await call(port, 'GET', '/__admin/clock', { headers })).body, '{"error":"Not found"}');
  });
  for (const token of ['', 'two words', 'é'])
    test(`a token of ${JSON.stringify(token)} is none`, async () => {
      const started = startMock({ host: '0.0.0.0', admin: { token } }).then((mock) => mock.close());
      await assert.rejects(started, { code: 'usage', message: /^the admin token needs visible ASCII/ });
    });
  test('an address that only looks like loopback needs a token', () => {
    for (const host of ['127.0.0.1.example', '127.1.example']) assert.equal(isLoopback(host), false);
    for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) assert.equal(isLoopback(host), true);
  });
  test('it is for whoever has the token, and health for all', async (t) => {
    const { port } = await startFor(t, { host: '0.0.0.0', admin: { token: 'the-token' } });
    const refused = await call(port, 'GET', '/__admin/clock');
    assert.deepEqual([refused.status, refused.headers['www-authenticate']], [401, 'Bearer']);
    assert.equal((await call(port, 'GET', '/__admin/clock', bearer('the-token'))).status, 200);
    assert.equal((await call(port, 'GET', '/__admin/clock', bearer('northwind-key'))).status, 401);
    assert.equal((await call(port, 'GET', '/__admin/health')).status, 200);
  });
});

test('a page that rebinds the name of its site gets 403, as do pages of other sites', async (t) => {
  const { port } = await startFor(t);
  for (const headers of [{ host: 'site.example' }, { origin: 'http://site.example' }])
    assert.equal((await call(port, 'POST', '/__admin/reset', { headers })).status, 403);
});

test('events arrive over the socket, and a mock that ends does not wait for who watches', async (t) => {
  const mock = await startFor(t);
  const [stream] = (await once(send(mock.port, '/__admin/events'), 'response')) as [IncomingMessage];
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
