import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMock, startMock, type InProcessMock } from './index.ts';
import { depositPath, ids, START, userPath } from './testing/session.ts';
import { ask, bearer } from './testing/sockets.ts';

const frozen = { now: () => START, mode: 'frozen' } as const;

/** Sends a request without a socket; by default a GET with northwind-key. */
async function answerOf(mock: InProcessMock, target: string, init: RequestInit = bearer('northwind-key')) {
  const response = await mock.handle(new Request(`http://ib.example${target}`, init));
  return { status: response.status, headers: response.headers, body: await response.text() };
}

describe('a mock without a socket', () => {
  test('answers like a mock on a port', async () => {
    const mock = createMock({ clock: frozen });
    await using server = await startMock({ clock: frozen });
    const paths = [userPath(ids.member), depositPath(ids.pending), `/x?${'%C3%A4'.repeat(9)}`, userPath('x')];
    for (const target of paths)
      for (const init of [bearer('northwind-key'), { method: 'HEAD' }, { method: 'POST', body: 'x' }]) {
        const { headers, ...own } = await answerOf(mock, target, init);
        const response = await fetch(server.url + target, init);
        assert.deepEqual({ status: response.status, body: await response.text() }, own);
        for (const [name, value] of headers) assert.equal(response.headers.get(name), value, name);
      }
  });
  test('has an admin API unless it is off', async () => {
    const health = '/__admin/health';
    assert.equal((await answerOf(createMock({ admin: false }), health)).body, '{"error":"Not found"}');
    const mock = createMock();
    assert.equal((await answerOf(mock, health)).body, '{"status":"healthy"}');
    const body = JSON.stringify({ state: 'key revoked', params: { key: 'northwind-key' } });
    const { status, body: nothing } = await answerOf(mock, '/__admin/state', { method: 'POST', body });
    assert.deepEqual([status, nothing], [204, '']);
    assert.equal((await answerOf(mock, userPath(ids.member))).status, 401);
  });
  test('streams events', async () => {
    const mock = createMock({ clock: frozen });
    const { headers, body } = await mock.handle(new Request('http://ib.example/__admin/events'));
    assert.equal(headers.get('content-type'), 'text/event-stream');
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    assert.match((await reader.read()).value ?? '', /^: watching/);
    await answerOf(mock, userPath(ids.member));
    assert.match((await reader.read()).value ?? '', /^event: request\n/);
    await reader.cancel();
    await answerOf(mock, userPath(ids.member));
  });
});

describe('the controls of a mock', () => {
  test('reset one world; those of the mock reset all', async () => {
    const mock = createMock({ clock: frozen });
    const statusWith = async (key: string) =>
      (await answerOf(mock, depositPath(ids.pending), bearer(key))).status;
    mock.world('a').deposits.execute(ids.pending);
    mock.world('b').deposits.execute(ids.pending);
    assert.deepEqual([await statusWith('northwind-key~a'), await statusWith('northwind-key~b')], [200, 200]);
    assert.deepEqual([await statusWith('northwind-key'), mock.world('a').requests().length], [404, 1]);
    mock.world('a').reset();
    assert.deepEqual([await statusWith('northwind-key~a'), await statusWith('northwind-key~b')], [404, 200]);
    assert.throws(() => mock.world('a'.repeat(101)), { name: 'Refusal', status: 400 });
    assert.notEqual(mock.world().name, mock.world().name);
    mock.reset();
    assert.deepEqual([await statusWith('northwind-key~b'), mock.requests()], [404, []]);
  });
});

/** Gets the status over a socket, without timers in the test. */
const statusOf = async (port: number, id: string) => (await ask(port, depositPath(id))).status;

test('a mock on a port has the same controls and closes at the end of its block', async () => {
  let port: number;
  {
    await using mock = await startMock();
    ({ port } = mock);
    assert.equal(await statusOf(port, ids.pending), 404);
    mock.deposits.execute(ids.pending);
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
  assert.ok(Math.abs(mock.clock.now() - Date.now()) < 60_000);
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
