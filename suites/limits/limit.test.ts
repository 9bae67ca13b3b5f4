import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { depositCheck, lookup, userStatus, type Changes } from '../request.ts';
import { answerOf, sampleKnown as known } from '../testing/samples.ts';
import { askedBy, isCounted, retryAfterMs } from './limit.ts';

describe('the cost of a request at the limiter', () => {
  const member = known.members[0]!.user_id;
  const foreigner = known.foreigners[0]!.user_id;
  const [key] = known.callerKeys;
  const [other] = known.otherKeys;
  const [revoked] = known.revokedKeys;
  const [personal] = known.nonPartnerKeys;
  const by = (known_: typeof key): Changes => ({ credential: { as: 'key', key: known_! } });
  const as = (value: string): Changes => ({ credential: { as: 'header', value, shell: value } });
  const free = known.executed[0]!.reference_id;

  const prices: Readonly<Record<string, readonly [ReturnType<typeof lookup>, 0 | 1]>> = {
    'a member, by whichever key of the caller': [userStatus(member), 0],
    'a member, by a certain key': [userStatus(member, by(key)), 0],
    'a member in capitals': [userStatus(member.toUpperCase()), 0],
    'a member, by a key of another partner': [userStatus(member, by(other)), 1],
    'a member, by a revoked key of the partner': [userStatus(member, by(revoked)), 0],
    'a member, by a personal key': [userStatus(member, by(personal)), 0],
    'a foreign user, by a key that is refused': [userStatus(foreigner, by(revoked)), 0],
    'a user of another IB': [userStatus(foreigner), 1],
    "a user of the key's own IB, foreign to the caller": [userStatus(foreigner, by(other)), 0],
    'an unknown id': [userStatus('0badc0de-0000-4000-8000-000000000000'), 1],
    'no id': [lookup('user-status', undefined), 1],
    'an invalid id': [userStatus(`${member}0`), 1],
    'a member, by a parameter in capitals': [lookup('user-status', `USER_ID=${member}`), 1],
    'a member, by a second parameter': [lookup('user-status', `x=1&user_id=${member}`), 1],
    'a member, percent-encoded': [lookup('user-status', `user_id=%31${member.slice(1)}`), 1],
    'a deposit that is found': [depositCheck(free), 1],
    'a deposit that is not': [depositCheck(member), 1],
    'an accepted key in a form that a server may refuse': [
      userStatus(foreigner, as(`Bearer  ${key!.key}`)),
      1,
    ],
    'a deposit, by the same': [depositCheck(free, as(`bearer ${key!.key}`)), 1],
    'without a key': [userStatus(foreigner, { credential: { as: 'none' } }), 0],
    'with something else in its place': [depositCheck(free, as('Basic x')), 0],
  };

  for (const [name, [request, cost]] of Object.entries(prices))
    test(`${name}: ${cost}`, () => assert.equal(askedBy(known, request).cost, cost));
});

test('an accepted key has one account, in whichever form it is sent', () => {
  const [key] = known.callerKeys;
  for (const value of [`Bearer ${key!.key}`, `Bearer  ${key!.key}`, `bearer ${key!.key}`]) {
    const request = userStatus('x', { credential: { as: 'header', value, shell: value } });
    assert.equal(askedBy(known, request).key, key!.key);
  }
  assert.equal(askedBy(known, userStatus('x', { credential: { as: 'none' } })).key, '');
});

describe('whether a request counted, by the fixture or by its answer', () => {
  const member = { is_under_ib: true, date_joined: '2024-01-01T00:00:00.000Z' };
  const rows = [
    ['user-status', 1, 200, { is_under_ib: false }, true],
    // The fixture says that it does.
    ['user-status', 1, 200, member, true],
    ['user-status', 0, 200, { is_under_ib: false }, true],
    ['user-status', 0, 200, member, false],
    ['user-status', 1, 400, { error: 'x' }, true],
    ['user-status', 1, 401, { error: 'Unauthorized' }, false],
    ['user-status', 1, 429, {}, false],
    ['deposit-check', 1, 200, {}, true],
    ['deposit-check', 1, 404, {}, true],
    ['deposit-check', 1, 401, {}, false],
    ['deposit-check', 1, 429, {}, false],
    ['deposit-check', 0, 404, {}, true],
  ] as const;
  for (const [endpoint, cost, status, body, counted] of rows)
    test(`${endpoint}, cost ${cost}: ${status} ${JSON.stringify(body)}: ${counted ? 'yes' : 'no'}`, () => {
      const answer = answerOf(status, body, { 'content-type': 'application/json' });
      assert.equal(isCounted({ endpoint, key: 'k', cost }, answer), counted);
    });
});

const NOW = Date.UTC(2026, 0, 1);

const waitOf = (value: string, date?: string) =>
  retryAfterMs({
    ...answerOf(429, {}),
    headers: { 'retry-after': [value], ...(date !== undefined && { date: [date] }) },
    receivedAt: NOW,
  });

test('Retry-After is read as seconds, fractions or a date by the clock of the target', () => {
  assert.equal(waitOf('3'), 3000);
  assert.equal(waitOf(' 0.25 '), 250);
  assert.equal(waitOf('Thu, 01 Jan 2026 00:00:05 GMT'), 5000);
  assert.equal(waitOf('Thu, 01 Jan 2026 00:00:05 GMT', 'Thu, 01 Jan 2026 00:00:03 GMT'), 2000);
  assert.equal(waitOf('Thu, 01 Jan 2025 00:00:05 GMT'), 0);
});

test('what is neither is ignored', () => {
  for (const value of ['-1', '', 'soon', '3 s', '1e9', 'Infinity', '2026-01-01', '99999999999'])
    assert.equal(waitOf(value), undefined, value);
});
