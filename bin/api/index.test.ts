import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import { test } from 'node:test';
import { startMock } from '../../mock/server/server.ts';
import { tls } from '../dev/testing/certificate.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { withServer } from '../../suites/testing/against.ts';
import { render, verify } from './index.ts';

const member = '11111111-1111-4111-8111-111111111111';
const fixture: Fixture = {
  apiKeys: [{ key: '${TEST_KEY}', partner: 'northwind', state: 'active' }],
  users: [{ user_id: member, partner: 'northwind', date_joined: '2023-01-02T03:04:05.006Z' }],
};
const only = ['valid/user-status/member'];

test('keys of the fixture are read from the environment', async () => {
  const [key] = fixture.apiKeys!;
  await using mock = await startMock({ fixture: { ...fixture, apiKeys: [{ ...key!, key: 'secret-key' }] } });
  const run = { url: mock.url, fixture, only, cases: 1, seed: 1 };
  // Variables of the command line mean nothing here.
  const env = { TEST_KEY: 'secret-key', IB_CONFORMANCE_ADMIN: 'false' };
  assert.equal((await verify({ ...run, env })).exitCode, 0);
  assert.notEqual((await verify({ ...run, env: { TEST_KEY: 'other-key' } })).exitCode, 0);
  await assert.rejects(verify({ ...run, env: {} }), /apiKeys\[0\]\.key needs .* TEST_KEY/);
});

test('an invalid fixture is rejected with the place of the problem', async () => {
  const wrong = { users: [{ user_id: 'x' }] } as unknown as Fixture;
  const problem = { name: 'Problem', code: 'fixture', message: /users\[0\]/ };
  await assert.rejects(verify({ url: 'http://127.0.0.1:1', fixture: wrong, only }), problem);
});

test('fake timers are refused, because nothing would go on, and others are not', async (t) => {
  const run = { url: 'http://127.0.0.1:1', fixture, only, env: { TEST_KEY: 'secret-key' } };
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await assert.rejects(verify(run), /the timers are fake/);
  t.mock.timers.reset();
  const real = globalThis.setTimeout;
  t.after(() => (globalThis.setTimeout = real));
  // As happy-dom does, and as Sinon does.
  const replaced = ((...args: Parameters<typeof real>) => real(...args)) as typeof real;
  globalThis.setTimeout = replaced;
  await assert.rejects(verify(run), { code: 'unreachable' });
  globalThis.setTimeout = Object.assign(replaced, { clock: {} });
  await assert.rejects(verify(run), /the timers are fake/);
});

test('headers, certificates and bounds reach the run', async () => {
  const gates = new Set<unknown>();
  let [inFlight, most] = [0, 0];
  const server = createServer(tls, ({ headers }, response) => {
    gates.add(headers['x-gate-token']);
    most = Math.max(most, ++inFlight);
    setImmediate(() => {
      inFlight--;
      response.writeHead(200, { 'x-echo': headers['x-gate-token'] ?? 'none' }).end('{}');
    });
  });
  await withServer(server, async (port) => {
    const env = { TEST_KEY: 'secret-key' };
    const run = { url: `https://localhost:${port}`, fixture, env, only: ['valid'], seed: 1 };
    const headers = { 'X-Gate-Token': 'opensesame' };
    const trusted = { ...run, headers, tls: { ca: tls.cert } };
    let calls = 0;
    const onProgress = () => void calls++;
    const { record, exitCode } = await verify({ ...trusted, cases: 20, concurrency: 1, onProgress });
    assert.deepEqual([record.verdict, exitCode], ['nonconformant', 1]);
    assert.ok(calls > 0);
    assert.match(await render(record, 'junit'), /^<\?xml/);
    await assert.rejects(render(record, 'pdf' as 'json'), /there is no format pdf; formats: console/);
    assert.deepEqual([...gates], ['opensesame']);
    assert.ok(!JSON.stringify(record).includes('opensesame'));
    assert.ok(most <= 2, `${most} at once to two endpoints`);
    assert.ok(record.requests > 5);
    assert.ok((await verify({ ...trusted, maxRequests: 5 })).record.requests <= 5);
    // The second request would come after the end of the run.
    assert.ok((await verify({ ...trusted, rate: 0.001, maxDurationMs: 200 })).record.requests <= 2);
    await assert.rejects(verify(run), /self-signed/);
    const insecure = { ...run, url: new URL(run.url), tls: { insecure: true } };
    assert.equal((await verify({ ...insecure, cases: 1 })).exitCode, 1);
    const authorization = { authorization: 'Bearer x' };
    await assert.rejects(verify({ ...run, headers: authorization }), /Authorization is not allowed/);
  });
});
