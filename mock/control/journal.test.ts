import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { answerRequest } from '../server/answer-request.ts';
import { faults } from '../deviations/faults.ts';
import { createSession } from './session.ts';
import { depositPath, FOUND, ids, lookup, START, testSession, userPath } from '../testing/session.ts';

const base64 = (text: string, variant: 'base64' | 'base64url') => Buffer.from(text).toString(variant);

type Mock = ReturnType<typeof testSession>;

const withKey = (key: string | null) => (mock: Mock) => mock.user(ids.member, key);
const ofUser = (id: string) => (mock: Mock) => mock.user(id);
const ofDeposit = (id: string) => (mock: Mock) => mock.deposit(id);
const posted = (target: string) => (mock: Mock) =>
  answerRequest(mock.session, { method: 'POST', target, headers: {} });

/** Expected reasons, with their requests. */
const reasons: readonly (readonly [reason: string, ask: (mock: Mock) => unknown])[] = [
  ['401: no Authorization field', withKey(null)],
  ['401: no such key', withKey('nope')],
  ['401: key revoked', withKey('northwind-revoked-key')],
  ['401: key expired', withKey('northwind-expired-key')],
  ['401: key expired', ({ passTime, user }) => (passTime(30_000), user(ids.member, 'fabrikam-expiring-key'))],
  ['401: key of a non-Partner account', withKey('jane-personal-key')],
  ['401: Authorization is not Bearer and a key', withKey('two words')],
  ['200: member of the IB', ofUser(ids.member)],
  ['200: user of another IB', ofUser(ids.foreignUser)],
  ['200: user of no IB', ofUser('33333333-3333-4333-8333-333333333333')],
  ['200: no such user', ofUser(ids.nobody)],
  ['400: user_id is not a valid UUID', ofUser('x')],
  ['400: user_id is missing', ({ get }) => get('/api/ib/user-status')],
  ['200: deposit EXECUTED', ofDeposit(ids.executed)],
  ['404: deposit pending', ofDeposit(ids.pending)],
  ['404: deposit failed', ofDeposit(ids.failed)],
  ['404: deposit of another IB', ofDeposit(ids.foreign)],
  ['404: no such deposit', ofDeposit(ids.nobody)],
  ['400: reference_id is not a valid UUID', ofDeposit('x')],
  ['404: no such path', posted('/')],
  ['405: no such method: POST', posted(userPath('x'))],
  ['429: key that is always rate-limited', withKey('fabrikam-always-limited-key')],
];

describe('the reason of an answer', () => {
  for (const [reason, ask] of reasons)
    test(reason, () => {
      const mock = testSession();
      ask(mock);
      assert.equal(mock.entries()[0]?.reason, reason);
    });
  test('of limiters', () => {
    const { user, passTime, entries } = testSession();
    for (let count = 0; count < 61; count++) user(ids.nobody);
    passTime(1500);
    user(ids.member);
    const last = entries().map(({ reason }) => reason);
    const frees = ['429: 61 of 60 in 3 s, frees in 3 s', '429: 61 of 60 in 3 s, frees in 2 s'];
    assert.deepEqual(last.slice(60), frees);
  });
  test('of an answer changed by a fault', () => {
    const { change } = faults['pending-with-202']!;
    const { deposit, entries } = testSession({ deviation: { id: 'pending-with-202', change } });
    deposit(ids.pending);
    assert.equal(entries()[0]?.reason, '202: a fault (else 404: deposit pending)');
  });
});

test('an entry has the name of the key, the world, the time and the request', () => {
  const { passTime, user, entries } = testSession();
  passTime(7);
  user(ids.member, 'northwind-spare-key~mine');
  assert.deepEqual(entries('mine'), [
    {
      id: 1,
      at: START + 7,
      world: 'mine',
      key: '<key northwind/active/2>',
      method: 'GET',
      target: userPath(ids.member),
      endpoint: 'user-status',
      status: 200,
      reason: '200: member of the IB',
      keyInTarget: false,
      requestHeaders: { authorization: 'Bearer <key northwind/active/2>' },
      responseHeaders: {
        Date: new Date(START).toUTCString(),
        'Content-Type': 'application/json',
        'Cache-Control': 'no-store',
        'Content-Length': '61',
      },
      responseBody: FOUND,
      elapsedMs: 7,
      durationMs: 0,
    },
  ]);
});

describe('a credential in a target', () => {
  const shown = (target: string, key: string | null = null) => {
    const mock = testSession();
    mock.get(target, key);
    const { target: clean, keyInTarget } = mock.entries()[0]!;
    return [clean, keyInTarget];
  };
  for (const [target, expected] of [
    ['/?a=northwind-key', '/?a=<key northwind/active>'],
    ['/northwind-revoked-key/x', '/<key northwind/revoked>/x'],
    ['/?a=x-revoked-key&b=1', '/?a=x-<key northwind/revoked>&b=1'],
    [`/?a=${base64('x:northwind-revoked-key', 'base64url')}`, '/?a=eDp<key northwind/revoked>k'],
    ['/?a=northwind-key~mine', '/?a=<key northwind/active>~mine'],
    ['/?api_key=anything&b=1', '/?api_key=<credential>&b=1'],
    ['/?b=1&access_token=anything', '/?b=1&access_token=<credential>'],
    ['/?key=northwind-key', '/?key=<key northwind/active>'],
  ] as const)
    test(`is not shown: ${target}`, () => assert.deepEqual(shown(target), [expected, true]));
  test('does not exist in other targets', () => {
    for (const target of [userPath(ids.member), depositPath('%zz'), '/?monkey=1', '/?api_key='])
      assert.deepEqual(shown(target), [target, false]);
  });
});

test('a header field shows no credential, known or not', () => {
  const { session, entries } = testSession();
  for (const [headers, expected] of [
    [{ authorization: 'Bearer northwind-key~mine' }, 'Bearer <key northwind/active>'],
    [{ authorization: 'Bearer some-secret' }, 'Bearer <credential>'],
    [{ authorization: 'some-secret' }, '<credential>'],
    [{ authorization: `Basic ${base64('x:some-secret', 'base64')}` }, 'Basic <credential>'],
    [{ 'x-api-key': 'some-secret' }, '<credential>'],
    [{ 'x-api-key': 'northwind-key' }, '<key northwind/active>'],
    [{ cookie: 'a=some-secret' }, '<credential>'],
    [{ 'x-tenant': 'a northwind-key' }, 'a <key northwind/active>'],
    [{ 'user-agent': 'client/1' }, 'client/1'],
  ] as const) {
    for (const target of ['/', userPath(ids.member)])
      answerRequest(session, lookup(target, { key: null, headers }).request);
    const shown = [...entries(), ...entries('mine')].toSorted((one, other) => one.id - other.id).slice(-2);
    for (const { requestHeaders } of shown) assert.equal(Object.values(requestHeaders)[0], expected);
  }
});

test('a journal keeps the last requests; with size 0 it keeps none', () => {
  for (const [journal, expected] of [
    [3, [698, 699, 700]],
    [0, []],
  ] as const) {
    const { session, user, entries } = testSession({ journal });
    for (let id = 1; id <= 700; id++) user(ids.member);
    const kept = entries().map(({ id }) => id);
    assert.deepEqual(kept, expected);
    assert.ok(session.main.journal.entries.length <= journal);
  }
});

const MOST = 2048;
const start = userPath('');

test('the journal truncates long texts, after it removed credentials', () => {
  const { session } = testSession();
  const entryOf = (target: string) => answerRequest(session, lookup(target).request).entry;
  const { target, reason } = entryOf(start + 'x'.repeat(MOST));
  assert.equal(target, `${start}${'x'.repeat(MOST - start.length)}… (${start.length + MOST} characters)`);
  assert.equal(reason, '400: user_id is not a valid UUID');
  const across = entryOf(`${start.padEnd(MOST - 5, 'x')}northwind-key`);
  assert.doesNotMatch(across.target, /north/);
  assert.equal(across.keyInTarget, true);
});

test('a journal of the longest requests stays small', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { session } = testSession();
  const usedBytes = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = usedBytes();
  for (let count = 0; count < 200; count += 1) {
    // A new string, which shares no memory with others.
    const target = Buffer.from(`${start}${count}${'x'.repeat(60_000)}`).toString();
    const authorization = `Bearer ${count % 2 === 0 ? 'northwind-key' : 'no'.repeat(2000)}`;
    answerRequest(session, lookup(target, { authorization }).request);
  }
  assert.equal(session.main.journal.entries.length, 200);
  assert.ok(usedBytes() - before < 200 * 8000, `${usedBytes() - before} bytes`);
});

test('the time of an entry counts from the start of the mock', () => {
  const before = performance.now();
  const session = createSession({});
  answerRequest(session, lookup(userPath(ids.member)).request);
  const [entry] = session.main.journal.entries;
  assert.ok(entry!.elapsedMs <= Math.ceil(performance.now() - before), `${entry!.elapsedMs} ms`);
});

test('an entry has Retry-After and the time since the start', () => {
  let elapsed = 5.4;
  const { deposit, entries } = testSession({ clock: 'frozen', elapsed: () => (elapsed += 1000) });
  deposit(ids.executed, 'fabrikam-always-limited-key');
  deposit(ids.pending);
  assert.deepEqual(
    entries().map((one) => [one.elapsedMs, one.durationMs, one.retryAfterSeconds, one.reason]),
    [
      [1005, 1000, 3, '429: key that is always rate-limited'],
      [3005, 1000, undefined, '404: deposit pending'],
    ],
  );
});
