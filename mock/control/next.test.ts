import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { connect } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { answerRequest } from '../server/answer-request.ts';
import type { MockOptions } from '../index.ts';
import { FOUND, depositPath, ids, testSession, userPath } from '../testing/session.ts';
import { ask, bearer, mockFor, readAnswer, sendRaw, sendRequest } from '../testing/sockets.ts';

const path = userPath(ids.member);

describe('the next answers', () => {
  test('have the message of the interface, and need no key', () => {
    const { next, user, deposit } = testSession();
    for (const [status, endpoint, body] of [
      [400, 'user-status', '{"error":"Invalid user_id format"}'],
      [401, 'deposit-check', '{"error":"UNAUTHORIZED"}'],
      [404, 'deposit-check', '{"error":"Deposit not found"}'],
      [429, 'user-status', '{"error":"Too many failed lookups. Please try again later."}'],
      [404, 'user-status', '{"error":"Not Found"}'],
      [503, 'user-status', '{"error":"Service Unavailable"}'],
      [204, 'deposit-check', ''],
    ] as const) {
      next({ status, endpoint });
      const answer = endpoint === 'user-status' ? user(ids.member, null) : deposit(ids.executed, 'nope');
      assert.deepEqual([answer.status, answer.body], [status, body]);
    }
    next([{ status: 429 }, { status: 429, headers: { 'retry-after': '7' } }]);
    assert.equal(user(ids.member).headers['Retry-After'], '1');
    const { headers } = user(ids.member);
    assert.deepEqual([headers['retry-after'], headers['Retry-After']], [undefined, '7']);
  });
  test('can be anything: a 502 with HTML, a 200 with HTML, JSON of another type', () => {
    const { next, user } = testSession();
    const html = { headers: { 'Content-Type': 'text/html' }, body: '<h1>é</h1>' };
    for (const status of [502, 200]) {
      next({ status, ...html });
      const { headers, body, ...answer } = user(ids.member);
      assert.deepEqual([answer.status, body, headers['Content-Type']], [status, '<h1>é</h1>', 'text/html']);
      assert.equal(headers['Content-Length'], '11');
    }
    next({ status: 200, body: [{ is_under_ib: 'true' }] });
    assert.equal(user(ids.member).body, '[{"is_under_ib":"true"}]');
  });
  test('with a status look nothing up; without one, they change the usual answer', () => {
    const { next, deposit, data, entries } = testSession();
    const left = () => data({ contains: ids.afterPolls }).deposits[0]!.pollsLeft;
    next({ status: 503 });
    deposit(ids.afterPolls);
    assert.equal(left(), 3);
    next({ headers: { 'X-Extra': '1' } });
    const { status, headers } = deposit(ids.afterPolls);
    assert.deepEqual([status, headers['X-Extra'], left()], [404, '1', 2]);
    next({ reset: true });
    deposit(ids.executed);
    const reasons = entries().map(({ reason, next: isNext }) => [reason, isNext]);
    assert.deepEqual(reasons, [
      ['503: set by next', true],
      ['404: deposit pending', true],
      ['reset: set by next (else 200: deposit EXECUTED)', true],
    ]);
  });
  test('keep the length of the usual answer for HEAD', () => {
    const { next, session } = testSession();
    next({ delay: 1 });
    const request = { method: 'HEAD', target: path, headers: { authorization: 'Bearer northwind-key' } };
    const { headers, body } = answerRequest(session, request).response;
    assert.deepEqual([headers['Content-Length'], body], [`${FOUND.length}`, '']);
  });
  test('wait in order, by endpoint and count, in their world, up to 1000', () => {
    const { next, user, deposit, world, get } = testSession();
    const queue = next([
      { status: 503, count: 2 },
      { status: 500, endpoint: 'deposit-check' },
    ]);
    assert.equal(queue.next.length, 2);
    // Another path takes none.
    get('/');
    assert.equal(user(ids.member, 'northwind-key~a').status, 200);
    assert.deepEqual([user(ids.member).status, deposit(ids.executed).status], [503, 503]);
    assert.deepEqual([user(ids.member).status, deposit(ids.executed).status], [200, 500]);
    world('a').next({ status: 429 });
    assert.deepEqual([user(ids.member).status, user(ids.member, 'northwind-key~a').status], [200, 429]);
    next(Array.from({ length: 1000 }, () => ({ status: 503 })));
    assert.throws(() => next({ status: 503 }), { message: /^more than 1000 answers would wait/ });
  });
});

async function startedFor(t: TestContext, options: Partial<MockOptions> = {}) {
  let onExchange = () => {};
  /** Resolves when the mock has answered a request, even if the response is not sent. */
  const answered = new Promise<void>((resolve) => (onExchange = resolve));
  return { mock: await mockFor(t, { onExchange, ...options }), answered };
}

describe('on a connection', () => {
  test('a reset ends it with RST, without a response, and leaves others alone', async (t) => {
    const mock = await mockFor(t);
    mock.next({ reset: true });
    const socket = connect(mock.port, '127.0.0.1').resume();
    const { authorization } = bearer('northwind-key').headers;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    assert.deepEqual([error.code, socket.bytesRead], ['ECONNRESET', 0]);
    assert.equal((await ask(mock.port, path)).body, FOUND);
  });
  test('a delayed response comes after the delay, not before', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    // Replaces the timers of the module `node:timers` too, which the transport imports.
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.timers.reset();
      syncBuiltinESMExports();
    });
    const { mock, answered } = await startedFor(t);
    mock.next({ delay: '2s' });
    const outgoing = sendRequest(mock.port, path);
    let isThere = false;
    const response = readAnswer(outgoing).finally(() => (isThere = true));
    await answered;
    t.mock.timers.tick(1999);
    // Meanwhile, another connection gets its response.
    assert.equal((await ask(mock.port, '/__admin/health')).status, 200);
    assert.equal(isThere, false);
    t.mock.timers.tick(1);
    assert.equal((await response).body, FOUND);
  });
  test('a client may leave before a delayed response', async (t) => {
    const { mock, answered } = await startedFor(t);
    mock.next({ delay: '10m' });
    const outgoing = sendRequest(mock.port, path);
    outgoing.on('response', () => assert.fail('it is answered'));
    await answered;
    const closed = new Promise((resolve) => outgoing.once('close', resolve));
    outgoing.on('error', () => undefined).destroy();
    await closed;
    assert.equal((await ask(mock.port, path)).body, FOUND);
  });
  test('a close ends all delays, also of pipelined requests', { timeout: 30_000 }, async (t) => {
    let answered = 0;
    let both: () => void = () => {};
    const isAnswered = new Promise<void>((resolve) => (both = resolve));
    const onExchange = () => ++answered === 2 && both();
    const mock = await mockFor(t, { onExchange });
    mock.next({ delay: '10m' });
    const head = `Host: x\r\nAuthorization: ${bearer('northwind-key').headers.authorization}`;
    const response = sendRaw(mock.port, [`GET ${path} HTTP/1.1\r\n${head}\r\n\r\n`.repeat(2)]);
    await isAnswered;
    const [{ bytes }] = await Promise.all([response, mock.close()]);
    assert.equal(bytes.split(FOUND).length - 1, 2);
  });
  test('a truncated response ends in the middle of its body', async (t) => {
    const mock = await mockFor(t);
    mock.next({ truncate: true });
    const [incoming] = (await once(sendRequest(mock.port, path), 'response')) as [IncomingMessage];
    assert.deepEqual([incoming.statusCode, incoming.headers['content-length']], [200, `${FOUND.length}`]);
    let received = '';
    incoming.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
    await assert.rejects(once(incoming, 'end'), { code: 'ECONNRESET' });
    assert.equal(received, FOUND.slice(0, FOUND.length / 2));
  });
  test('admin calls take none', async (t) => {
    const mock = await mockFor(t);
    mock.next({ reset: true });
    for (const called of ['/__admin/health', '/__admin/requests', '/__admin/fault'])
      assert.equal((await ask(mock.port, called)).status, 200);
    await assert.rejects(ask(mock.port, depositPath(ids.executed)), { code: 'ECONNRESET' });
  });
});
