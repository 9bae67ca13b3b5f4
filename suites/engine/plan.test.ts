import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { FixtureLimits } from '../../schemas/generated/types.ts';
import { sampleKnown } from '../testing/samples.ts';
import { required, scenario, type Requirement } from '../requirement.ts';
import { pass } from '../verdict.ts';
import { reserveOf, limiterMs, limiterRequests } from '../limiter/limit.ts';
import { plan, type PlanOptions } from './plan.ts';

const subject = { level: 'required', clause: '', title: '' } as const;
/** All its lookups count at the limiter. */
const unknown = (endpoint: Endpoint) => required({ ...subject, id: `foreign-ib/${endpoint}/unknown` });
const scenarioOf = (id: string): Requirement =>
  scenario({ ...subject, id, run: () => Promise.resolve({ finding: pass }) });
/** Each takes 12 lookups. */
const scenariosOf = (count: number, endpoint: Endpoint) =>
  Array.from({ length: count }, (_, nth) => scenarioOf(`pending/${endpoint}/${nth}`));

const limitsOf = (most: number, windowSeconds: number): FixtureLimits => ({
  'user-status': { failedLookups: most, windowSeconds },
  'deposit-check': { requests: most, windowSeconds },
});
const limited = (most: number, seconds: number) => ({
  known: { ...sampleKnown, limits: limitsOf(most, seconds) },
});
const planned = (requirements: readonly Requirement[], more: Partial<PlanOptions> = {}, keys = 1) =>
  plan({
    requirements,
    skip: new Set(),
    seed: 1,
    cases: 60,
    maxDurationMs: Number.POSITIVE_INFINITY,
    maxRequests: Number.POSITIVE_INFINITY,
    ...more,
    known: {
      ...sampleKnown,
      limits: {},
      ...more.known,
      callerKeys: sampleKnown.callerKeys.slice(0, keys),
    },
  });

describe('waits', () => {
  /** One request of each window is reserved, and the first window needs no wait. */
  for (const [count, most, keys, windows] of [
    [1, 13, 1, 0],
    [1, 12, 1, 1],
    [2, 13, 1, 1],
    [2, 12, 1, 2],
    [2, 13, 2, 0],
    [2, 12, 2, 1],
    [1, 1, 1, 11],
    [1, 2, 1, 11],
  ] as const)
    test(`${count * 12} lookups, ${most} in 2 s, ${keys} keys: ${windows} windows`, () => {
      const { durationMs, load, requests, cutTo } = planned(
        scenariosOf(count, 'deposit-check'),
        limited(most, 2),
        keys,
      );
      assert.deepEqual([durationMs, requests, cutTo], [windows * 2000, count * 12, undefined]);
      const limit = { most, windowMs: 2000 };
      assert.deepEqual(load[1], { endpoint: 'deposit-check', counted: count * 12, keys, limit });
    });
  test('of both endpoints overlap; there are none without a stated limit; --rate may be longer', () => {
    const both = [...scenariosOf(2, 'user-status'), ...scenariosOf(4, 'deposit-check')];
    assert.equal(planned(both, limited(13, 1)).durationMs, 3000);
    assert.equal(planned(both).durationMs, 0);
    assert.equal(planned(both, { rate: 2 }).durationMs, 36_000);
    assert.equal(planned(both, { ...limited(13, 60), rate: 2 }).durationMs, 180_000);
  });
});

describe('lookups', () => {
  test('are as many as --cases says; repeated ones count three times', () => {
    const { requests, load } = planned([unknown('user-status')]);
    assert.ok(requests > 60 && requests < 180, String(requests));
    assert.ok(load[0]!.counted > 60 && load[0]!.counted <= requests);
  });
  test('are none for skipped requirements and for scenarios alone', () => {
    const skip = new Set(['foreign-ib/user-status/unknown']);
    assert.equal(planned([unknown('user-status')], { skip }).requests, 0);
    assert.equal(planned(scenariosOf(1, 'user-status')).requests, 12);
  });
});

describe('the limiters', () => {
  const both = [scenarioOf('rate-limit/user-status/a'), scenarioOf('rate-limit/deposit-check/a')];
  test('take windows and requests of the selected endpoints', () => {
    const known = { ...sampleKnown, limits: limitsOf(10, 2) };
    for (const [list, ms, requests] of [
      [both, 16_000, 90],
      [both.slice(0, 1), 8000, 60],
      [both.slice(1), 8000, 30],
      [scenariosOf(1, 'user-status'), 0, 0],
    ] as const) {
      assert.deepEqual([limiterMs(list, known, Infinity), limiterRequests(list, known)], [ms, requests]);
      const { durationMs, requests: all } = planned(list.slice(0), { known });
      if (requests > 0) assert.deepEqual([durationMs, all], [ms, requests]);
    }
  });
  test('use learned limits if none is stated, and take longer at a low rate', () => {
    const known = { ...sampleKnown, limits: {} };
    assert.equal(limiterMs(both, known, Infinity), 0);
    assert.equal(limiterMs(both, known, Infinity, { 'user-status': { windowMs: 3000 } }), 12_000);
    assert.equal(limiterMs(both, { ...sampleKnown, limits: limitsOf(10, 2) }, Infinity, {}, 5), 18_000);
  });
  test('get at most half of a bound, or four fifths if stated limits are compared, as far as they fit', () => {
    assert.deepEqual([reserveOf(10, 100), reserveOf(80, 100), reserveOf(80, Infinity)], [10, 50, 80]);
    const known = { ...sampleKnown, limits: limitsOf(10, 2) };
    assert.equal(limiterMs(both, known, 40_000, {}, 1), 20_000);
    assert.equal(limiterMs(both, known, 20_000), 16_000);
    assert.equal(limiterMs(both, known, 19_000), 8000 + 950, 'one of them');
    assert.equal(limiterMs(both, known, 9000), 450, 'none');
    const unstated = { ...known, limits: {} };
    assert.equal(limiterMs(both, unstated, 15_000, { 'user-status': { windowMs: 2000 } }), 750);
  });
});

describe('a cut', () => {
  const list = [unknown('user-status'), unknown('deposit-check')];
  test('is absent if all fits, names its reason and leaves at least one lookup', () => {
    const { requests } = planned(list);
    assert.equal(planned(list, { maxRequests: requests }).cutTo, undefined);
    const cut = planned(list, { maxRequests: requests - 1 });
    assert.deepEqual([cut.cutTo, cut.because], [59, '--max-requests']);
    assert.equal(planned(list, { maxRequests: 1 }).cutTo, 1);
    assert.equal(planned(list, { ...limited(6, 1), maxDurationMs: 3000 }).because, '--max-duration');
    assert.equal(planned(list, { rate: 10, maxDurationMs: 2000 }).because, '--max-duration');
    const { durationMs } = planned(list, { rate: 10 });
    assert.equal(planned(list, { rate: 10, maxDurationMs: durationMs }).cutTo, undefined);
  });
  test('is estimated for more lookups than are drawn', () => {
    const many = { cases: 1_000_000, rate: 1000, maxDurationMs: 500_000 };
    const { requests, wholeMs = 0, cutTo = 0 } = planned([unknown('deposit-check')], many);
    // Lookups end at 1.75 requests a case. A random one takes two on average.
    for (const [actual, expected] of [
      [requests, 500_000],
      [wholeMs, 1_750_000],
      [cutTo, 250_000],
    ] as const)
      assert.ok(Math.abs(actual / expected - 1) < 0.05, `${actual} ${expected}`);
  });
  test('says what is left out and what a full run would take', () => {
    const some = [
      ...list,
      required({ ...subject, id: 'auth/user-status/missing' }),
      // Any lookup that is sent again covers it.
      required({ ...subject, id: 'valid/user-status/repeatable' }),
      scenarioOf('rate-limit/user-status/l'),
    ];
    const found = planned(some, { ...limited(3, 10), maxDurationMs: 12_000 });
    assert.deepEqual(planned(some, { maxRequests: 1 }).leftOut, ['foreign-ib/user-status/unknown']);
    assert.deepEqual(found.notCompared, ['user-status']);
    const whole = planned(some, limited(3, 10));
    assert.equal(found.wholeMs, whole.durationMs);
    assert.deepEqual([whole.leftOut, whole.notCompared, whole.wholeMs], [[], [], undefined]);
  });
});
