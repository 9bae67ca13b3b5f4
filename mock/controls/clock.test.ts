import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Moved } from './clock.ts';
import { ids, START, testSession } from '../testing/session.ts';
import { resetAll, timeIn } from '../session.ts';

const EXPIRING = 'fabrikam-expiring-key';
const none = { deposits: [], keys: [], limiters: [] };
const shortly = ({ now, due }: Moved) => ({ now, due });

/** Uses the limit of northwind-key on user-status up. */
function limit({ user }: ReturnType<typeof testSession>): void {
  for (let count = 0; count < 60; count++) user(ids.nobody);
}

/** Returns the statuses of a member, a deposit that time executes, and a key that expires. */
const statuses = ({ user, deposit }: ReturnType<typeof testSession>) =>
  [user(ids.member), deposit(ids.afterSeconds), user(ids.member, EXPIRING)].map(({ status }) => status);

test('a minute ends the limit, executes the deposit and expires the key; reset undoes all', () => {
  const mock = testSession();
  const { session, clock, user, deposit } = mock;
  limit(mock);
  const refused = user(ids.member);
  assert.deepEqual([refused.status, refused.headers['Retry-After']], [429, '3']);
  assert.deepEqual(statuses(mock), [429, 404, 200]);
  assert.deepEqual(shortly(clock.advance(60_000)), {
    now: START + 60_000,
    due: {
      deposits: [ids.afterSeconds],
      keys: ['<key fabrikam/active/2>'],
      limiters: [{ endpoint: 'user-status', key: '<key northwind/active>' }],
    },
  });
  assert.deepEqual(statuses(mock), [200, 200, 401]);
  assert.equal(user(ids.member).headers['Date'], new Date(START + 60_000).toUTCString());
  assert.match(String(deposit(ids.afterSeconds).body), new RegExp(`"executedAt":${START + 5000}`));
  resetAll(session);
  assert.deepEqual(statuses(mock), [200, 404, 200]);
});

test('only limits that ended are reported', () => {
  const mock = testSession();
  limit(mock);
  mock.deposit(ids.executed);
  assert.deepEqual(mock.clock.advance(2999).due, none);
  assert.equal(mock.clock.advance(1).due.limiters.length, 1);
});

test('changes fall due to the millisecond and are reported once', () => {
  const { clock, deposit } = testSession({ clock: 'frozen' });
  assert.deepEqual(clock.advance(4999).due, none);
  assert.equal(deposit(ids.afterSeconds).status, 404);
  assert.deepEqual(clock.advance(1).due.deposits, [ids.afterSeconds]);
  assert.equal(deposit(ids.afterSeconds).status, 200);
  assert.deepEqual(clock.advance(1).due, none);
});

describe('a clock that is set', () => {
  test('forward reports what fell due', () => {
    const { clock } = testSession();
    assert.deepEqual(clock.set(new Date(START + 5000)).due.deposits, [ids.afterSeconds]);
  });
  test('back keeps remaining times, and EXECUTED deposits stay EXECUTED', () => {
    const mock = testSession({ clock: 'frozen' });
    const { clock, user, deposit } = mock;
    limit(mock);
    for (let polls = 0; polls < 4; polls++) deposit(ids.afterPolls);
    clock.advance(2000);
    clock.set(5_000_000);
    assert.equal(user(ids.member).headers['Retry-After'], '1');
    clock.advance(3000);
    assert.equal(deposit(ids.afterSeconds).status, 200);
    clock.set(0);
    for (const id of [ids.afterSeconds, ids.afterPolls]) assert.equal(deposit(id).status, 200);
  });
  test('compares expiresAt with the new time', () => {
    const key = { key: 'k', partner: 'p', state: 'active', expiresAt: START + 1000 } as const;
    const { clock, user } = testSession({ fixture: { apiKeys: [key] } });
    assert.deepEqual(clock.set(START + 1000).due.keys, ['<key p/active>']);
    assert.equal(user(ids.member, 'k').status, 401);
    clock.set(START + 999);
    assert.equal(user(ids.member, 'k').status, 200);
  });
});

test('a clock at maximum speed stops at the end of the year 9999', () => {
  const { clock, passTime, user } = testSession();
  clock.scale(1e308);
  passTime(10);
  assert.equal(user(ids.member).headers['Date'], 'Fri, 31 Dec 9999 23:59:59 GMT');
  assert.throws(() => clock.advance(1), { message: /^ms is out of range/ });
});

for (const [what, change] of [
  ['an advance by', 'advance'],
  ['a time of', 'set'],
  ['a rate of', 'scale'],
] as const)
  for (const value of [Number.NaN, -1, Infinity])
    test(`${what} ${value} is refused and does not change the clock`, () => {
      const { session, clock } = testSession();
      const before = session.main.clock;
      assert.throws(() => clock[change](value), { name: 'Refusal', status: 400 });
      assert.equal(session.main.clock, before);
    });

test('a scaled clock runs faster, a frozen one stops', () => {
  const { clock, passTime, deposit } = testSession();
  clock.scale(10);
  passTime(499);
  assert.equal(deposit(ids.afterSeconds).status, 404);
  passTime(1);
  assert.equal(deposit(ids.afterSeconds).status, 200);
  assert.deepEqual(shortly(clock.scale(0)), { now: START + 5000, due: none });
  passTime(1_000_000);
  assert.equal(deposit(ids.executed).headers['Date'], new Date(START + 5000).toUTCString());
});

test('a scaled clock continues without a jump, in whole ms', () => {
  const { session, clock, passTime } = testSession();
  const elapsed = () => timeIn(session, session.main) - START;
  passTime(50);
  clock.scale(2.5);
  assert.equal(elapsed(), 50);
  passTime(1);
  assert.equal(elapsed(), 52);
  passTime(1);
  assert.equal(elapsed(), 55);
  clock.scale(1);
  passTime(10);
  assert.equal(elapsed(), 65);
});
