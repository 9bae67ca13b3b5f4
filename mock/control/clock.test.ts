import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ids, START, testSession } from '../testing/session.ts';
import { resetAll, timeIn } from './session.ts';

const EXPIRING = 'fabrikam-expiring-key';

/** Uses the limit of northwind-key on user-status up. */
function limit({ user }: ReturnType<typeof testSession>): void {
  for (let count = 0; count < 60; count++) user(ids.nobody);
}

/** Returns the statuses of a member, a deposit that time executes, and a key that expires. */
const statuses = ({ user, deposit }: ReturnType<typeof testSession>) =>
  [user(ids.member), deposit(ids.afterSeconds), user(ids.member, EXPIRING)].map(({ status }) => status);

test('a minute ends the limit, executes the deposit and expires the key; reset undoes all', () => {
  const mock = testSession();
  const { session, setClock, user, deposit } = mock;
  limit(mock);
  const refused = user(ids.member);
  assert.deepEqual([refused.status, refused.headers['Retry-After']], [429, '3']);
  assert.deepEqual(statuses(mock), [429, 404, 200]);
  const [now, iso] = [START + 60_000, new Date(START + 60_000).toISOString()];
  assert.deepEqual(setClock({ advance: '60s' }), { now, iso, rate: 1 });
  assert.deepEqual(statuses(mock), [200, 200, 401]);
  assert.equal(user(ids.member).headers['Date'], new Date(now).toUTCString());
  assert.match(deposit(ids.afterSeconds).body, new RegExp(`"executedAt":${START + 5000}`));
  resetAll(session);
  assert.deepEqual(statuses(mock), [200, 404, 200]);
});

describe('a clock that is set', () => {
  test('forward executes what falls due', () => {
    const { setClock, deposit } = testSession();
    setClock({ now: new Date(START + 5000).toISOString() });
    assert.equal(deposit(ids.afterSeconds).status, 200);
  });
  test('back keeps remaining times, and EXECUTED deposits stay EXECUTED', () => {
    const mock = testSession({ clock: 'frozen' });
    const { setClock, user, deposit } = mock;
    limit(mock);
    for (let polls = 0; polls < 4; polls++) deposit(ids.afterPolls);
    setClock({ advance: 2000 });
    setClock({ now: 5_000_000 });
    assert.equal(user(ids.member).headers['Retry-After'], '1');
    setClock({ advance: 3000 });
    assert.equal(deposit(ids.afterSeconds).status, 200);
    setClock({ now: 0 });
    for (const id of [ids.afterSeconds, ids.afterPolls]) assert.equal(deposit(id).status, 200);
  });
  test('back does not change the time at which a deposit was executed', () => {
    const { setClock, deposit } = testSession({ clock: 'frozen' });
    for (let polls = 0; polls < 4; polls++) deposit(ids.afterPolls);
    setClock({ advance: '1h' });
    const bodies = () => [ids.afterPolls, ids.afterSeconds].map((id) => deposit(id).body);
    const before = bodies();
    assert.match(String(before[1]), new RegExp(`"executedAt":${START + 5000}`));
    setClock({ now: START - 86_400_000 });
    assert.deepEqual(bodies(), before);
  });
  test('compares expiresAt with the new time', () => {
    const key = { key: 'k', partner: 'p', state: 'active', expiresAt: START + 1000 } as const;
    const { setClock, user } = testSession({ fixture: { apiKeys: [key] } });
    setClock({ now: START + 1000 });
    assert.equal(user(ids.member, 'k').status, 401);
    setClock({ now: START + 999 });
    assert.equal(user(ids.member, 'k').status, 200);
  });
  test('is also moved forward, and then runs at the given speed', () => {
    const { setClock, clock, passTime } = testSession();
    setClock({ now: START + 1000, advance: '1s', rate: 2 });
    passTime(10);
    assert.deepEqual([clock().now, clock().rate], [START + 2020, 2]);
  });
});

test('a clock at maximum speed stops at the end of the year 9999', () => {
  const { setClock, passTime, user } = testSession();
  setClock({ rate: 1e308 });
  passTime(10);
  assert.equal(user(ids.member).headers['Date'], 'Fri, 31 Dec 9999 23:59:59 GMT');
  assert.throws(() => setClock({ advance: 1 }), { message: /^advance is out of range/ });
});

for (const field of ['advance', 'now', 'rate'])
  for (const value of [Number.NaN, -1e15, Infinity])
    test(`${field}: ${value} is refused and does not change the clock`, () => {
      const { session, setClock } = testSession();
      const before = session.main.clock;
      assert.throws(() => setClock({ [field]: value }), { name: 'Refusal', status: 400 });
      assert.equal(session.main.clock, before);
    });

test('a scaled clock runs faster, a frozen one stops', () => {
  const { setClock, passTime, deposit } = testSession();
  setClock({ rate: 10 });
  passTime(499);
  assert.equal(deposit(ids.afterSeconds).status, 404);
  passTime(1);
  assert.equal(deposit(ids.afterSeconds).status, 200);
  assert.equal(setClock({ rate: 0 }).now, START + 5000);
  passTime(1_000_000);
  assert.equal(deposit(ids.executed).headers['Date'], new Date(START + 5000).toUTCString());
});

test('a scaled clock continues without a jump, in whole ms', () => {
  const { session, setClock, passTime } = testSession();
  const elapsed = () => timeIn(session, session.main) - START;
  passTime(50);
  setClock({ rate: 2.5 });
  assert.equal(elapsed(), 50);
  passTime(1);
  assert.equal(elapsed(), 52);
  passTime(1);
  assert.equal(elapsed(), 55);
  setClock({ rate: 1 });
  passTime(10);
  assert.equal(elapsed(), 65);
});
