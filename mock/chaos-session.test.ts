import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { endpoints } from '../schemas/endpoints.ts';
import { answerRequest } from './answer-request.ts';
import { queueChaos, setChaos, shownChaos } from './controls.ts';
import { chaosFor, chaosName, parseChaos } from './chaos.ts';
import { depositPath, ids, testSession, userPath } from './testing/session.ts';
import { resetAll, resetWorld, sandboxNamed } from './session.ts';

const NAME = '<key northwind/active>';

describe('a status by chaos', () => {
  test('has the own message of its endpoint, and 429 says how long to wait', () => {
    const { session, get } = testSession();
    const answered = (path: string, kind: string) => {
      queueChaos(session, session.main, kind);
      const { status, headers, body, transportFault } = get(path);
      return [status, JSON.parse(String(body)), headers['Retry-After'], transportFault];
    };
    const { 'user-status': user, 'deposit-check': deposit } = endpoints;
    assert.deepEqual(answered(userPath(ids.member), '429'), [
      429,
      { error: user.messages[429] },
      '1',
      undefined,
    ]);
    assert.deepEqual(answered(depositPath(ids.executed), '429')[1], { error: deposit.messages[429] });
    assert.deepEqual(answered(userPath(ids.member), '503'), [
      503,
      { error: 'Service Unavailable' },
      undefined,
      undefined,
    ]);
    assert.equal(answered(userPath(ids.member), '599')[0], 599);
    assert.equal(get(userPath(ids.member)).status, 200);
  });
  test('looks nothing up and counts nothing', () => {
    const { session, user, deposit, entries } = testSession();
    queueChaos(session, session.main, '500', 300);
    for (let count = 0; count < 150; count++) {
      assert.equal(deposit(ids.afterPolls).status, 500);
      assert.equal(user(ids.nobody).status, 500);
    }
    assert.deepEqual(
      [1, 2, 3, 4].map(() => deposit(ids.afterPolls).status),
      [404, 404, 404, 200],
    );
    assert.equal(user(ids.nobody).status, 200);
    assert.equal(entries()[0]?.reason, '500: by chaos');
  });
  test('comes before the limiter', () => {
    const { session, user } = testSession();
    for (let count = 0; count < 61; count++) user(ids.nobody);
    queueChaos(session, session.main, '502');
    assert.deepEqual([user(ids.member).status, user(ids.member).status], [502, 429]);
  });
});

test('only requests that are let in are disturbed, and none that asks for its answer', () => {
  const { session, get, user } = testSession({ chaos: parseChaos(['503']) });
  queueChaos(session, session.main, '500');
  for (const key of [null, 'nope', 'northwind-revoked-key', 'jane-personal-key'])
    assert.equal(user(ids.member, key).status, 401);
  assert.equal(get('/').status, 404);
  const method = 'POST';
  const headers = { authorization: 'Bearer northwind-key', prefer: 'code=400' };
  assert.equal(answerRequest(session, { method, target: userPath('x'), headers }).response.status, 405);
  assert.equal(
    answerRequest(session, { method: 'GET', target: userPath('x'), headers }).response.status,
    400,
  );
  assert.deepEqual([user(ids.member).status, user(ids.member).status], [500, 503]);
});

test('what befalls an answer on its way leaves the answer as it is, and is told to the transport', () => {
  const { session, deposit, user, entries } = testSession();
  const plain = user(ids.member);
  for (const [kind, told] of [
    ['reset', { transportFault: 'reset' }],
    ['timeout', { transportFault: 'timeout' }],
    ['truncate', { transportFault: 'truncate' }],
    ['slow:2s', { delayMs: 2000 }],
  ] as const) {
    queueChaos(session, session.main, kind);
    assert.deepEqual(user(ids.member), { ...plain, ...told });
  }
  queueChaos(session, session.main, 'reset', 3);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => deposit(ids.afterPolls).status),
    [404, 404, 404, 200],
  );
  const [, reset, , , slow, lost] = entries();
  assert.deepEqual([reset?.chaos, reset?.status], ['reset', 200]);
  assert.equal(reset?.reason, '200: member of the IB (chaos: reset)');
  assert.equal(slow?.chaos, 'slow:2000ms');
  assert.equal(lost?.reason, '404: deposit pending (chaos: reset)');
});

test('every answer is held back by the delay, on top of chaos', () => {
  const { session, user, get } = testSession({ delayMs: 30 });
  assert.deepEqual(
    [user(ids.member).delayMs, user(ids.member, 'nope').delayMs, get('/').delayMs],
    [30, 30, 30],
  );
  queueChaos(session, session.main, 'slow:1s');
  assert.equal(user(ids.member).delayMs, 1030);
});

describe('the draws', () => {
  const specs = ['500:0.3', '429:0.2', 'reset:0.2'];
  const plan = parseChaos(specs);
  const drawn = (name: string, seed: number, count = 40) =>
    Array.from({ length: count }, (_, index) => {
      const action = chaosFor(plan, seed, name, index + 1);
      return action && chaosName(action);
    });
  const seen = ({ entries }: ReturnType<typeof testSession>, world = '') =>
    entries(world).map(({ chaos }) => chaos);
  const ask = ({ user }: ReturnType<typeof testSession>, key?: string, count = 40) => {
    for (let nth = 0; nth < count; nth++) user(ids.member, key);
  };

  test('are those of the name of the key, the number of the request and the seed', () => {
    const mock = testSession({ chaos: plan, chaosSeed: 7 });
    ask(mock);
    assert.deepEqual(seen(mock), drawn(NAME, 7));
  });
  test('of two keys do not depend on their order', () => {
    const mock = testSession({ chaos: plan, chaosSeed: 7 });
    for (let nth = 0; nth < 40; nth++) {
      ask(mock, 'contoso-key', 1 + (nth % 3));
      ask(mock, 'northwind-key', 1);
    }
    const own = mock.entries().filter(({ key }) => key === NAME);
    assert.deepEqual(
      own.map(({ chaos }) => chaos),
      drawn(NAME, 7),
    );
  });
  test('are of its own in each world', () => {
    const mock = testSession({ chaos: plan, chaosSeed: 7 });
    ask(mock, 'northwind-key~a');
    ask(mock);
    assert.deepEqual(seen(mock, 'a'), drawn(`${NAME}~a`, 7));
    assert.deepEqual(seen(mock), drawn(NAME, 7));
  });
  test('begin anew with a reset, which also forgets what was queued and set', () => {
    const mock = testSession({ chaos: plan, chaosSeed: 7 });
    for (const name of ['', 'a']) {
      const { session } = mock;
      const key = name === '' ? 'northwind-key' : `northwind-key~${name}`;
      ask(mock, key, 3);
      queueChaos(session, sandboxNamed(session, name), 'timeout', 5);
      setChaos(session, sandboxNamed(session, name), ['502'], 8);
      if (name === '') resetAll(session);
      else resetWorld(session, name);
      assert.deepEqual(shownChaos(sandboxNamed(session, name)), { chaos: specsInOrder, seed: 7, next: [] });
      ask(mock, key);
      assert.deepEqual(seen(mock, name), drawn(name === '' ? NAME : `${NAME}~${name}`, 7));
    }
  });
  const specsInOrder = ['reset:0.2', '500:0.3', '429:0.2'];
  test('begin anew when they are set; what is queued comes first and leaves their numbers alone', () => {
    const mock = testSession();
    const { session } = mock;
    ask(mock, 'northwind-key', 5);
    queueChaos(session, session.main, 'truncate', 2);
    assert.deepEqual(setChaos(session, session.main, specs, 9), {
      chaos: specsInOrder,
      seed: 9,
      next: [{ kind: 'truncate', count: 2 }],
    });
    ask(mock, 'northwind-key', 10);
    assert.deepEqual(seen(mock).slice(5), ['truncate', 'truncate', ...drawn(NAME, 9, 8)]);
    setChaos(session, session.main, []);
    ask(mock, 'northwind-key', 3);
    assert.deepEqual(seen(mock).slice(15), [undefined, undefined, undefined]);
  });
  test('are shown as they were given', () => {
    const { session } = testSession();
    const given = ['reset', '503:0.5', 'slow:100ms..2000ms:0.25'];
    assert.deepEqual(setChaos(session, session.main, given).chaos, given);
    assert.deepEqual(setChaos(session, session.main, ['slow:2s']).chaos, ['slow:2000ms']);
  });
});

test('the journal says what was preferred, and when by a clock that nobody can set', () => {
  let elapsed = 5.4;
  const { session, user, entries } = testSession({ clock: 'frozen', elapsed: () => (elapsed += 1000) });
  user(ids.member);
  const headers = { authorization: 'Bearer northwind-key', prefer: 'code=404' };
  answerRequest(session, { method: 'GET', target: depositPath(ids.executed), headers });
  assert.deepEqual(
    entries().map(({ elapsedMs, preferred }) => [elapsedMs, preferred]),
    [
      [1005, undefined],
      [2005, 404],
    ],
  );
});
