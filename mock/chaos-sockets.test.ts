import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { connect } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { FOUND, ids, START, userPath } from './testing/session.ts';
import { readAnswer, ask, bearer, sendRequest, mockFor } from './testing/sockets.ts';
import { createMock, type MockOptions } from './index.ts';

const path = userPath(ids.member);
const key = bearer('northwind-key');

async function startedFor(t: TestContext, options: Partial<MockOptions> = {}) {
  let onExchange = () => {};
  /** Resolves when the mock has answered a request, even if the response is not sent. */
  const answered = new Promise<void>((resolve) => (onExchange = resolve));
  return { mock: await mockFor(t, { onExchange, ...options }), answered };
}

describe('reset', () => {
  test('ends the connection with RST, without a response', async (t) => {
    const mock = await mockFor(t, { chaos: ['reset'] });
    const socket = connect(mock.port, '127.0.0.1').resume();
    const { authorization } = key.headers;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ECONNRESET');
    assert.equal(socket.bytesRead, 0);
    const reasons = mock.requests().map(({ reason }) => reason);
    assert.deepEqual(reasons, ['200: member of the IB (chaos: reset)']);
  });
  test('leaves other connections alone', async (t) => {
    const mock = await mockFor(t);
    mock.faults.next('reset');
    await assert.rejects(ask(mock.port, path), { code: 'ECONNRESET' });
    assert.equal((await ask(mock.port, path)).body, FOUND);
  });
});

test('timeout keeps the connection open until the client closes it', async (t) => {
  const { mock, answered } = await startedFor(t);
  mock.faults.next('timeout');
  const outgoing = sendRequest(mock.port, path);
  outgoing.on('response', () => assert.fail('it is answered'));
  await answered;
  assert.equal((await ask(mock.port, path)).body, FOUND);
  const closed = new Promise((resolve) => outgoing.once('close', resolve));
  outgoing.on('error', () => undefined).destroy();
  await closed;
  assert.equal((await ask(mock.port, path)).body, FOUND);
});

describe('slow', () => {
  test('sends the response after the delay, not before', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    // Replaces the timers of the module `node:timers` too, which the transport imports.
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.timers.reset();
      syncBuiltinESMExports();
    });
    const { mock, answered } = await startedFor(t);
    mock.faults.next('slow:2s');
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
  test('ends when the mock closes', { timeout: 30_000 }, async (t) => {
    const { mock, answered } = await startedFor(t, { chaos: ['slow:10m'] });
    const response = ask(mock.port, path);
    await answered;
    const [{ status, body, headers }] = await Promise.all([response, mock.close()]);
    assert.deepEqual([status, body, headers.connection], [200, FOUND, 'close']);
  });
});

test('truncate closes the connection in the middle of the body', async (t) => {
  const mock = await mockFor(t, { chaos: ['truncate'] });
  const [incoming] = (await once(sendRequest(mock.port, path), 'response')) as [IncomingMessage];
  assert.deepEqual([incoming.statusCode, incoming.headers['content-length']], [200, `${FOUND.length}`]);
  let received = '';
  incoming.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
  await assert.rejects(once(incoming, 'end'), { code: 'ECONNRESET' });
  assert.equal(received, FOUND.slice(0, FOUND.length / 2));
});

test('admin calls and 401 for a wrong key never get chaos', async (t) => {
  const mock = await mockFor(t, { chaos: ['reset'] });
  for (const called of ['/__admin/health', '/__admin/requests', '/__admin/faults'])
    assert.equal((await ask(mock.port, called)).status, 200);
  assert.equal((await ask(mock.port, path, { headers: {} })).status, 401);
});

describe('without a socket', () => {
  const mock = () => createMock({ clock: { now: () => START, mode: 'frozen' } });
  const asking = (init: RequestInit = {}) => new Request(`http://ib.example${path}`, { ...key, ...init });

  test('a reset is a network error', async () => {
    const { faults, handle } = mock();
    faults.next('reset');
    assert.equal((await handle(asking())).type, 'error');
    assert.equal(await (await handle(asking())).text(), FOUND);
  });
  test('a timeout ends with the signal of the request, and rejects with its reason', async () => {
    const { faults, handle, requests } = mock();
    faults.next('timeout', 2);
    const stop = new AbortController();
    const response = handle(asking({ signal: stop.signal }));
    stop.abort(new Error('too long'));
    await assert.rejects(response, { message: 'too long' });
    const gone = AbortSignal.abort(new Error('before'));
    await assert.rejects(handle(asking({ signal: gone })), { message: 'before' });
    assert.equal(requests().length, 2);
  });
  test('a truncated body fails after its first half', async () => {
    const { faults, handle } = mock();
    faults.next('truncate');
    const { headers, body } = await handle(asking());
    assert.equal(headers.get('content-length'), `${FOUND.length}`);
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    assert.equal((await reader.read()).value, FOUND.slice(0, FOUND.length / 2));
    await assert.rejects(reader.read(), { name: 'TypeError', message: 'terminated' });
  });
  test('a slow response ends with its delay or the signal of the request', async () => {
    const { faults, handle } = mock();
    faults.next('slow:1ms');
    assert.equal(await (await handle(asking())).text(), FOUND);
    faults.next('slow:10m');
    const stop = new AbortController();
    const response = handle(asking({ signal: stop.signal }));
    stop.abort();
    await assert.rejects(response, { name: 'AbortError' });
  });
});
