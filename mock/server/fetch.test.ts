import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { createMock, startMock, type InProcessMock } from '../index.ts';
import { FOUND, depositPath, ids, START, userPath } from '../testing/session.ts';
import { ask, bearer } from '../testing/sockets.ts';

const frozen = { now: () => START, mode: 'frozen' } as const;
const key = bearer('northwind-key');

/** Sends a request without a socket; by default a GET with northwind-key. */
async function answerOf(mock: InProcessMock, target: string, init: RequestInit = key) {
  const response = await mock.fetch(`http://ib.example${target}`, init);
  return { status: response.status, headers: response.headers, body: await response.text() };
}

describe('a mock without a socket', () => {
  test('answers like a mock on a port', async () => {
    const mock = createMock({ clock: frozen });
    await using server = await startMock({ clock: frozen });
    const paths = [userPath(ids.member), depositPath(ids.pending), `/x?${'%C3%A4'.repeat(9)}`, userPath('x')];
    for (const target of paths)
      for (const init of [key, { method: 'HEAD' }, { method: 'POST', body: 'x' }]) {
        const { headers, ...own } = await answerOf(mock, target, init);
        const response = await fetch(server.url + target, init);
        assert.deepEqual({ status: response.status, body: await response.text() }, own);
        for (const [name, value] of headers) assert.equal(response.headers.get(name), value, name);
      }
  });
  test('has the admin API', async () => {
    const mock = createMock();
    assert.match((await answerOf(mock, '/__admin/health')).body, /^\{"status":"healthy"/);
    const body = JSON.stringify({ state: 'key revoked', params: { key: 'northwind-key' } });
    const { status, body: nothing } = await answerOf(mock, '/__admin/state', { method: 'POST', body });
    assert.deepEqual([status, nothing], [204, '']);
    assert.equal((await answerOf(mock, userPath(ids.member))).status, 401);
  });
  test('takes the place of fetch: a text, a URL or a Request, with any form of header fields', async () => {
    const { fetch: send } = createMock();
    const url = `http://ib.example${userPath(ids.member)}`;
    const value = 'Bearer northwind-key';
    const pair: [string, string] = ['AUTHORIZATION', value];
    for (const headers of [key.headers, { Authorization: value }, [pair], new Headers([pair])]) {
      for (const input of [url, new URL(url), new Request(url)])
        assert.equal(await (await send(input, { headers })).text(), FOUND);
      assert.equal(await (await send(new Request(url, { headers }))).text(), FOUND);
    }
  });
});

describe('what goes wrong on the way, without a socket', () => {
  const mock = () => createMock({ clock: frozen });
  const url = `http://ib.example${userPath(ids.member)}`;
  test('a reset rejects like fetch', async () => {
    const { next, fetch: send } = mock();
    next({ reset: true });
    await assert.rejects(send(url, key), (error: Error) => {
      assert.deepEqual([error.name, error.message], ['TypeError', 'fetch failed']);
      assert.equal((error.cause as NodeJS.ErrnoException).code, 'ECONNRESET');
      return true;
    });
    assert.equal(await (await send(url, key)).text(), FOUND);
  });
  test('a truncated body fails after its first half', async () => {
    const { next, fetch: send } = mock();
    next({ truncate: true });
    const { headers, body } = await send(url, key);
    assert.equal(headers.get('content-length'), `${FOUND.length}`);
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    assert.equal((await reader.read()).value, FOUND.slice(0, FOUND.length / 2));
    await assert.rejects(reader.read(), { name: 'TypeError', message: 'terminated' });
  });
  test('a slow response ends with its delay, or rejects with the reason of the signal', async () => {
    const { next, fetch: send, requests } = mock();
    next({ delay: 1 });
    assert.equal(await (await send(url, key)).text(), FOUND);
    next({ delay: '10m', count: 2 });
    const stop = new AbortController();
    const response = send(url, { ...key, signal: stop.signal });
    stop.abort(new Error('too long'));
    await assert.rejects(response, { message: 'too long' });
    assert.equal(requests().length, 2);
  });
});

/** Gets the status over a socket, without timers in the test. */
const statusOf = async (port: number, id: string) => (await ask(port, depositPath(id))).status;

test('a mock on a port has the same operations and closes at the end of its block', async () => {
  let port: number;
  {
    await using mock = await startMock();
    ({ port } = mock);
    assert.equal(await statusOf(port, ids.pending), 404);
    mock.setDeposit(ids.pending, { state: 'EXECUTED' });
    assert.equal(await statusOf(port, ids.pending), 200);
    const reasons = mock.requests().map(({ reason }) => reason);
    assert.deepEqual(reasons, ['404: deposit pending', '200: deposit EXECUTED']);
  }
  await assert.rejects(statusOf(port, ids.pending), { code: 'ECONNREFUSED' });
});

test('fake timers of a test runner do not block it, and a fake Date sets its clock', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'], now: START });
  const mock = await startMock();
  assert.equal(await statusOf(mock.port, ids.afterSeconds), 404);
  t.mock.timers.tick(5000);
  assert.equal(await statusOf(mock.port, ids.afterSeconds), 200);
  t.mock.timers.reset();
  assert.ok(Math.abs(mock.clock().now - Date.now()) < 60_000);
  await mock.close();
});

test('setting the wall clock back does not delay limiters or transitions', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: START });
  const mock = createMock();
  const status = async (path: string) => (await answerOf(mock, path)).status;
  for (let count = 0; count < 60; count++) await status(userPath(ids.nobody));
  assert.equal(await status(userPath(ids.member)), 429);
  assert.equal(await status(depositPath(ids.afterSeconds)), 404);
  t.mock.timers.setTime(START - 86_400_000);
  assert.equal(await status(userPath(ids.member)), 429);
  t.mock.timers.tick(5000);
  assert.equal(await status(userPath(ids.member)), 200);
  assert.equal(await status(depositPath(ids.afterSeconds)), 200);
});

test('a forgotten close does not keep the process of a test running', () => {
  const script = `
    import { startMock } from './mock/index.ts';
    const mock = await startMock();
    await (await fetch(mock.url)).text();
    process.stdout.write('asked');`;
  const run = (env: NodeJS.ProcessEnv) =>
    spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      env: { PATH: process.env['PATH'], ...env },
      encoding: 'utf8',
      timeout: 20_000,
    });
  for (const name of ['NODE_TEST_CONTEXT', 'VITEST', 'JEST_WORKER_ID']) {
    const { stdout, status } = run({ [name]: '1' });
    assert.deepEqual([stdout, status], ['asked', 0], name);
  }
});
