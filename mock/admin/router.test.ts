import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import openapi from '../../schemas/openapi.json' with { type: 'json' };
import { faults } from '../faults.ts';
import { variants } from '../variants.ts';
import type { MockEvent } from '../session.ts';
import type { HttpResponse } from '../exchange.ts';
import { builtIn, ids, START } from '../testing/session.ts';
import { routes } from './routes.ts';
import { answerAdmin } from './router.ts';
import { testAdmin } from '../testing/admin.ts';

const EXECUTED_NOW = `"executedAt":${START}`;

type Json = Awaited<ReturnType<ReturnType<typeof testAdmin>['callJson']>>;
const joined = { partner: 'northwind', date_joined: '2024-01-01T00:00:00Z' };
const idsOf = ({ requests }: Json) => (requests as { id: number }[]).map(({ id }) => id);

describe('a wrong call gets a reason', () => {
  test('404 lists the routes', async () => {
    const { status, json } = await testAdmin().call('GET', '/nothing');
    assert.deepEqual([status, json['error']], [404, 'unknown path /__admin/nothing']);
    const lines = routes.map(({ method, path }) => `${method} /__admin${path}`);
    assert.deepEqual(json['routes'], lines);
  });
  test('405 lists the allowed methods', async () => {
    const { status, headers, json } = await testAdmin().call('PATCH', '/requests');
    const error = 'PATCH is not allowed here; allowed: GET, DELETE';
    assert.deepEqual([status, headers['Allow'], json['error']], [405, 'GET, DELETE', error]);
  });
  const execute = (id: string) => `POST /deposits/${id}/execute`;
  const key = { key: 'new', partner: 'northwind', state: 'active' };
  const orphan = { reference_id: ids.nobody, user_id: ids.nobody, state: 'pending' };
  const executed = { state: 'deposit executed', params: { reference_id: ids.pending, amountInUsd: -1 } };
  const noLookups = { 'user-status': { failedLookups: 0, windowSeconds: 1 } };
  const nested = `{"users": ${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
  const taken = (list: 'users' | 'deposits') => ({ ...builtIn[list]![0] });
  /** By status: call, body, error and place. */
  const wrong: Readonly<Record<number, readonly (readonly [string, unknown, RegExp, string?])[]>> = {
    400: [
      ['POST /clock/advance', '{"ms": some-secret}', /^the body is not JSON: line 1, column 8: [^-]*$/],
      ['POST /clock/advance', '[]', /^the body must be a JSON object$/],
      ['POST /clock/advance', { seconds: 1, ms: 1 }, /^the body needs either "seconds" or "ms"/],
      ['POST /clock/advance', { seconds: -1 }, /^seconds must be a number of at least 0, not -1$/, 'seconds'],
      ['POST /clock/advance', { seconds: '1' }, /^seconds must be a number/, 'seconds'],
      ['POST /clock/advance', { seconds: 1e300 }, /^seconds is out of range/, 'seconds'],
      ['POST /clock/advance', { minutes: 1 }, /^minutes is unknown; known: seconds, ms$/, 'minutes'],
      ['POST /clock/set', {}, /^now is missing/, 'now'],
      ['POST /clock/set', { now: '2026-01-01T00:00:00' }, /^now must be Unix ms/, 'now'],
      ['POST /clock/set', { now: -1 }, /^now is out of range/, 'now'],
      ['POST /clock/freeze', { now: 8.64e15 }, /^now is out of range/, 'now'],
      ['POST /clock/scale', {}, /^rate is missing/, 'rate'],
      ['PUT /fixture', nested, /^the body is nested/],
      ['PUT /fixture', { partner: [] }, /^the fixture has an unknown key "partner"/, 'partner'],
      ['PUT /fixture', { users: [{}] }, /^users\[0\] lacks "user_id"\n/, 'users[0]'],
      ['POST /reset?world=%20', undefined, /^world must be/, 'world'],
      ['POST /requests/find', { color: 1 }, /^color is unknown; known: method, url/, 'color'],
      ['GET /requests?limit=x', undefined, /^limit must be a whole number/, 'limit'],
      [execute(ids.pending), { amountInUsd: -1 }, /^amountInUsd must/, 'amountInUsd'],
      [execute(ids.pending), { executedAt: 1.5 }, /^executedAt must be a w/, 'executedAt'],
      [`POST /deposits/${ids.pending}/fail`, { a: 1 }, /^a is unknown; known: none/, 'a'],
      ['POST /deposits', {}, /^the body lacks "state"/, 'state'],
      ['POST /deposits', orphan, /is not a known user; POST \/__admin\/users/, 'user_id'],
      ['POST /users', { ...joined, user_id: 'x' }, /^user_id is not a UUID of version 4/, 'user_id'],
      ['POST /users', { ...joined, user_id: ids.nobody, partner: 'x' }, /^partner "x" is not a/, 'partner'],
      ['POST /keys/revoke', {}, /^key is missing/, 'key'],
      ['POST /keys/revoke', { key: ['some-secret'] }, /^key must be a string$/, 'key'],
      ['POST /keys', { ...key, key: 'a b' }, /^key is not a key that fits into a header/, 'key'],
      ['PUT /limits', noLookups, /^user-status.failedLookups is not/, 'user-status.failedLookups'],
      ['PUT /limits', { 'deposit-check': 5 }, /^deposit-check /, 'deposit-check'],
      ['PUT /limits', { 'deposit-check': { requests: 2 } }, /^deposit-check lacks/, 'deposit-check'],
      ['PUT /limits', 5, /^the body /],
      ['PUT /fixture', { apiKeys: 5 }, /^apiKeys /, 'apiKeys'],
      ['PUT /faults', {}, /^the body needs "fault", "chaos" or "seed"/],
      ['PUT /faults', { fault: 'toString' }, /^fault must be an id that/, 'fault'],
      ['PUT /faults', { chaos: '500' }, /^chaos must be a list of strings/, 'chaos'],
      ['PUT /faults', { chaos: ['600'] }, /^chaos 600: there is no such kind/, 'chaos'],
      ['PUT /faults', { seed: 0.5 }, /^seed must be a whole number/, 'seed'],
      ['POST /faults/next', { kind: ['503'] }, /^kind must be a string or a status/, 'kind'],
      ['POST /faults/next', { kind: '503:0.5' }, /^chaos 503:0.5: the next requests/, 'kind'],
      ['POST /requests/find', { method: 'get' }, /^method must be a method of HTTP/, 'method'],
      ['POST /requests/count', { endpoint: 'users' }, /^endpoint must be one of user-s/, 'endpoint'],
      ['POST /requests/count', { status: '4o4' }, /^status must be a status/, 'status'],
      ['POST /requests/count', { status: [404] }, /^status must be a status from/, 'status'],
      ['POST /requests/count', { key: 'northwind/activ' }, /^there is no such key here; [^n]/, 'key'],
      ['POST /requests/count?world=a', { key: 'northwind-key~b' }, /^key names another world/, 'key'],
      ['POST /requests/count', { key: `northwind-key~${'a'.repeat(101)}` }, /^key .* maximum is 100$/, 'key'],
      ['GET /requests?limt=1', undefined, /^limt is unknown in the query; known: limit, since, w/, 'limt'],
      ['GET /deposits?state=done', undefined, /^state must be one of EXECUTED, pending/, 'state'],
      ['PUT /fixture?world=a', { users: [] }, /^world is unknown in the query; known: none/, 'world'],
      ['PUT /fixture', {}, /^the fixture is empty; POST \/__admin\/reset restores/],
      ['POST /clock/set', { now: '2026-02-30T00:00:00Z' }, /^now must be Unix ms/, 'now'],
      ['POST /faults/next', { kind: '503', count: 1.5 }, /^count must be a whole number/, 'count'],
      ['POST /state', executed, /^params need the numbers/, 'params'],
      ['POST /state', { state: 'x' }, /^state must be one of: key revoked, deposit executed$/, 'state'],
    ],
    404: [
      [execute(ids.nobody), undefined, /^there is no deposit/],
      ['POST /keys/revoke', { key: 'some-secret' }, /^there is no such key here; [^s]/, 'key'],
    ],
    409: [
      [execute(ids.executed), undefined, /^the deposit is EXECUTED, which is final/],
      [execute(ids.failed), undefined, /^the deposit is failed, which is final/],
      [`POST /deposits/${ids.executed}/fail`, undefined, /^the deposit is EXECUTED/],
      ['POST /users', taken('users'), /^the user .* exists already/, 'user_id'],
      ['POST /deposits', taken('deposits'), /^the deposit .* exists already/, 'reference_id'],
      ['POST /keys', { ...key, key: 'northwind-key' }, /^this key exists/, 'key'],
      ['POST /keys/revoke', { key: 'northwind/revoked' }, /^<key northwind\/revoked> is revoked already/],
      ['POST /keys/expire', { key: 'northwind/expired' }, /^<key northwind\/expired> is expired already/],
    ],
  };
  for (const [status, calls] of Object.entries(wrong))
    for (const [line, body, error, place] of calls)
      test(`${status} ${line} ${JSON.stringify(body)?.slice(0, 100)}`, async () => {
        const { callRefused, session } = testAdmin();
        const before = session.main;
        const [method = '', path = ''] = line.split(' ');
        const [gotStatus, gotError, gotPlace] = await callRefused(method, path, body);
        assert.match(gotError, error);
        // Each error of a body names its place.
        const expected = place ?? (status === '400' ? 'body' : undefined);
        assert.deepEqual([gotStatus, gotPlace], [Number(status), expected]);
        assert.equal(session.main, before);
        assert.equal(session.main.world.deposits.changed.size + session.main.world.keys.changed.size, 0);
      });
});

test('a refused call creates no world', async () => {
  const { callRefused, session } = testAdmin();
  await callRefused('PUT', '/limits?world=new', { 'deposit-check': 5 });
  await callRefused('PUT', '/faults?world=new', { chaos: ['x'] });
  await callRefused('POST', '/users?world=new', {});
  assert.equal(session.sandboxes.size, 0);
});

test('the page is public, with and without the slash, and has a policy', async () => {
  for (const target of ['/__admin', '/__admin/', '/__admin/?world=mine']) {
    const access = { token: 'the-token' };
    const answer = await answerAdmin(testAdmin().session, access, { method: 'GET', target, headers: {} });
    const { status, headers, body } = answer as HttpResponse;
    assert.deepEqual([status, headers['Content-Type']], [200, 'text/html; charset=utf-8']);
    assert.match(headers['Content-Security-Policy'] ?? '', /^default-src 'none'; script-src 'sha256-/);
    assert.equal(headers['X-Content-Type-Options'], 'nosniff');
    assert.match(String(body), /^<!doctype html>/);
    assert.doesNotMatch(String(body), /northwind|the-token/);
  }
});

test('a call that reads creates no world and shows what a new one would have', async () => {
  const { call, callJson, session } = testAdmin();
  const reads = routes.filter(({ method, isGlobal }) => method === 'GET' && isGlobal !== true);
  assert.ok(reads.length > 7);
  for (const { path } of reads)
    if (path !== '/events') {
      const where = path.replace('{id}', ids.pending);
      const [ofNew, ofMain] = [await call('GET', `${where}?world=new`), await call('GET', where)];
      const { unused: _, ...shown } = { ...ofNew.json };
      assert.deepEqual([ofNew.status, shown], [ofMain.status, { ...ofMain.json }], path);
    }
  await callJson('POST', '/requests/count?world=new', {});
  await callJson('DELETE', '/requests?world=new');
  assert.equal(session.sandboxes.size, 0);
  await callJson('POST', '/clock/advance?world=new', { seconds: 1 });
  assert.deepEqual(await callJson('GET', '/worlds'), { worlds: ['new'] });
});

test('the journal can be listed, counted, searched and cleared', async () => {
  const { callJson, user, deposit } = testAdmin();
  user(ids.member);
  user(ids.member, 'nope');
  deposit(ids.pending);
  // Admin calls are not in the journal.
  await callJson('GET', '/keys');
  const { requests, meta } = await callJson('GET', '/requests');
  const reasons = (requests as { reason: string }[]).map(({ reason }) => reason);
  assert.deepEqual(reasons, ['200: member of the IB', '401: no such key', '404: deposit pending']);
  assert.deepEqual(meta, { total: 3 });
  for (const [body, found] of [
    [{}, [1, 2, 3]],
    [{ status: 401 }, [2]],
    [{ method: 'GET', endpoint: 'user-status' }, [1, 2]],
    [{ urlPath: '/api/ib/deposit-check' }, [3]],
    [{ url: `/api/ib/user-status?user_id=${ids.member}`, key: 'northwind/active' }, [1]],
    [{ reason: 'pending' }, [3]],
    [{ reason: 'pending', status: 200 }, []],
    [{ key: 'northwind-key' }, [1, 3]],
    [{ key: 'northwind-key~other' }, []],
  ] as const) {
    const count = found.length;
    assert.deepEqual(
      await callJson('POST', '/requests/count', body),
      { count, dropped: 0 },
      JSON.stringify(body),
    );
    assert.deepEqual(idsOf(await callJson('POST', '/requests/find', body)), found);
  }
  const listed = async (query = '') => idsOf(await callJson('GET', `/requests${query}`));
  assert.deepEqual(await listed('?limit=2'), [2, 3]);
  assert.deepEqual(await listed('?since=1'), [2, 3]);
  assert.deepEqual(await listed('?limit=0'), []);
  await callJson('DELETE', '/requests');
  assert.deepEqual(await listed(), []);
});

describe('deposits', () => {
  test('are listed in their current state, which is no poll', async () => {
    const { callJson, deposit, passTime } = testAdmin();
    const one = (id: string) => callJson('GET', `/deposits/${id}`);
    const shown = (reference_id: string, state: string) => {
      return { reference_id, user_id: ids.member, partner: 'northwind', state };
    };
    for (let count = 0; count < 9; count++) await one(ids.afterPolls);
    assert.deepEqual(await one(ids.afterPolls), { ...shown(ids.afterPolls, 'pending'), pollsLeft: 3 });
    for (let count = 0; count < 4; count++) deposit(ids.afterPolls);
    const { state: polled, executedAt } = await one(ids.afterPolls);
    assert.deepEqual([polled, executedAt], ['EXECUTED', START]);
    passTime(2000);
    assert.deepEqual((await one(ids.afterSeconds))['dueInMs'], 3000);
    passTime(3000);
    assert.deepEqual((await one(ids.afterSeconds))['state'], 'EXECUTED');
    const failed = builtIn.deposits!.filter(({ state }) => state === 'failed');
    const { deposits, meta } = await callJson('GET', '/deposits?state=failed');
    assert.deepEqual([deposits[0], meta.total], [shown(ids.failed, 'failed'), failed.length]);
    assert.equal((await callJson('GET', '/deposits?offset=2&limit=3'))['deposits'].length, 3);
  });
  test('can be executed or fail, once', async () => {
    const { callJson, callRefused, deposit } = testAdmin();
    await callJson('POST', `/deposits/${ids.pending.toUpperCase()}/execute`);
    assert.match(String(deposit(ids.pending).body), new RegExp(`"amountInUsd":100,${EXECUTED_NOW}`));
    assert.equal((await callRefused('POST', `/deposits/${ids.pending}/fail`))[0], 409);
    await callJson('POST', `/deposits/${ids.afterPolls}/execute`, { amountInUsd: 1.5, executedAt: 42 });
    const body = '{"status":"EXECUTED","amountInUsd":1.5,"executedAt":42}';
    assert.equal(deposit(ids.afterPolls).body, body);
    await callJson('POST', `/deposits/${ids.afterSeconds}/fail`);
    assert.equal(deposit(ids.afterSeconds).status, 404);
    assert.equal((await callRefused('POST', `/deposits/${ids.afterSeconds}/execute`))[0], 409);
  });
  test('can be added, also for an added user, with times from now on', async () => {
    const { call, callJson, deposit, user, passTime } = testAdmin();
    passTime(100_000);
    assert.equal((await call('POST', '/users', { ...joined, user_id: ids.nobody })).status, 201);
    assert.match(String(user(ids.nobody).body), /"is_under_ib":true/);
    const becomes = { state: 'EXECUTED', amountInUsd: 5, afterSeconds: 10 };
    const body = { reference_id: ids.nobody, user_id: ids.nobody, state: 'pending', becomes };
    assert.equal((await call('POST', '/deposits', body)).status, 201);
    assert.equal(deposit(ids.nobody).status, 404);
    const { due } = await callJson('POST', '/clock/advance', { seconds: 10 });
    assert.deepEqual(due.deposits, [ids.nobody]);
    assert.equal(deposit(ids.nobody).status, 200);
    assert.equal((await callJson('GET', '/users'))['users'].length, builtIn.users!.length + 1);
  });
});

describe('keys', () => {
  const another = { key: 'another-key', partner: 'northwind', state: 'active' };
  test('can be revoked and expire, by value or name', async () => {
    const { callJson, user } = testAdmin();
    const revoked = { name: '<key northwind/active>', partner: 'northwind', state: 'revoked' };
    assert.deepEqual(await callJson('POST', '/keys/revoke', { key: 'northwind-key' }), revoked);
    await callJson('POST', '/keys/expire', { key: 'northwind/active/2' });
    await callJson('POST', '/keys/expire', { key: '<key contoso/active>' });
    for (const key of ['northwind-key', 'northwind-spare-key', 'contoso-key'])
      assert.equal(user(ids.member, key).status, 401);
  });
  test('can be added, also with an expiry, with unused names', async () => {
    const { call, user, passTime } = testAdmin();
    passTime(100_000);
    const { status, json } = await call('POST', '/keys', { ...another, expiresAfterSeconds: 10 });
    const [name, expiresAt] = ['<key northwind/active/3>', START + 110_000];
    assert.equal(status, 201);
    assert.deepEqual(json, { name, partner: 'northwind', state: 'active', expiresAt });
    assert.equal(user(ids.member, 'another-key').status, 200);
    passTime(10_000);
    assert.equal(user(ids.member, 'another-key').status, 401);
  });
  test('that are added keep their remaining time when the clock is set back', async () => {
    const { callJson, user } = testAdmin();
    await callJson('POST', '/keys', { ...another, expiresAfterSeconds: 5 });
    await callJson('POST', '/clock/set', { now: START - 3_600_000 });
    await callJson('POST', '/clock/advance', { ms: 4999 });
    assert.equal(user(ids.member, 'another-key').status, 200);
    await callJson('POST', '/clock/advance', { ms: 1 });
    assert.equal(user(ids.member, 'another-key').status, 401);
  });
  test('of a world work in that world', async () => {
    const { callJson, user, entries } = testAdmin();
    await callJson('POST', '/keys?world=a', another);
    const statuses = ['', '~b', '~a'].map((world) => user(ids.member, `another-key${world}`).status);
    assert.deepEqual(statuses, [401, 401, 200]);
    assert.equal(entries('a')[0]?.key, '<key northwind/active/3>');
  });
  test('are redacted in the journals of all worlds', async () => {
    const { callJson, get, entries } = testAdmin();
    for (const world of ['a', 'b'])
      await callJson('POST', `/keys?world=${world}`, { ...another, key: `secret-of-${world}` });
    get('/?x=secret-of-a&y=secret-of-b');
    assert.doesNotMatch(JSON.stringify(entries()), /secret/);
  });
});

test('limits can be set, shown and removed', async () => {
  const { callJson, deposit, passTime } = testAdmin();
  const limits = { 'deposit-check': { requests: 2, windowSeconds: 60 } };
  // What the call does not name stays.
  await callJson('PUT', '/limits', limits);
  const { limits: both } = await callJson('PUT', '/limits', {
    'deposit-check': limits['deposit-check'],
  });
  assert.deepEqual(Object.keys(both as object).toSorted(), ['deposit-check', 'user-status']);
  await callJson('PUT', '/limits', { 'user-status': null });
  const statuses = () => [1, 2, 3].map(() => deposit(ids.executed).status);
  assert.deepEqual(statuses(), [200, 200, 429]);
  passTime(18_000);
  const gauge = { endpoint: 'deposit-check', key: '<key northwind/active>', counted: 2, most: 2 };
  assert.deepEqual(await callJson('GET', '/limits'), {
    limits,
    gauges: [{ ...gauge, windowSeconds: 60, isLimited: true, freesInMs: 42_000 }],
  });
  await callJson('PUT', '/limits', {});
  assert.deepEqual(statuses(), [200, 200, 200]);
});

test('a fault can be switched on and off in one world', async () => {
  const { callJson, deposit } = testAdmin();
  await callJson('PUT', '/faults?world=a', { fault: 'pending-with-202' });
  const statuses = () => ['~a', ''].map((world) => deposit(ids.pending, `northwind-key${world}`).status);
  assert.deepEqual(statuses(), [202, 404]);
  const { fault, faults: all } = await callJson('GET', '/faults?world=a');
  assert.equal(fault, 'pending-with-202');
  assert.equal((all as unknown[]).length, Object.keys({ ...faults, ...variants }).length);
  await callJson('PUT', '/faults?world=a', { fault: 'head-refused' });
  assert.deepEqual(statuses(), [404, 404]);
  await callJson('PUT', '/faults?world=a', { fault: null });
  assert.deepEqual(statuses(), [404, 404]);
});

describe('chaos', () => {
  test('and the fault do not affect each other; a wrong call changes neither', async () => {
    const { callJson, callRefused } = testAdmin();
    await callJson('PUT', '/faults', { fault: 'pending-with-202' });
    await callJson('PUT', '/faults', { chaos: ['503'] });
    await callRefused('PUT', '/faults', { fault: null, chaos: ['x'] });
    await callRefused('PUT', '/faults', { fault: 'x', chaos: [] });
    const { fault, chaos } = await callJson('PUT', '/faults', { seed: 3 });
    assert.deepEqual([fault, chaos], ['pending-with-202', ['503']]);
  });
  test('is queued for the next requests, up to 1000 calls', async () => {
    const { callJson, callRefused, user } = testAdmin();
    const { next } = await callJson('POST', '/faults/next', { kind: 503, count: 2 });
    assert.deepEqual(next, [{ kind: '503', count: 2 }]);
    for (const status of [503, 503, 200]) assert.equal(user(ids.member).status, status);
    for (let count = 0; count < 1000; count++) await callJson('POST', '/faults/next', { kind: '503' });
    const [status, error] = await callRefused('POST', '/faults/next', { kind: '503' });
    assert.match(`${status} ${error}`, /^400 kind 503: 1000 calls are queued already/);
  });
});

describe('the fixture', () => {
  test('is shown with names instead of keys, unless they are public', async () => {
    assert.deepEqual(await testAdmin({ arePublicKeys: true }).callJson('GET', '/fixture'), builtIn);
    const { apiKeys } = await testAdmin().callJson('GET', '/fixture');
    assert.equal(apiKeys[0].key, '<key northwind/active>');
  });
  test('can be replaced in all worlds, with secret keys', async () => {
    const { callJson, session, user } = testAdmin({ arePublicKeys: true });
    user(ids.member, 'northwind-key~a');
    const apiKeys = [{ key: 'other', partner: 'northwind', state: 'active' }];
    const { users } = builtIn;
    const sizes = { partners: 0, apiKeys: 1, users: users!.length, deposits: 0 };
    assert.deepEqual(await callJson('PUT', '/fixture', { apiKeys, users }), sizes);
    assert.equal(session.sandboxes.size, 0);
    const statuses = ['northwind-key', 'other', 'other~a'].map((key) => user(ids.member, key).status);
    assert.deepEqual(statuses, [401, 200, 200]);
    assert.doesNotMatch(JSON.stringify(await callJson('GET', '/fixture')), /other/);
    await callJson('POST', '/reset');
    assert.deepEqual(await callJson('GET', '/fixture'), builtIn);
  });
});

test('a provider state is set up and torn down with 204', async () => {
  const { call, user } = testAdmin();
  const body = { state: 'key revoked', params: { key: 'northwind-key' } };
  assert.equal((await call('POST', '/state', body)).status, 204);
  assert.equal(user(ids.member).status, 401);
  await call('POST', '/state', { ...body, action: 'teardown' });
  assert.equal(user(ids.member).status, 200);
});

test('health, version and worlds', async () => {
  const { callJson, user } = testAdmin();
  assert.deepEqual(await callJson('GET', '/health'), { status: 'healthy' });
  assert.equal((await callJson('GET', '/version'))['name'], 'ib-conformance');
  user(ids.member, 'northwind-key~a');
  assert.deepEqual(await callJson('GET', '/worlds'), { worlds: ['a'] });
});

test('a reset applies to the named world, or to all', async () => {
  const { callJson, user } = testAdmin();
  for (const world of ['', '?world=a'])
    await callJson('POST', `/keys/revoke${world}`, { key: 'northwind-key' });
  const statuses = () => ['northwind-key', 'northwind-key~a'].map((key) => user(ids.member, key).status);
  assert.deepEqual(await callJson('POST', '/reset?world=a'), { reset: 'a' });
  assert.deepEqual(statuses(), [401, 200]);
  assert.deepEqual(await callJson('POST', '/reset'), { reset: 'all' });
  assert.deepEqual(statuses(), [200, 200]);
});

test('events report requests, the clock and changes of the named world, or of all', async () => {
  const { session, user, callJson } = testAdmin();
  const sent: string[] = [];
  const watched = { method: 'GET', target: '/__admin/events?world=a', headers: {} };
  const answer = await answerAdmin(session, undefined, watched);
  assert.ok('subscribe' in answer);
  const stop = answer.subscribe((text) => sent.push(text));
  user(ids.member);
  user(ids.member, 'northwind-key~a');
  await callJson('POST', '/clock/advance?world=a', { seconds: 5 });
  await callJson('POST', '/keys/revoke?world=a', { key: 'northwind-key' });
  stop();
  user(ids.member, 'northwind-key~a');
  const kinds = sent.map((text) => text.split('\n')[0]);
  assert.deepEqual(kinds, [': watching', 'event: request', 'event: clock', 'event: change']);
  assert.match(sent[2]!, new RegExp(`"due":\\{"deposits":\\["${ids.afterSeconds}"\\]`));
  assert.ok(sent.slice(1).every((text) => text.endsWith('\n\n')));
  assert.equal(session.watchers.size, 0);
  const seen: MockEvent[] = [];
  session.watchers.add((event) => seen.push(event));
  await callJson('POST', '/reset');
  assert.deepEqual(seen, [{ kind: 'change', world: '', what: 'reset' }]);
});

test('HEAD of an endless response ends', async () => {
  const request = { method: 'HEAD', target: '/__admin/events', headers: {} };
  const answer = await answerAdmin(testAdmin().session, undefined, request);
  assert.deepEqual(['subscribe' in answer, answer.status], [false, 200]);
});

test('the OpenAPI document has every route', async () => {
  const { paths } = await testAdmin().callJson('GET', '/openapi.json');
  for (const { method, path } of routes) assert.ok(paths[`/__admin${path}`]?.[method.toLowerCase()], path);
});

test('the mock takes the example of each operation', async () => {
  const examples = routes.filter(({ example }) => example !== undefined);
  assert.ok(examples.length > 10);
  for (const { method, path, example } of examples) {
    const mock = testAdmin();
    if (path === '/requests/count') mock.user(ids.member, 'northwind-key~mine');
    await mock.callJson(method, path.replace('{id}', ids.pending), example);
  }
});

test('results match their schemas, and all their fields are described', async () => {
  const { call, callJson, user } = testAdmin();
  const { components } = await callJson('GET', '/openapi.json');
  for (const schema of Object.values<Json>(components.schemas))
    if (schema['properties'] !== undefined) schema['additionalProperties'] = false;
  const ajv = addFormats.default(new Ajv2020({ strictSchema: false }));
  ajv.addSchema({ components }, 'admin');
  user(ids.nobody, 'fabrikam-always-limited-key');
  for (const key of ['nope', 'northwind-key']) user(ids.nobody, key);
  const bodies: Readonly<Record<string, unknown>> = {
    '/clock/advance': { ms: 9000 },
    '/clock/set': { now: START },
    '/clock/scale': { rate: 1 },
    '/faults': { chaos: ['503:0.1'] },
    '/faults/next': { kind: 503 },
    '/deposits': { reference_id: ids.nobody, user_id: ids.member, state: 'pending' },
    '/users': { ...joined, user_id: ids.nobody },
    '/keys': { key: 'new', partner: null, state: 'active', expiresAt: START },
    '/keys/revoke': { key: 'northwind/active' },
    '/keys/expire': { key: 'northwind/active/2' },
    '/limits': builtIn.limits,
  };
  const typed = routes.filter(({ result }) => result !== undefined);
  assert.ok(typed.length > 20);
  for (const { method, path, result } of typed) {
    const id = path.endsWith('fail') ? ids.afterPolls : ids.pending;
    const body = method === 'GET' ? undefined : bodies[path];
    const { json } = await call(method, path.replace('{id}', id), body);
    const isValid = ajv.validate({ $ref: `admin#/components/schemas/${result}` }, json);
    assert.ok(isValid, `${path} ${ajv.errorsText()}`);
  }
});

describe('a page of a list', () => {
  const idOf = (index: number) => `12345678-1234-4234-8234-${String(index).padStart(12, '0')}`;
  const users = Array.from({ length: 2500 }, (_, nth) => ({ ...joined, user_id: idOf(nth), partner: null }));
  const { callJson } = testAdmin({ fixture: { users } });
  for (const [what, query, total, count, first] of [
    ['has at most 1000 items', '', 2500, 1000, idOf(0)],
    ['has an offset and a limit', 'offset=2498&limit=5', 2500, 2, idOf(2498)],
    ['has the matching items and their total', 'contains=+8234-00000000240&limit=2', 10, 2, idOf(2400)],
    ...['8234.0', '.*', '[', '\\d', 'a/b-c'].map(
      (text) =>
        [`takes no pattern: ${text}`, `contains=${encodeURIComponent(text)}`, 0, 0, undefined] as const,
    ),
  ] as const)
    test(what, async () => {
      const { users: found, meta } = await callJson('GET', `/users?${query}`);
      assert.deepEqual([meta.total, found.length, found[0]?.user_id], [total, count, first]);
    });
});

test('deposits, users and keys are found by their fields', async () => {
  const { users = [], deposits = [] } = builtIn;
  const theirs = new Set(users.flatMap((one) => (one.partner === 'contoso' ? [one.user_id] : [])));
  for (const [list, text, expected] of [
    ['deposits', ids.pending, 1],
    ['deposits', 'PENDING', deposits.filter(({ state }) => state === 'pending').length],
    ['deposits', 'contoso', deposits.filter(({ user_id }) => theirs.has(user_id)).length],
    ['users', ids.member.slice(0, 9), 1],
    ['keys', 'northwind/active', 2],
    ['keys', 'revoked', 1],
  ] as const) {
    const { [list]: items, meta } = await testAdmin().callJson('GET', `/${list}?contains=${text}`);
    assert.deepEqual([items.length, meta.total], [expected, expected], text);
  }
});

test('keys are found by their values only if they are public', async () => {
  const found = async (arePublicKeys: boolean) =>
    (await testAdmin({ arePublicKeys }).callJson('GET', '/keys?contains=-spare-'))['keys'].length;
  assert.deepEqual([await found(false), await found(true)], [0, 1]);
});

test('the description of the interface is the file, with this server', async () => {
  for (const [basePath, url] of [
    ['', '/'],
    ['/gateway/', '/gateway'],
  ] as const) {
    const { callJson } = testAdmin({ basePath });
    assert.deepEqual(await callJson('GET', '/interface.json'), { ...openapi, servers: [{ url }] });
  }
});
