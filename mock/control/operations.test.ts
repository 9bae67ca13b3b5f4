import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Fixture } from '../../schemas/generated/types.ts';
import { createControls, type Controls } from './api.ts';
import { operations } from './operations.ts';
import { Refusal } from '../server/refusal.ts';
import { testAdmin } from '../testing/admin.ts';
import { builtIn, ids, START, testSession } from '../testing/session.ts';

const calls = Object.values(operations).map(({ call }) => call);

describe('a wrong call gets a reason', () => {
  test('404 lists the calls', async () => {
    const { status, json } = await testAdmin().call('GET', '/nothing');
    assert.deepEqual([status, json['error']], [404, 'unknown path /nothing']);
    const paths = calls.map((call) => call.replace(' ', ' /__admin'));
    assert.deepEqual(json['calls'], paths);
  });
  test('405 lists the allowed methods', async () => {
    const { status, headers, json } = await testAdmin().call('PATCH', '/requests');
    const error = 'PATCH is not allowed here; allowed: GET, DELETE';
    assert.deepEqual([status, headers['Allow'], json['error']], [405, 'GET, DELETE', error]);
  });
  const nested = `{"users": ${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
  const limits = { 'user-status': { failedLookups: 0, windowSeconds: 1 } };
  const executed = (params: object) => {
    return { state: 'deposit executed', params: { reference_id: ids.pending, ...params } };
  };
  const length = 'content-length';
  const failed = { user_id: ids.member, state: 'failed' };
  const pending = `PUT /deposits/${ids.pending}`;
  const added = `PUT /deposits/${ids.nobody}`;
  const ofUser = executed({ reference_id: ids.member, amountInUsd: 1, executedAt: 1 });
  const inherited = { state: 'constructor' };
  const revoked = (more: object) => ({ state: 'key revoked', params: { key: 'northwind-key' }, ...more });
  /** By status: call, body, error and place. */
  const wrong: Readonly<Record<number, readonly (readonly [string, unknown, RegExp, string?])[]>> = {
    400: [
      ['PUT /clock', '{"ms": some-secret}', /^the body is not JSON: line 1, column 8: [^-]*$/],
      ['PUT /clock', '[]', /^the body must be object/],
      ['PUT /clock', {}, /^the body is empty$/],
      ['PUT /clock', undefined, /^the body is empty$/],
      ['PUT /clock', { advance: '1' }, /^advance is not a duration in ms, or a text such as 1.5s/, 'advance'],
      ['PUT /clock', { advance: 1e300 }, /^advance is out of range/, 'advance'],
      ['PUT /clock', { minutes: 1 }, /^the body has an unknown key "minutes"; known are "now", /, 'minutes'],
      ['PUT /clock', { now: '2026-01-01T00:00:00' }, /^now is not Unix ms/, 'now'],
      ['PUT /clock', { now: '2026-02-30T00:00:00Z' }, /^now is not Unix ms/, 'now'],
      ['PUT /clock', { now: -1 }, /^now is out of range/, 'now'],
      ['PUT /clock', { now: 8.64e15, rate: 0 }, /^now is out of range/, 'now'],
      ['PUT /clock', { rate: -1 }, /^rate is not a speed/, 'rate'],
      ['PUT /data', nested, /^the body is nested/],
      ['PUT /data', { partner: [] }, /^the body has an unknown key "partner"/, 'partner'],
      ['PUT /data', { users: [{}] }, /^users\[0\] lacks "user_id"\n/, 'users[0]'],
      ['PUT /data', { apiKeys: 5 }, /^apiKeys /, 'apiKeys'],
      ['PUT /data', {}, /^the fixture is empty; a reset restores/],
      ['PUT /data?world=a', { users: [] }, /^world is unknown here/, 'world'],
      ['POST /reset?world=%20', undefined, /^world must be/, 'world'],
      ['POST /reset', { world: 'a' }, /^the body has an unknown key "world"; it has none$/, 'world'],
      ['DELETE /requests', { since: 1 }, /^DELETE \/requests takes no body$/],
      ['PUT /clock?advance=5s', { rate: 0 }, /^advance is unknown in the query; known: world$/, 'advance'],
      ['GET /clock?wrld=a', undefined, /^GET \/clock takes no query$/],
      ['GET /data?limit=1&limit=2', undefined, /^the query names a parameter twice/],
      ['GET /data?limit=x', undefined, /^limit is not a maximum number/, 'limit'],
      ['GET /data?state=done', undefined, /^the query has an unknown key "state"/, 'state'],
      [pending, { amountInUsd: -1, state: 'EXECUTED' }, /^amountInUsd is not/, 'amountInUsd'],
      [pending, { amount: 1 }, /^the body has an unknown key "amount"/, 'amount'],
      [pending, { reference_id: ids.nobody }, /^reference_id belongs/, 'reference_id'],
      [added, { state: 'pending' }, /^the body lacks "user_id"/, 'user_id'],
      [added, { user_id: ids.nobody, state: 'pending' }, /is not a known user/, 'user_id'],
      ['PUT /deposits/x', failed, /^reference_id is not a UUID/, 'reference_id'],
      ['PUT /users/x', { partner: null }, /^user_id is not a UUID of version 4/, 'user_id'],
      [`PUT /users/${ids.nobody}`, { partner: 'x' }, /^partner "x" is not a/, 'partner'],
      [`PUT /users/${ids.nobody}`, 5, /^the body must be a JSON object/],
      ['PUT /keys/mine', { key: 'a b', partner: null }, /^key is not a key that fits into a header/, 'key'],
      ['PUT /keys/northwind/active', { key: 'other' }, /^key cannot be changed/, 'key'],
      ['PUT /keys/<x>', { key: 'other' }, /^name of a new key/, 'name'],
      ['PUT /keys/my-secret', { key: 'secret' }, /^name of a new key/, 'name'],
      ['PUT /limits', limits, /^user-status.failedLookups is not/, 'user-status.failedLookups'],
      ['PUT /limits', { 'deposit-check': 5 }, /^deposit-check /, 'deposit-check'],
      ['PUT /limits', { deposit: null }, /^the body has an unknown key "deposit"/, 'deposit'],
      ['PUT /limits', 5, /^the body /],
      ['PUT /fault', {}, /^the body lacks "fault"/, 'fault'],
      ['PUT /fault', { fault: 'toString' }, /^fault is not an id that GET/, 'fault'],
      ['POST /next', {}, /^the body is empty/],
      ['POST /next', { status: 99 }, /^status is not a status from 200/, 'status'],
      ['POST /next', { headers: { 'a b': 'x' } }, /^headers/, 'headers'],
      ['POST /next', { headers: { a: 'x\n' } }, /^headers.a is not a value/, 'headers.a'],
      ['POST /next', [{ status: 503 }, { delay: '5' }], /^\[1\].delay is not a duration/, '[1].delay'],
      ['POST /next', { reset: false }, /^reset /, 'reset'],
      [
        'POST /next',
        { headers: { [length]: '5' } },
        /^headers.content-length is written/,
        `headers.${length}`,
      ],
      ['POST /next', { delay: '25h' }, /^delay is longer than a day/, 'delay'],
      ['POST /next', { status: 503, count: 1.5 }, /^count is not a number of requests/, 'count'],
      ['POST /next', { kind: '503' }, /^the body has an unknown key "kind"/, 'kind'],
      ['GET /requests?hue=1', undefined, /^the query has an unknown key "hue"; known are "method"/, 'hue'],
      ['GET /requests?method=get', undefined, /^method is not a method of HTTP/, 'method'],
      ['GET /requests?endpoint=users', undefined, /^endpoint is not one of "user-s/, 'endpoint'],
      ['GET /requests?status=4o4', undefined, /^status is not a status/, 'status'],
      ['GET /requests?key=northwind/activ', undefined, /^key is not a key or a name that/, 'key'],
      ['GET /requests?world=a&key=northwind-key~b', undefined, /^key names another world/, 'key'],
      [`GET /requests?key=northwind-key~${'a'.repeat(101)}`, undefined, /^key .* maximum is 100$/, 'key'],
      ['POST /state', executed({ amountInUsd: -1 }), /^params.amountInUsd is not an/, 'params.amountInUsd'],
      ['POST /state', executed({ amountInUsd: '1' }), /^params.amountInUsd is not an/, 'params.amountInUsd'],
      ['POST /state', executed({ executedAt: 1 }), /^params need amountInUsd/, 'params'],
      ['POST /state', ofUser, /^params need the reference_id/, 'params'],
      ['POST /state', {}, /^the body lacks "state"$/, 'state'],
      ['POST /state', inherited, /^state is not one of "key revoked", "deposit executed"/, 'state'],
      ['POST /state', revoked({ action: 'reset' }), /^action is not one of "setup", "teardown"/, 'action'],
      ['POST /state', revoked({ world: 'a' }), /^the body has an unknown key "world"/, 'world'],
      ['POST /state', revoked({ params: undefined }), /^params need a key/, 'params'],
      ['POST /state', revoked({ params: { key: 'nope' } }), /^params need a key/, 'params'],
      ['POST /state', revoked({ params: { key: ['x'] } }), /^params.key is not a key/, 'params.key'],
    ],
    404: [['PUT /keys/some-secret', { state: 'revoked' }, /^there is no such key here; [^s]/, 'key']],
    409: [['PUT /keys/mine', { key: 'northwind-key', partner: null }, /^this key exists/, 'key']],
  };
  for (const [status, rows] of Object.entries(wrong))
    for (const [line, body, error, place] of rows)
      test(`${status} ${line} ${JSON.stringify(body)?.slice(0, 100)}`, async () => {
        const { callRefused, session } = testAdmin();
        const before = session.main;
        const [method = '', path = ''] = line.split(' ');
        const [gotStatus, gotError, gotPlace] = await callRefused(method, path, body);
        assert.match(gotError, error);
        assert.deepEqual([gotStatus, gotPlace], [Number(status), place ?? 'body']);
        assert.equal(session.main, before);
        const { deposits, keys, users } = session.main.world;
        assert.equal(deposits.changed.size + keys.changed.size + users.changed.size, 0);
      });
});

const anything = fc.oneof(
  fc.constantFrom<unknown>(0, 1, 5, -1, 1.5, '5', '', null, true, [], {}, 503, '2s', 404),
  fc.constantFrom<unknown>(
    '2026-01-01T00:00:00Z',
    1e15,
    'user-status',
    'northwind/active',
    'pending',
    'nope',
  ),
  fc.constantFrom<unknown>({ failedLookups: 1, windowSeconds: 2 }, { key: 'northwind-key' }, 'key revoked'),
  fc.jsonValue({ maxDepth: 1 }),
);
/** Values that a query can express: a text, or a number for a field that is one. */
const inQuery = fc.constantFrom<unknown>(0, 1, 5, 200, 'x', 'GET', 'EXECUTED', 'northwind', 'user-status');
const id = fc.constantFrom(ids.pending, ids.member, 'northwind/active', 'mine', 'a/b', ids.nobody);

/** A valid query or body of each operation. The tests draw others with the same fields. */
const valid: Readonly<Record<keyof typeof operations, Given>> = {
  health: {},
  requests: { method: 'GET', path: '/x', endpoint: 'user-status', reason: '200', since: 0, limit: 5 },
  clearRequests: {},
  data: { contains: 'northwind', limit: 5 },
  setData: { users: [], apiKeys: [] },
  setUser: { partner: 'northwind', date_joined: '2026-01-01T00:00:00Z' },
  setDeposit: { user_id: ids.member, state: 'EXECUTED', amountInUsd: 1.5, executedAt: 5 },
  setKey: { key: 'another-key', partner: null, state: 'expired', expiresAt: 1e15 },
  setLimits: { 'deposit-check': { requests: 1, windowSeconds: 2 } },
  clock: {},
  setClock: { now: '2026-01-01T00:00:00Z', advance: '2s', rate: 0 },
  fault: {},
  setFault: { fault: 'pending-with-202' },
  next: { status: 503, headers: { 'X-A': 'b' }, body: {}, delay: '2s', count: 5, endpoint: 'user-status' },
  reset: {},
  state: { state: 'key revoked', params: { key: 'northwind-key' }, action: 'setup' },
};

type Given = Readonly<Record<string, unknown>>;

/** Calls over HTTP. Returns the result or the refusal. */
async function overHttp(line: string, one: string | undefined, given: Given) {
  const mock = testAdmin();
  mock.user(ids.member);
  const [method = '', path = ''] = line.split(' ');
  const query = method === 'GET' ? `?${new URLSearchParams(given as never).toString()}` : '';
  const target = path.replace('{id}', encodeURIComponent(one ?? '')) + query;
  const { status, json } = await mock.call(method, target, method === 'GET' ? undefined : given);
  return status < 300 ? (json ?? null) : [status, json['error'], json['place']];
}

function inJavaScript(name: keyof typeof operations, one: string | undefined, given: Given) {
  const { session, user } = testSession();
  user(ids.member);
  const method = createControls(session)[name] as (...args: readonly unknown[]) => unknown;
  try {
    const result = method(...(one === undefined ? [] : [one]), given) ?? null;
    return JSON.parse(
      JSON.stringify(name === 'requests' ? { requests: result, dropped: 0 } : result),
    ) as unknown;
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    return [error.status, error.message, error.details.place];
  }
}

describe('HTTP and JavaScript take and refuse the same input, with the same words', () => {
  for (const [name, { call }] of Object.entries(operations) as [keyof typeof operations, { call: string }][])
    test(call, async () => {
      const values = Object.entries(valid[name]).map(
        ([field, value]) =>
          [
            field,
            fc.oneof(
              { arbitrary: fc.constant(value), weight: 5 },
              call.startsWith('GET') ? inQuery : anything,
            ),
          ] as const,
      );
      const known = fc.record(Object.fromEntries(values), { requiredKeys: [] });
      const given = fc.oneof({ arbitrary: known, weight: 9 }, fc.constant({ unknown: 1 }));
      const input = fc.tuple(given, call.includes('{id}') ? id : fc.constant(undefined));
      let refused = 0;
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(input, async ([rest, one]) => {
          const result = inJavaScript(name, one, rest);
          runs += 1;
          if (Array.isArray(result)) refused += 1;
          // Numbers of a query stand as text in other fields.
          const isText =
            call.startsWith('GET') &&
            Object.entries(rest).some(
              ([field, value]) => typeof value === 'number' && !['status', 'since', 'limit'].includes(field),
            );
          if (!isText) assert.deepEqual(await overHttp(call, one, rest), result);
        }),
        { seed: 7, numRuns: 200 },
      );
      // Both kinds of results were compared.
      assert.ok(refused > 0 && refused < runs, `${refused} of ${runs} refused`);
    });
});

test('a refused call creates no world', async () => {
  const { callRefused, session } = testAdmin();
  await callRefused('PUT', '/limits?world=new', { 'deposit-check': 5 });
  await callRefused('PUT', '/fault?world=new', { fault: 'x' });
  await callRefused('PUT', '/clock?world=new', { now: -1 });
  assert.equal(session.sandboxes.size, 0);
});

test('a call that reads creates no world and shows what a new one would have', async () => {
  const { call, callJson, session } = testAdmin();
  for (const path of ['/data', '/clock', '/fault', '/requests']) {
    const [ofNew, ofMain] = [await call('GET', `${path}?world=new`), await call('GET', path)];
    const { unused: _, ...shown } = ofNew.json;
    assert.deepEqual([ofNew.status, shown], [ofMain.status, { ...ofMain.json }], path);
  }
  await callJson('DELETE', '/requests?world=new');
  assert.equal(session.sandboxes.size, 0);
  await callJson('PUT', '/clock?world=new', { advance: '1s' });
  assert.deepEqual((await callJson('GET', '/data'))['worlds'], ['new']);
});

describe('requests', () => {
  test('are found by each field, and cleared', async () => {
    const { callJson, user, deposit, requests, clearRequests } = testAdmin();
    user(ids.member);
    user(ids.member, 'nope');
    deposit(ids.pending);
    // Admin calls are not in the journal.
    await callJson('GET', '/data');
    const reasons = ['200: member of the IB', '401: no such key', '404: deposit pending'];
    const shown = requests().map(({ reason }) => reason);
    assert.deepEqual(shown, reasons);
    for (const [filter, found] of [
      [{ status: 401 }, [2]],
      [{ method: 'GET', endpoint: 'user-status' }, [1, 2]],
      [{ path: '/api/ib/deposit-check' }, [3]],
      [{ target: `/api/ib/user-status?user_id=${ids.member}`, key: 'northwind/active' }, [1]],
      [{ reason: 'pending' }, [3]],
      [{ reason: 'pending', status: 200 }, []],
      [{ key: 'northwind-key' }, [1, 3]],
      [{ key: '<key northwind/active>', limit: 1 }, [3]],
      [{ key: 'northwind-key~other' }, []],
      [{ limit: 2 }, [2, 3]],
      [{ since: 1 }, [2, 3]],
      [{ limit: 0 }, []],
    ] as const)
      assert.deepEqual(
        requests(filter).map((one) => one.id),
        found,
        JSON.stringify(filter),
      );
    clearRequests();
    assert.deepEqual(requests(), []);
  });
  test('that the journal dropped are not silently missing', async () => {
    const { requests, user, call } = testAdmin({ journal: 10 });
    for (let count = 0; count < 30; count++) user(ids.member);
    assert.throws(() => requests({ status: 401 }), {
      status: 409,
      message: /keeps 10 requests and dropped 20: ask for those since 20, /,
    });
    assert.throws(() => requests({ since: 19 }), Refusal);
    assert.equal(requests({ since: 20 }).length, 10);
    assert.equal(requests({ limit: 99 }).length, 10);
    const { status, json } = await call('GET', '/requests?limit=1');
    assert.deepEqual([status, json['dropped']], [200, 20]);
    assert.equal((await call('GET', '/requests')).status, 409);
  });
  test('of a world that was never used are named as such', async () => {
    const { callJson, user } = testAdmin();
    const unused = { requests: [], dropped: 0, unused: true };
    assert.deepEqual(await callJson('GET', '/requests?world=typo'), unused);
    user(ids.member, 'northwind-key~typo');
    assert.deepEqual(Object.keys(await callJson('GET', '/requests?world=typo')), ['requests', 'dropped']);
  });
  test('can be waited for, or reject in time', async () => {
    const { waitForRequest, user } = testSession();
    const waiting = waitForRequest({ status: 401 });
    user(ids.member);
    user(ids.member, 'nope');
    assert.equal((await waiting).id, 2);
    const never = waitForRequest(
      { status: 429, endpoint: 'user-status', key: 'northwind-key' },
      { timeout: '1ms' },
    );
    await assert.rejects(
      never,
      /^Error: no such request came in 1 ms; the nearest: GET \S+ → 200: .*, GET .* → 401: /,
    );
  });
});

test('a wait that is refused breaks no other request', async () => {
  const { waitForRequest, user, session } = testSession();
  await assert.rejects(waitForRequest({ key: 'typo' }), { status: 400 });
  await assert.rejects(waitForRequest({}, { timeout: 'soon' }), { message: /^timeout is not a duration/ });
  await assert.rejects(waitForRequest({}, { timeoutMs: 5 } as object), { message: /^timeoutMs is unknown/ });
  assert.equal(session.waiting.size, 0);
  assert.equal(user(ids.member).status, 200);
});

test('what a caller gave or got is a copy', () => {
  const { data, next, setData, user } = testSession();
  Object.assign(data().users[0]!, { partner: 'other' });
  const answer = { status: 503 };
  next(answer);
  answer.status = 200;
  data().next.length = 0;
  assert.deepEqual([user(ids.member).status, user(ids.member).status], [503, 200]);
  const fixture = structuredClone(builtIn);
  setData(fixture);
  fixture.users!.length = 0;
  assert.equal(data().totals.users, builtIn.users!.length);
  assert.throws(() => next({ status: 200, body: { n: 5n } as object }), { status: 400 });
});

describe('deposits', () => {
  const one = ({ data }: Controls, reference_id: string) => data({ contains: reference_id }).deposits[0]!;
  test('are shown in their current state, which is no poll', () => {
    const mock = testSession();
    const { deposit, passTime, data } = mock;
    const shown = (reference_id: string, state: string) => {
      return { reference_id, user_id: ids.member, partner: 'northwind', state };
    };
    for (let count = 0; count < 9; count++) one(mock, ids.afterPolls);
    assert.deepEqual(one(mock, ids.afterPolls), { ...shown(ids.afterPolls, 'pending'), pollsLeft: 3 });
    for (let count = 0; count < 4; count++) deposit(ids.afterPolls);
    const { state: polled, executedAt } = one(mock, ids.afterPolls);
    assert.deepEqual([polled, executedAt], ['EXECUTED', START]);
    passTime(2000);
    assert.equal(one(mock, ids.afterSeconds).dueInMs, 3000);
    passTime(3000);
    assert.equal(one(mock, ids.afterSeconds).state, 'EXECUTED');
    assert.deepEqual(data({ contains: 'failed' }).deposits[0], shown(ids.failed, 'failed'));
  });
  test('are executed with their planned amount or 100 USD, or as given, and fail', () => {
    const { setDeposit, deposit } = testSession();
    setDeposit(ids.pending.toUpperCase(), { state: 'EXECUTED' });
    assert.equal(deposit(ids.pending).body, `{"status":"EXECUTED","amountInUsd":100,"executedAt":${START}}`);
    setDeposit(ids.afterPolls, { state: 'EXECUTED', amountInUsd: 1.5, executedAt: 42 });
    assert.equal(deposit(ids.afterPolls).body, '{"status":"EXECUTED","amountInUsd":1.5,"executedAt":42}');
    setDeposit(ids.afterPolls, { amountInUsd: 2 });
    assert.equal(deposit(ids.afterPolls).body, '{"status":"EXECUTED","amountInUsd":2,"executedAt":42}');
    const { amountInUsd } = setDeposit(ids.afterSeconds, { state: 'EXECUTED' });
    const planned = builtIn.deposits!.flatMap((other) =>
      'becomes' in other && other.reference_id === ids.afterSeconds ? [other.becomes] : [],
    );
    assert.equal(amountInUsd, planned[0]!.amountInUsd);
    setDeposit(ids.afterSeconds, { state: 'failed' });
    assert.equal(deposit(ids.afterSeconds).status, 404);
  });
  test('that time executed keep their amount and time when another field is set', () => {
    const { setDeposit, passTime } = testSession();
    passTime(9000);
    const { state, executedAt, amountInUsd } = setDeposit(ids.afterSeconds, { amountInUsd: 7 });
    assert.deepEqual([state, executedAt, amountInUsd], ['EXECUTED', START + 5000, 7]);
  });
  test('can be added, also for an added user, with times from now on', () => {
    const { setUser, setDeposit, setClock, deposit, user, passTime, data } = testSession();
    passTime(100_000);
    const { date_joined } = setUser(ids.nobody, { partner: 'northwind' });
    assert.equal(date_joined, new Date(START + 100_000).toISOString());
    assert.match(user(ids.nobody).body, /"is_under_ib":true/);
    const becomes = { state: 'EXECUTED', amountInUsd: 5, afterSeconds: 10 } as const;
    setDeposit(ids.nobody, { user_id: ids.nobody, state: 'pending', becomes });
    assert.equal(deposit(ids.nobody).status, 404);
    setClock({ advance: '10s' });
    assert.equal(deposit(ids.nobody).status, 200);
    assert.equal(data().totals.users, builtIn.users!.length + 1);
    setUser(ids.nobody, { partner: null });
    assert.equal(deposit(ids.nobody).status, 404);
  });
  test('are not executed by a change or a clock set back before a poll finds them', () => {
    const { setDeposit, setClock, deposit, data } = testSession();
    for (let polls = 0; polls < 3; polls++) deposit(ids.afterPolls);
    setClock({ now: START - 3_600_000 });
    setDeposit(ids.afterPolls, {});
    const { state, pollsLeft } = data({ contains: ids.afterPolls }).deposits[0]!;
    assert.deepEqual([state, pollsLeft], ['pending', 0]);
    assert.equal(deposit(ids.afterPolls).status, 200);
  });
  test('start to be polled anew when they are set', () => {
    const { setDeposit, deposit } = testSession();
    const becomes = { state: 'EXECUTED', amountInUsd: 5, afterPolls: 1 } as const;
    for (let round = 0; round < 2; round++) {
      setDeposit(ids.pending, { state: 'pending', becomes });
      assert.deepEqual([deposit(ids.pending).status, deposit(ids.pending).status], [404, 200]);
    }
  });
});

describe('keys', () => {
  const another = { key: 'another-key', partner: 'northwind' };
  test('are revoked and expire, by value or name, and come back', () => {
    const { setKey, user } = testSession({ arePublicKeys: false });
    const revoked = { name: '<key northwind/active>', partner: 'northwind', state: 'revoked' };
    assert.deepEqual(setKey('northwind-key', { state: 'revoked' }), revoked);
    setKey('northwind/active/2', { state: 'expired' });
    setKey('<key contoso/active>', { expiresAt: START });
    for (const key of ['northwind-key', 'northwind-spare-key', 'contoso-key'])
      assert.equal(user(ids.member, key).status, 401);
    setKey('northwind/active', { state: 'active' });
    assert.equal(user(ids.member).status, 200);
  });
  test('can be added, also with an expiry and own limits', () => {
    const { setKey, user, deposit, passTime } = testSession();
    passTime(100_000);
    const shown = setKey('mine', { ...another, expiresAfterSeconds: 10 });
    const added = { name: '<key mine>', partner: 'northwind', state: 'active' };
    assert.deepEqual(shown, { ...added, expiresAt: START + 110_000 });
    assert.equal(user(ids.member, 'another-key').status, 200);
    setKey('mine', { limits: { 'deposit-check': { requests: 1, windowSeconds: 60 } } });
    const statuses = [1, 2].map(() => deposit(ids.executed, 'another-key').status);
    assert.deepEqual(statuses, [200, 429]);
    passTime(10_000);
    assert.equal(user(ids.member, 'another-key').status, 401);
  });
  test('that are added keep their remaining time when the clock is set back', () => {
    const { setKey, setClock, user } = testSession();
    setKey('mine', { ...another, expiresAfterSeconds: 5 });
    setClock({ advance: '-1h' });
    setClock({ advance: 4999 });
    assert.equal(user(ids.member, 'another-key').status, 200);
    setClock({ advance: 1 });
    assert.equal(user(ids.member, 'another-key').status, 401);
  });
  test('of a world work in that world, and are redacted in all', () => {
    const { world, user, get, entries } = testSession();
    world('a').setKey('mine', another);
    const statuses = ['', '~b', '~a'].map((name) => user(ids.member, `another-key${name}`).status);
    assert.deepEqual(statuses, [401, 401, 200]);
    assert.equal(entries('a')[0]?.key, '<key mine>');
    get('/?x=another-key');
    assert.doesNotMatch(JSON.stringify(entries()), /another-key/);
  });
  test('are shown by value, and found by it, only if they are public', () => {
    const found = (arePublicKeys: boolean) =>
      testSession({ arePublicKeys }).data({ contains: '-spare-' }).keys;
    assert.deepEqual([found(false).length, found(true)[0]?.key], [0, 'northwind-spare-key']);
  });
});

test('limits are set, shown and removed, with how full they are', () => {
  const { setLimits, data, deposit, passTime } = testSession();
  const limits = { 'deposit-check': { requests: 2, windowSeconds: 60 } };
  // An endpoint that is not named has none.
  assert.deepEqual(setLimits(limits), { limits });
  const statuses = () => [1, 2, 3].map(() => deposit(ids.executed).status);
  assert.deepEqual(statuses(), [200, 200, 429]);
  passTime(18_000);
  const gauge = { endpoint: 'deposit-check', key: '<key northwind/active>', counted: 2, most: 2 };
  assert.deepEqual(data().limits, limits);
  assert.deepEqual(data().limiters, [{ ...gauge, windowSeconds: 60, isLimited: true, freesInMs: 42_000 }]);
  setLimits({});
  assert.deepEqual(statuses(), [200, 200, 200]);
});

test('a fault is switched on and off in one world', () => {
  const { world, deposit } = testSession();
  const { setFault, fault } = world('a');
  const statuses = () => ['~a', ''].map((name) => deposit(ids.pending, `northwind-key${name}`).status);
  assert.deepEqual(setFault({ fault: 'pending-with-202' }), { fault: 'pending-with-202' });
  assert.deepEqual(statuses(), [202, 404]);
  const shown = fault();
  assert.equal(shown.fault, 'pending-with-202');
  assert.ok(shown.faults.some((one) => one.id === 'fields-reversed' && one.what !== ''));
  setFault({ fault: null });
  assert.deepEqual(statuses(), [404, 404]);
});

test('another fixture is served in all worlds, with secret keys, until a reset', () => {
  const { setData, data, reset, session, user } = testSession({ arePublicKeys: true });
  user(ids.member, 'northwind-key~a');
  const apiKeys = [{ key: 'other-key', partner: 'northwind', state: 'active' as const }];
  const fixture: Fixture = { apiKeys, users: builtIn.users! };
  const sizes = { partners: 0, apiKeys: 1, users: builtIn.users!.length, deposits: 0 };
  assert.deepEqual(setData(fixture), sizes);
  assert.equal(session.sandboxes.size, 0);
  const statuses = ['northwind-key', 'other-key', 'other-key~a'].map((key) => user(ids.member, key).status);
  assert.deepEqual(statuses, [401, 200, 200]);
  assert.doesNotMatch(JSON.stringify(data()), /other-key/);
  reset();
  assert.equal(data().keys[0]?.key, 'northwind-key');
});

test('a reset applies to one world, or to all, over HTTP and in JavaScript', async () => {
  const { call, user, world, reset, setKey } = testAdmin();
  const statuses = () => ['northwind-key', 'northwind-key~a'].map((key) => user(ids.member, key).status);
  for (const [resetOne, resetAll] of [
    [() => call('POST', '/reset?world=a'), () => call('POST', '/reset', {})],
    [() => world('a').reset(), () => reset()],
  ] as const) {
    for (const one of [setKey, world('a').setKey]) one('northwind-key', { state: 'revoked' });
    await resetOne();
    assert.deepEqual(statuses(), [401, 200]);
    await resetAll();
    assert.deepEqual(statuses(), [200, 200]);
  }
});

describe('a list', () => {
  const idOf = (index: number) => `12345678-1234-4234-8234-${String(index).padStart(12, '0')}`;
  const users = Array.from({ length: 2500 }, (_, nth) => ({
    user_id: idOf(nth),
    partner: null,
    date_joined: '2024-01-01T00:00:00Z',
  }));
  const { data } = testSession({ fixture: { users } });
  for (const [what, filter, total, count, first] of [
    ['has at most 1000 items', {}, 2500, 1000, idOf(0)],
    ['has a limit', { limit: 5 }, 2500, 5, idOf(0)],
    [
      'has the matching items and their total',
      { contains: ' 8234-00000000240', limit: 2 },
      10,
      2,
      idOf(2400),
    ],
    ...['8234.0', '.*', '[', '\\d', 'a/b-c'].map(
      (contains) => [`takes no pattern: ${contains}`, { contains }, 0, 0, undefined] as const,
    ),
  ] as const)
    test(what, () => {
      const { users: found, totals } = data(filter);
      assert.deepEqual([totals.users, found.length, found[0]?.user_id], [total, count, first]);
    });
});

test('deposits, users and keys are found by their fields', () => {
  const { users = [], deposits = [] } = builtIn;
  const theirs = new Set(users.flatMap((one) => (one.partner === 'contoso' ? [one.user_id] : [])));
  for (const [list, contains, expected] of [
    ['deposits', ids.pending, 1],
    ['deposits', 'PENDING', deposits.filter(({ state }) => state === 'pending').length],
    ['deposits', 'contoso', deposits.filter(({ user_id }) => theirs.has(user_id)).length],
    ['users', ids.member.slice(0, 9), 1],
    ['keys', 'northwind/active', 2],
    ['keys', 'revoked', 1],
  ] as const) {
    const { [list]: items, totals } = testSession().data({ contains });
    assert.deepEqual([items.length, totals[list]], [expected, expected], contains);
  }
});
