import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import openapi from '../../schemas/openapi.json' with { type: 'json' };
import { faults } from '../faults.ts';
import type { MockEvent } from '../session.ts';
import type { HttpResponse } from '../exchange.ts';
import { builtIn, ids, START } from '../testing/session.ts';
import { routes } from './routes.ts';
import { answerAdmin } from './router.ts';
import { testAdmin } from '../testing/admin.ts';

const EXECUTED_NOW = `"executedAt":${START}`;

describe('a call that is wrong is told why', () => {
  test('404 lists the routes', async () => {
    const { status, json } = await testAdmin().call('GET', '/nothing');
    assert.equal(status, 404);
    assert.equal(json['error'], 'there is no /__admin/nothing');
    assert.ok((json['routes'] as string[]).includes('POST /__admin/clock/advance'));
    assert.equal((json['routes'] as string[]).length, routes.length);
  });
  test('405 says what is allowed', async () => {
    const { status, headers, json } = await testAdmin().call('PATCH', '/requests');
    assert.deepEqual([status, headers['Allow']], [405, 'GET, DELETE']);
    assert.equal(json['error'], 'PATCH is not allowed here; allowed: GET, DELETE');
  });
  const execute = (id: string) => `POST /deposits/${id}/execute`;
  const joined = { partner: 'northwind', date_joined: '2024-01-01T00:00:00Z' };
  const key = { key: 'new', partner: 'northwind', state: 'active' };
  const orphan = { reference_id: ids.nobody, user_id: ids.nobody, state: 'pending' };
  const executed = { state: 'deposit executed', params: { reference_id: ids.pending, amountInUsd: -1 } };
  const nested = `{"users": ${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
  const taken = (list: 'users' | 'deposits') => ({ ...builtIn[list]![0] });
  /** By status: the call, its body, the error and the place that it names. */
  const wrong: Readonly<Record<number, readonly (readonly [string, unknown, RegExp, string?])[]>> = {
    400: [
      ['POST /clock/advance', '{"ms": some-secret}', /^the body is not JSON: line 1, column 8: [^-]*$/],
      ['POST /clock/advance', '[]', /^the body has to be a JSON object$/],
      ['POST /clock/advance', { seconds: 1, ms: 1 }, /^the body needs either "seconds" or "ms"/],
      ['POST /clock/advance', { seconds: -1 }, /^seconds has to be a number from 0 on, not -1$/, 'seconds'],
      ['POST /clock/advance', { seconds: '1' }, /^seconds has to be a number/, 'seconds'],
      ['POST /clock/advance', { seconds: 1e300 }, /^seconds goes beyond/, 'seconds'],
      ['POST /clock/advance', { minutes: 1 }, /^minutes is unknown here; known are seconds, ms$/, 'minutes'],
      ['POST /clock/set', {}, /^now is missing/, 'now'],
      ['POST /clock/set', { now: '2026-01-01T00:00:00' }, /^now has to be Unix ms/, 'now'],
      ['POST /clock/set', { now: -1 }, /^now goes beyond/, 'now'],
      ['POST /clock/freeze', { now: 8.64e15 }, /^now goes beyond/, 'now'],
      ['POST /clock/scale', {}, /^rate is missing/, 'rate'],
      ['PUT /fixture', nested, /^the body is nested/],
      ['PUT /fixture', { partner: [] }, /^the fixture has an unknown key "partner"/],
      ['PUT /fixture', { users: [{}] }, /^users\[0\] lacks "user_id"\n/, 'users[0]'],
      ['POST /reset?world=%20', undefined, /^world has to be/, 'world'],
      ['POST /requests/find', { color: 1 }, /^color is unknown here; known are method, url/, 'color'],
      ['GET /requests?limit=x', undefined, /^limit has to be a whole number/, 'limit'],
      ['GET /scorecard?format=pdf', undefined, /^format has to be one of json, text$/, 'format'],
      [execute(ids.pending), { amountInUsd: -1 }, /^amountInUsd has/, 'amountInUsd'],
      [execute(ids.pending), { executedAt: 1.5 }, /^executedAt has to be a w/, 'executedAt'],
      [`POST /deposits/${ids.pending}/fail`, { a: 1 }, /^a is unknown here; known are none/, 'a'],
      ['POST /deposits', {}, /^the body lacks "state"/],
      ['POST /deposits', orphan, /is not among the users; POST \/__admin\/users/, 'user_id'],
      ['POST /users', { ...joined, user_id: 'x' }, /^user_id is not a UUID of version 4/, 'user_id'],
      ['POST /users', { ...joined, user_id: ids.nobody, partner: 'x' }, /^partner "x" is not among the par/],
      ['POST /keys/revoke', {}, /^key is missing/, 'key'],
      ['POST /keys/revoke', { key: ['some-secret'] }, /^key has to be a text$/, 'key'],
      ['POST /keys', { ...key, key: 'a b' }, /^key is not a key that fits into a header/, 'key'],
      [
        'PUT /limits',
        { 'user-status': { failedLookups: 0, windowSeconds: 1 } },
        /^user-status.failedLookups is not/,
        'user-status.failedLookups',
      ],
      ['PUT /limits', { 'deposit-check': 5 }, /^deposit-check /, 'deposit-check'],
      ['PUT /limits', { 'deposit-check': { requests: 2 } }, /^deposit-check lacks/, 'deposit-check'],
      ['PUT /limits', 5, /^the body /],
      ['PUT /fixture', { apiKeys: 5 }, /^apiKeys /, 'apiKeys'],
      ['PUT /faults', {}, /^the body needs "fault", "chaos" or "seed"/],
      ['PUT /faults', { fault: 'toString' }, /^fault has to be an id that/, 'fault'],
      ['PUT /faults', { chaos: '500' }, /^chaos has to be a list of texts/, 'chaos'],
      ['PUT /faults', { chaos: ['600'] }, /^chaos 600: there is no such kind/, 'chaos'],
      ['PUT /faults', { seed: 0.5 }, /^seed has to be a whole number/, 'seed'],
      ['POST /faults/next', { kind: 503 }, /^kind has to be a text/, 'kind'],
      ['POST /faults/next', { kind: '503:0.5' }, /^chaos 503:0.5: the next requests/],
      ['POST /faults/next', { kind: '503', count: 1.5 }, /^count has to be a whole number/, 'count'],
      ['POST /state', executed, /^params need the numbers/],
      ['POST /state', { state: 'x' }, /^state has to be one of: key revoked, deposit executed$/],
    ],
    404: [
      [execute(ids.nobody), undefined, /^there is no deposit/],
      ['POST /keys/revoke', { key: 'some-secret' }, /^there is no such key here; [^s]/, 'key'],
    ],
    409: [
      [execute(ids.executed), undefined, /^the deposit is EXECUTED, which is final/],
      [execute(ids.failed), undefined, /^the deposit is failed, which is final/],
      [`POST /deposits/${ids.executed}/fail`, undefined, /^the deposit is EXECUTED/],
      ['POST /users', taken('users'), /^there is a user/, 'user_id'],
      ['POST /deposits', taken('deposits'), /^there is a deposit/, 'reference_id'],
      ['POST /keys', { ...key, key: 'northwind-key' }, /^there is such a key/, 'key'],
      ['POST /keys/revoke', { key: 'northwind/revoked' }, /^<key northwind\/revoked> is revoked already/],
      ['POST /keys/expire', { key: 'northwind/expired' }, /^<key northwind\/expired> is expired already/],
    ],
  };
  for (const [status, calls] of Object.entries(wrong))
    for (const [line, body, error, place] of calls)
      test(`${status} ${line} ${JSON.stringify(body)?.slice(0, 100)}`, async () => {
        const { refused, session } = testAdmin();
        const before = session.main;
        const [method = '', path = ''] = line.split(' ');
        const [gotStatus, gotError, gotPlace] = await refused(method, path, body);
        assert.match(gotError, error);
        assert.deepEqual([gotStatus, gotPlace], [Number(status), place]);
        assert.equal(session.main, before);
        assert.equal(session.main.world.deposits.changed.size + session.main.world.keys.changed.size, 0);
      });
});

test('a call that is refused creates no world', async () => {
  const { refused, session } = testAdmin();
  await refused('PUT', '/limits?world=new', { 'deposit-check': 5 });
  await refused('PUT', '/faults?world=new', { chaos: ['x'] });
  await refused('POST', '/users?world=new', {});
  assert.equal(session.sandboxes.size, 0);
});

test('the page is there with and without the slash, without a token, under a policy of its own', async () => {
  for (const target of ['/__admin', '/__admin/', '/__admin/?world=mine']) {
    const access = { kind: 'token', token: 'the-token' } as const;
    const request = { method: 'GET', target, headers: {} };
    const { status, headers, body } = (await answerAdmin(
      testAdmin().session,
      access,
      request,
    )) as HttpResponse;
    assert.deepEqual([status, headers['Content-Type']], [200, 'text/html; charset=utf-8']);
    assert.match(headers['Content-Security-Policy'] ?? '', /^default-src 'none'; script-src 'sha256-/);
    assert.equal(headers['X-Content-Type-Options'], 'nosniff');
    assert.match(String(body), /^<!doctype html>/);
    assert.doesNotMatch(String(body), /northwind|the-token/);
  }
});

test('a call that only reads makes no world, and sees what a new one would show', async () => {
  const { call, done, session } = testAdmin();
  const reads = routes.filter(({ method, isForAll }) => method === 'GET' && isForAll !== true);
  assert.ok(reads.length > 7);
  for (const { path } of reads)
    if (path !== '/events') {
      const where = path.replace('{id}', ids.pending);
      assert.deepEqual(await call('GET', `${where}?world=new`), await call('GET', where), path);
    }
  await done('POST', '/requests/count?world=new', {});
  await done('DELETE', '/requests?world=new');
  assert.equal(session.sandboxes.size, 0);
  await done('POST', '/clock/advance?world=new', { seconds: 1 });
  assert.deepEqual(await done('GET', '/worlds'), { worlds: ['new'] });
});

describe('the clock', () => {
  test('is advanced, and says what fell due', async () => {
    const due = { deposits: [ids.afterSeconds], keys: [], limiters: [] };
    const now = START + 5000;
    const shown = { now, iso: new Date(now).toISOString(), mode: 'real', rate: 1, frozen: false, due };
    assert.deepEqual(await testAdmin().done('POST', '/clock/advance', { seconds: 5 }), shown);
  });
  test('is set, frozen, scaled, and as at first after a reset', async () => {
    const { done, pass } = testAdmin();
    const now = async () => (await done('GET', '/clock'))['now'];
    await done('POST', '/clock/set', { now: '2020-02-29T12:00:00Z' });
    assert.equal(await now(), Date.UTC(2020, 1, 29, 12));
    await done('POST', '/clock/freeze', { now: 7 });
    pass(1000);
    assert.equal(await now(), 7);
    await done('POST', '/clock/scale', { rate: 60 });
    pass(1000);
    assert.equal(await now(), 60_007);
    await done('POST', '/reset');
    assert.equal(await now(), START + 2000);
  });
});

describe('the journal', () => {
  test('is listed, counted, searched and forgotten', async () => {
    const { done, user, deposit } = testAdmin();
    user(ids.member);
    user(ids.member, 'nope');
    deposit(ids.pending);
    // Admin calls are not in it.
    await done('GET', '/keys');
    const { requests, meta } = await done('GET', '/requests');
    assert.deepEqual(
      (requests as { reason: string }[]).map(({ reason }) => reason),
      ['200: member of the IB', '401: no such key', '404: deposit pending'],
    );
    assert.deepEqual(meta, { total: 3 });
    for (const [body, count] of [
      [{}, 3],
      [{ status: 401 }, 1],
      [{ method: 'GET', endpoint: 'user-status' }, 2],
      [{ urlPath: '/api/ib/deposit-check' }, 1],
      [{ url: `/api/ib/user-status?user_id=${ids.member}`, key: 'northwind/active' }, 1],
      [{ reason: 'pending' }, 1],
      [{ reason: 'pending', status: 200 }, 0],
    ] as const) {
      assert.deepEqual(await done('POST', '/requests/count', body), { count }, JSON.stringify(body));
      assert.equal(((await done('POST', '/requests/find', body))['requests'] as unknown[]).length, count);
    }
    const ofLast = async (query: string) =>
      ((await done('GET', `/requests?${query}`))['requests'] as { id: number }[]).map(({ id }) => id);
    assert.deepEqual(await ofLast('limit=2'), [2, 3]);
    assert.deepEqual(await ofLast('since=1'), [2, 3]);
    assert.deepEqual(await ofLast('limit=0'), []);
    await done('DELETE', '/requests');
    assert.deepEqual((await done('GET', '/requests'))['requests'], []);
  });
});

describe('deposits', () => {
  test('are listed in their state of now, and looking is no poll', async () => {
    const { done, deposit, pass } = testAdmin();
    const one = (id: string) => done('GET', `/deposits/${id}`);
    const common = { user_id: ids.member, partner: 'northwind' };
    for (let count = 0; count < 9; count++) await one(ids.afterPolls);
    assert.deepEqual(await one(ids.afterPolls), {
      reference_id: ids.afterPolls,
      ...common,
      state: 'pending',
      pollsLeft: 3,
    });
    for (let count = 0; count < 4; count++) deposit(ids.afterPolls);
    assert.match(
      JSON.stringify(await one(ids.afterPolls)),
      new RegExp(`"state":"EXECUTED".*${EXECUTED_NOW}`),
    );
    pass(2000);
    assert.deepEqual((await one(ids.afterSeconds))['dueInMs'], 3000);
    pass(3000);
    assert.deepEqual((await one(ids.afterSeconds))['state'], 'EXECUTED');
    const failed = builtIn.deposits!.filter(({ state }) => state === 'failed');
    const { deposits, meta } = await done('GET', '/deposits?state=failed');
    assert.deepEqual(
      [(deposits as unknown[])[0], meta],
      [{ reference_id: ids.failed, ...common, state: 'failed' }, { total: failed.length }],
    );
    assert.equal(((await done('GET', '/deposits?offset=2&limit=3'))['deposits'] as unknown[]).length, 3);
  });
  test('are executed and fail, once', async () => {
    const { done, refused, deposit } = testAdmin();
    await done('POST', `/deposits/${ids.pending.toUpperCase()}/execute`);
    assert.match(String(deposit(ids.pending).body), new RegExp(`"amountInUsd":100,${EXECUTED_NOW}`));
    assert.equal((await refused('POST', `/deposits/${ids.pending}/fail`))[0], 409);
    await done('POST', `/deposits/${ids.afterPolls}/execute`, { amountInUsd: 1.5, executedAt: 42 });
    const body = '{"status":"EXECUTED","amountInUsd":1.5,"executedAt":42}';
    assert.equal(deposit(ids.afterPolls).body, body);
    await done('POST', `/deposits/${ids.afterSeconds}/fail`);
    assert.equal(deposit(ids.afterSeconds).status, 404);
    assert.equal((await refused('POST', `/deposits/${ids.afterSeconds}/execute`))[0], 409);
  });
  test('are added, also for a user who is added, and fall due from then on', async () => {
    const { call, done, deposit, user, pass } = testAdmin();
    pass(100_000);
    const added = await call('POST', '/users', {
      user_id: ids.nobody,
      partner: 'northwind',
      date_joined: '2024-01-01T00:00:00Z',
    });
    assert.equal(added.status, 201);
    assert.match(String(user(ids.nobody).body), /"is_under_ib":true/);
    const becomes = { state: 'EXECUTED', amountInUsd: 5, afterSeconds: 10 };
    const body = { reference_id: ids.nobody, user_id: ids.nobody, state: 'pending', becomes };
    assert.equal((await call('POST', '/deposits', body)).status, 201);
    assert.equal(deposit(ids.nobody).status, 404);
    assert.deepEqual(
      ((await done('POST', '/clock/advance', { seconds: 10 }))['due'] as { deposits: unknown }).deposits,
      [ids.nobody],
    );
    assert.equal(deposit(ids.nobody).status, 200);
    assert.equal(((await done('GET', '/users'))['users'] as unknown[]).length, builtIn.users!.length + 1);
  });
});

describe('keys', () => {
  test('are revoked and expire, by themselves or by name', async () => {
    const { done, user } = testAdmin();
    assert.deepEqual(await done('POST', '/keys/revoke', { key: 'northwind-key' }), {
      name: '<key northwind/active>',
      partner: 'northwind',
      state: 'revoked',
    });
    await done('POST', '/keys/expire', { key: 'northwind/active/2' });
    await done('POST', '/keys/expire', { key: '<key contoso/active>' });
    for (const key of ['northwind-key', 'northwind-spare-key', 'contoso-key'])
      assert.equal(user(ids.member, key).status, 401);
  });
  test('are added, also to expire, with names that are not taken', async () => {
    const { call, user, pass } = testAdmin();
    const body = { key: 'another-key', partner: 'northwind', state: 'active', expiresAfterSeconds: 10 };
    pass(100_000);
    const { status, json } = await call('POST', '/keys', body);
    assert.deepEqual(
      [status, json],
      [
        201,
        {
          name: '<key northwind/active/3>',
          partner: 'northwind',
          state: 'active',
          expiresAt: START + 110_000,
        },
      ],
    );
    assert.equal(user(ids.member, 'another-key').status, 200);
    pass(10_000);
    assert.equal(user(ids.member, 'another-key').status, 401);
  });
  test('that are added stay as far from their end as they were, when the clock is set back', async () => {
    const { done, user } = testAdmin();
    const key = { key: 'new-secret', partner: 'northwind', state: 'active', expiresAfterSeconds: 5 };
    await done('POST', '/keys', key);
    await done('POST', '/clock/set', { now: START - 3_600_000 });
    await done('POST', '/clock/advance', { ms: 4999 });
    assert.equal(user(ids.member, 'new-secret').status, 200);
    await done('POST', '/clock/advance', { ms: 1 });
    assert.equal(user(ids.member, 'new-secret').status, 401);
  });
  test('of a world work in that world', async () => {
    const { done, user, entries } = testAdmin();
    await done('POST', '/keys?world=a', { key: 'another-key', partner: 'northwind', state: 'active' });
    assert.equal(user(ids.member, 'another-key').status, 401);
    assert.equal(user(ids.member, 'another-key~b').status, 401);
    assert.equal(user(ids.member, 'another-key~a').status, 200);
    assert.equal(entries('a')[0]?.key, '<key northwind/active/3>');
  });
  test('are named in the journal of any world in which they turn up', async () => {
    const { done, get, entries } = testAdmin();
    const add = (world: string, key: string) =>
      done('POST', `/keys?world=${world}`, { key, partner: 'northwind', state: 'active' });
    await add('a', 'secret-of-a');
    await add('b', 'secret-of-b');
    get('/?x=secret-of-a&y=secret-of-b');
    assert.doesNotMatch(JSON.stringify(entries()), /secret/);
  });
});

test('limits are set, shown and taken away', async () => {
  const { done, deposit, pass } = testAdmin();
  await done('PUT', '/limits', { 'deposit-check': { requests: 2, windowSeconds: 60 } });
  assert.deepEqual(
    [1, 2, 3].map(() => deposit(ids.executed).status),
    [200, 200, 429],
  );
  pass(18_000);
  assert.deepEqual(await done('GET', '/limits'), {
    limits: { 'deposit-check': { requests: 2, windowSeconds: 60 } },
    gauges: [
      {
        endpoint: 'deposit-check',
        key: '<key northwind/active>',
        counted: 2,
        most: 2,
        windowSeconds: 60,
        isLimited: true,
        freesInMs: 42_000,
      },
    ],
  });
  await done('PUT', '/limits', {});
  assert.equal(deposit(ids.executed).status, 200);
});

test('a fault is switched on and off, in one world', async () => {
  const { done, deposit } = testAdmin();
  await done('PUT', '/faults?world=a', { fault: 'pending-with-202' });
  const statuses = () => ['~a', ''].map((world) => deposit(ids.pending, `northwind-key${world}`).status);
  assert.deepEqual(statuses(), [202, 404]);
  const { fault, faults: all } = await done('GET', '/faults?world=a');
  assert.equal(fault, 'pending-with-202');
  assert.equal((all as unknown[]).length, Object.keys(faults).length);
  await done('PUT', '/faults?world=a', { fault: null });
  assert.deepEqual(statuses(), [404, 404]);
});

describe('chaos', () => {
  test('is set and shown, in one world', async () => {
    const { done, user } = testAdmin();
    const set = await done('PUT', '/faults?world=a', { chaos: ['503', 'slow:1s..2s:0.5'], seed: 9 });
    assert.deepEqual(set, { fault: null, chaos: ['503', 'slow:1000ms..2000ms:0.5'], seed: 9, next: [] });
    const { faults: _, ...shown } = await done('GET', '/faults?world=a');
    assert.deepEqual(shown, set);
    const statuses = () => ['~a', ''].map((world) => user(ids.member, `northwind-key${world}`).status);
    assert.deepEqual(statuses(), [503, 200]);
    await done('PUT', '/faults?world=a', { chaos: null });
    assert.deepEqual(statuses(), [200, 200]);
  });
  test('leaves the deviation as it is, and the other way round; a wrong call changes neither', async () => {
    const { done, refused } = testAdmin();
    await done('PUT', '/faults', { fault: 'pending-with-202' });
    await done('PUT', '/faults', { chaos: ['503'] });
    await refused('PUT', '/faults', { fault: null, chaos: ['x'] });
    await refused('PUT', '/faults', { fault: 'x', chaos: [] });
    const { fault, chaos } = await done('PUT', '/faults', { seed: 3 });
    assert.deepEqual([fault, chaos], ['pending-with-202', ['503']]);
  });
  test('is queued for the next requests, up to 1000 calls', async () => {
    const { done, refused, user } = testAdmin();
    const { next } = await done('POST', '/faults/next', { kind: '503', count: 2 });
    assert.deepEqual(next, [{ kind: '503', count: 2 }]);
    const statuses = [1, 2, 3].map(() => user(ids.member).status);
    assert.deepEqual(statuses, [503, 503, 200]);
    for (let count = 0; count < 1000; count++) await done('POST', '/faults/next', { kind: '503' });
    const [status, error] = await refused('POST', '/faults/next', { kind: '503' });
    assert.equal(status, 400);
    assert.match(error, /^chaos 503: 1000 calls are queued already/);
  });
});

describe('the scorecard', () => {
  /** A client that asks again 300 ms behind a 429, in the world `a`. */
  const impatient = (delayMs: number) => {
    const mock = testAdmin({ delayMs });
    for (let count = 0; count < 2; count++) {
      mock.user(ids.member, 'fabrikam-always-limited-key~a');
      mock.pass(300);
    }
    return mock;
  };
  test('is JSON, of one world', async () => {
    const mock = impatient(0);
    const { rules } = await mock.done('GET', '/scorecard');
    assert.deepEqual(rules[0], {
      id: 'retry-after',
      title: 'Honoured Retry-After',
      clause: 'Errors, 429',
      outcome: 'notSeen',
      needs: 'a 429 with Retry-After',
    });
    const { rules: ofWorld } = await mock.done('GET', '/scorecard?world=a');
    assert.deepEqual([ofWorld[0].outcome, ofWorld[0].requests.length], ['broken', 1]);
  });
  test('is text where that is asked for, and grants what the delay takes', async () => {
    // 300 ms behind a 429 may have been in flight where answers take 100 ms longer than usual.
    for (const [query, headers] of [
      ['&format=text', {}],
      ['', { accept: 'text/html, text/plain;q=0.9, */*' }],
    ] as const) {
      const target = `/__admin/scorecard?world=a${query}`;
      const answer = await answerAdmin(impatient(100).session, undefined, { method: 'GET', target, headers });
      assert.equal(answer.headers['Content-Type'], 'text/plain; charset=utf-8');
      assert.match(String((answer as HttpResponse).body), /^kept {6}Honoured Retry-After/);
    }
  });
});

describe('the fixture', () => {
  test('is shown with names for keys, unless they are public', async () => {
    assert.deepEqual(await testAdmin({ arePublicKeys: true }).done('GET', '/fixture'), builtIn);
    const { apiKeys } = (await testAdmin().done('GET', '/fixture')) as { apiKeys: { key: string }[] };
    assert.equal(apiKeys[0]?.key, '<key northwind/active>');
  });
  test('is replaced, in all worlds, and its keys are secrets', async () => {
    const { done, session, user } = testAdmin({ arePublicKeys: true });
    user(ids.member, 'northwind-key~a');
    const apiKeys = [{ key: 'other', partner: 'northwind', state: 'active' }];
    assert.deepEqual(await done('PUT', '/fixture', { apiKeys, users: builtIn.users }), {
      partners: 0,
      apiKeys: 1,
      users: builtIn.users!.length,
      deposits: 0,
    });
    assert.equal(session.sandboxes.size, 0);
    assert.deepEqual(
      [user(ids.member).status, user(ids.member, 'other').status, user(ids.member, 'other~a').status],
      [401, 200, 200],
    );
    assert.doesNotMatch(JSON.stringify(await done('GET', '/fixture')), /other/);
  });
});

test('a provider state comes and goes, with 204', async () => {
  const { call, user } = testAdmin();
  const body = { state: 'key revoked', params: { key: 'northwind-key' } };
  assert.equal((await call('POST', '/state', body)).status, 204);
  assert.equal(user(ids.member).status, 401);
  await call('POST', '/state', { ...body, action: 'teardown' });
  assert.equal(user(ids.member).status, 200);
});

test('health, version and worlds', async () => {
  const { done, user } = testAdmin();
  assert.deepEqual(await done('GET', '/health'), { status: 'healthy' });
  assert.equal((await done('GET', '/version'))['name'], 'ib-conformance');
  user(ids.member, 'northwind-key~a');
  assert.deepEqual(await done('GET', '/worlds'), { worlds: ['a'] });
});

test('events tell of requests, the clock and changes, of one world where one is named', async () => {
  const { session, user, done } = testAdmin();
  const sent: string[] = [];
  const follow = async (query: string) => {
    const answer = await answerAdmin(session, undefined, {
      method: 'GET',
      target: `/__admin/events${query}`,
      headers: {},
    });
    assert.ok('follow' in answer);
    return answer.follow((text) => sent.push(text));
  };
  const stop = await follow('?world=a');
  user(ids.member);
  user(ids.member, 'northwind-key~a');
  await done('POST', '/clock/advance?world=a', { seconds: 5 });
  await done('POST', '/keys/revoke?world=a', { key: 'northwind-key' });
  stop();
  user(ids.member, 'northwind-key~a');
  assert.deepEqual(
    sent.map((text) => text.split('\n')[0]),
    [': watching', 'event: request', 'event: clock', 'event: change'],
  );
  assert.match(sent[2]!, new RegExp(`"due":\\{"deposits":\\["${ids.afterSeconds}"\\]`));
  assert.ok(sent.slice(1).every((text) => text.endsWith('\n\n')));
  assert.equal(session.watchers.size, 0);
  const seen: MockEvent[] = [];
  session.watchers.add((event) => seen.push(event));
  await done('POST', '/reset');
  assert.deepEqual(seen, [{ kind: 'change', world: '', what: 'reset' }]);
});

test('HEAD of what has no end has one', async () => {
  const { session } = testAdmin();
  const answer = await answerAdmin(session, undefined, {
    method: 'HEAD',
    target: '/__admin/events',
    headers: {},
  });
  assert.deepEqual(['follow' in answer, answer.status], [false, 200]);
});

test('the description has every route, and every reference in it leads somewhere', async () => {
  const description = await testAdmin().done('GET', '/openapi.json');
  const { paths, components } = description as {
    paths: Record<string, Record<string, unknown>>;
    components: { schemas: Record<string, unknown> };
  };
  for (const { method, path } of routes) assert.ok(paths[`/__admin${path}`]?.[method.toLowerCase()], path);
  for (const [, name] of JSON.stringify(description).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
    assert.ok(components.schemas[name!], name);
  assert.doesNotMatch(JSON.stringify(description), /\$defs/);
});

describe('a part of a list', () => {
  const users = Array.from({ length: 2500 }, (_, index) => ({
    user_id: `12345678-1234-4234-8234-${String(index).padStart(12, '0')}`,
    partner: null,
    date_joined: '2024-01-01T00:00:00Z',
  }));
  const part = async (query: string) => {
    const { users: items, meta } = await testAdmin({ fixture: { users } }).done('GET', `/users?${query}`);
    const total = (meta as { total: number }).total;
    return { ids: (items as typeof users).map(({ user_id }) => user_id.slice(-4)), total };
  };
  test('is never the whole of a large one', async () => {
    const { ids: found, total } = await part('');
    assert.deepEqual([found.length, total], [1000, 2500]);
  });
  test('begins and ends where it is asked to', async () => {
    assert.deepEqual(await part('offset=2498&limit=5'), { ids: ['2498', '2499'], total: 2500 });
  });
  test('is looked for by a text, not by a pattern', async () => {
    for (const text of ['8234.0', '.*', '[', '\\d', 'a/b-c'])
      assert.equal((await part(`contains=${encodeURIComponent(text)}`)).total, 0, text);
  });
  test('holds what fits, and says how much of it there is', async () => {
    assert.deepEqual(await part('contains=+8234-00000000240&limit=2'), { ids: ['2400', '2401'], total: 10 });
  });
});

test('deposits, users and keys are found by what stands in them', async () => {
  const { done } = testAdmin();
  const found = async (list: string, text: string) => {
    const { [list]: items, meta } = await done('GET', `/${list}?contains=${encodeURIComponent(text)}`);
    assert.equal((items as unknown[]).length, (meta as { total: number }).total);
    return (meta as { total: number }).total;
  };
  assert.equal(await found('deposits', ids.pending), 1);
  const { users = [], deposits = [] } = builtIn;
  const pending = deposits.filter(({ state }) => state === 'pending');
  assert.equal(await found('deposits', 'PENDING'), pending.length);
  const theirs = new Set(users.flatMap((one) => (one.partner === 'contoso' ? [one.user_id] : [])));
  const ofContoso = deposits.filter(({ user_id }) => theirs.has(user_id));
  assert.equal(await found('deposits', 'contoso'), ofContoso.length);
  assert.equal(await found('users', ids.member.slice(0, 9)), 1);
  assert.equal(await found('keys', 'northwind/active'), 2);
  assert.equal(await found('keys', 'revoked'), 1);
});

test('keys are found by their values only where these are no secrets', async () => {
  const found = async (arePublicKeys: boolean) =>
    (await testAdmin({ arePublicKeys }).done('GET', '/keys?contains=-spare-'))['keys'].length as number;
  assert.deepEqual([await found(false), await found(true)], [0, 1]);
});

test('the description of the interface is the file, with this server in it', async () => {
  const served = await testAdmin().done('GET', '/interface.json');
  assert.deepEqual(served, { ...openapi, servers: [{ url: '/' }] });
  const below = await testAdmin({ basePath: '/gateway/' }).done('GET', '/interface.json');
  assert.deepEqual(below['servers'], [{ url: '/gateway' }]);
});

test('where the service has another port, which host it has is not known: the file as it is', async () => {
  const { session, done } = testAdmin();
  session.servicePort = 4010;
  assert.deepEqual(await done('GET', '/interface.json'), openapi);
});
