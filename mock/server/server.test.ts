import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { FOUND, builtIn, START, ids, userPath } from '../testing/session.ts';
import { ask, bearer, mockFor } from '../testing/sockets.ts';
import { startMock, type AnsweredRequest, type Mock } from '../index.ts';

describe('a mock with default options', () => {
  const seen: AnsweredRequest[] = [];
  let mock: Mock;
  before(async () => {
    mock = await startMock({
      fixture: builtIn,
      clock: { now: () => START },
      onExchange: (exchange) => seen.push(exchange),
    });
  });
  after(() => mock.close());

  test('calls onExchange for each answered request', async () => {
    seen.length = 0;
    await ask(mock.port, '/api/ib/user-status?user_id=x#y', bearer('nope'));
    const [exchange, ...others] = seen;
    assert.deepEqual(others, []);
    assert.equal(exchange?.request.target, '/api/ib/user-status?user_id=x#y');
    assert.equal(exchange.request.headers.authorization, 'Bearer nope');
    assert.equal(exchange.request.alongside, 0);
    assert.deepEqual([exchange.response.status, exchange.entry.at], [401, START]);
  });
  test('passes a sent body on', async () => {
    seen.length = 0;
    await ask(mock.port, '/', { method: 'POST' }, 'key=1');
    await ask(mock.port, '/', { headers: { 'content-length': 0 } });
    const bodies = seen.map((exchange) => exchange.request.body);
    assert.deepEqual(bodies, ['key=1', undefined]);
  });
});

test('with a base path it answers only there', async (t) => {
  const mock = await mockFor(t, { basePath: '/gateway/v2/' });
  assert.equal(mock.url, `http://127.0.0.1:${mock.port}/gateway/v2`);
  assert.equal((await ask(mock.port, `/gateway/v2${userPath(ids.member)}`)).body, FOUND);
  const absolute = `http://ib.example/gateway/v2${userPath(ids.member)}`;
  assert.equal((await ask(mock.port, absolute)).body, FOUND);
  const bare = await ask(mock.port, userPath(ids.member));
  assert.deepEqual([bare.status, bare.body], [404, '{"error":"Not found"}']);
});

test('of concurrent requests, exactly as many as the limit pass', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  t.after(() => agent.destroy());
  const limits = { 'deposit-check': { requests: 20, windowSeconds: 60 } };
  const mock = await mockFor(t, { fixture: { ...builtIn, limits } });
  const path = `/api/ib/deposit-check?reference_id=${ids.afterSeconds}`;
  const keys = ['northwind-key', 'northwind-spare-key', 'northwind-key~other'];
  const answers = await Promise.all(
    Array.from({ length: 90 }, (_, nth) => ask(mock.port, path, { agent, ...bearer(keys[nth % 3]!) })),
  );
  for (const nth of [0, 1, 2])
    assert.equal(answers.filter(({ status }, index) => index % 3 === nth && status === 429).length, 10);
});

test('`alongside` counts concurrent requests', async (t) => {
  let seen: number[] = [];
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const mock = await mockFor(t, { onExchange: ({ request }) => seen.push(request.alongside ?? 0) });
  const atOnce = () => Promise.all(Array.from({ length: 8 }, () => ask(mock.port, '/', { agent })));
  await atOnce();
  seen = [];
  await atOnce();
  assert.ok(Math.max(...seen) > 0);
  seen = [];
  for (let turn = 0; turn < 8; turn += 1) await ask(mock.port, '/', { agent });
  assert.equal(Math.max(...seen), 0);
});
