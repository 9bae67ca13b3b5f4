import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answersTo, deposit, type Probe, user } from './testing/session.ts';

const MEMBER = '11111111-1111-4111-8111-111111111111';
const NOBODY = '12345678-1234-4234-8234-123456789abc';
const EXECUTED = '44444444-4444-4444-8444-444444444444';
const PENDING = '77777777-7777-4777-8777-777777777777';

const times = (count: number, one: Probe) => Array.from({ length: count }, () => one);
const statuses = (probes: readonly Probe[]) => answersTo(probes).map(({ status }) => status);
const last = (probes: readonly Probe[]) => answersTo(probes).at(-1);

describe('the limiter of user-status (60 failed lookups in 3 s)', () => {
  test('60 failed lookups pass and the 61st is refused', () => {
    const mixed = [...times(20, user(NOBODY)), ...times(20, user('x')), ...times(20, user(''))];
    assert.ok(!statuses(mixed).includes(429));
    const refused = last([...mixed, user(NOBODY)]);
    assert.equal(refused?.status, 429);
    assert.equal(refused.body, '{"error":"Too many failed lookups. Please try again later."}');
  });
  test('members do not count', () => {
    assert.ok(!statuses([...times(500, user(MEMBER)), ...times(60, user(NOBODY))]).includes(429));
  });
  test('refused keys do not count, and a limited key that is wrong gets 401', () => {
    const wrong = user(NOBODY, { key: 'nope' });
    assert.ok(!statuses([...times(100, wrong), ...times(60, user(NOBODY))]).includes(429));
    assert.equal(last([...times(60, user(NOBODY)), wrong])?.status, 401);
  });
  test('the window ends 3 s after its first failed lookup, to the millisecond', () => {
    const limited = [user(NOBODY, { atMs: 500 }), ...times(59, user(NOBODY, { atMs: 3000 }))];
    assert.equal(last([...limited, user(MEMBER, { atMs: 3499 })])?.status, 429);
    assert.equal(last([...limited, user(MEMBER, { atMs: 3500 })])?.status, 200);
    const retryAfter = (atMs: number) => last([...limited, user(NOBODY, { atMs })])?.headers['Retry-After'];
    assert.deepEqual([3000, 3499].map(retryAfter), ['1', '1']);
  });
  test('a new window counts from zero', () => {
    const limited = times(61, user(NOBODY));
    const again = times(60, user(NOBODY, { atMs: 3000 }));
    assert.ok(
      !statuses([...limited, ...again])
        .slice(61)
        .includes(429),
    );
    assert.equal(last([...limited, ...again, user(NOBODY, { atMs: 5999 })])?.status, 429);
    assert.equal(last([...limited, ...again, user(NOBODY, { atMs: 6000 })])?.status, 200);
  });
});

describe('the limiter of deposit-check (250 requests in 3 s)', () => {
  test('250 requests of any outcome pass and the 251st is refused', () => {
    const mixed = [
      ...times(100, deposit(EXECUTED)),
      ...times(100, deposit(NOBODY)),
      ...times(50, deposit('x')),
    ];
    assert.ok(!statuses(mixed).includes(429));
    const refused = last([...mixed, deposit(EXECUTED)]);
    assert.equal(refused?.status, 429);
    assert.equal(refused.body, '{"error":"TOO_MANY_REQUESTS"}');
  });
  test('a refused request is no poll', () => {
    const limited = [...times(3, deposit(PENDING)), ...times(247, deposit(EXECUTED))];
    const found = last([...limited, deposit(PENDING), deposit(PENDING, { atMs: 3000 })]);
    assert.equal(found?.status, 200);
    assert.match(String(found.body), /"executedAt":1736942403000/);
  });
});
