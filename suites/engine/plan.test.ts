import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { FixtureLimits } from '../../schemas/generated/types.ts';
import { catalogue } from '../catalogue.ts';
import { property } from '../rule.ts';
import { depositCheck, userStatus } from '../request.ts';
import type { Requirement } from '../requirement.ts';
import { sampleKnown } from '../sample-known.ts';
import { scenario } from '../scenario.ts';
import { held } from '../verdict.ts';
import { keptBack, limiterMs, limiterRequests, plan, type PlanOptions } from './plan.ts';

const subject = { level: 'required', clause: '', title: '' } as const;
/** So many inputs, each a request that counts and that nobody else asks for. */
const lookups = (
  endpoint: 'user-status' | 'deposit-check',
  count: number,
  { fresh = false, name = 'x' } = {},
) =>
  property<number>({
    ...subject,
    id: `valid/${endpoint}/${name}`,
    fresh,
    every: () => Array.from({ length: count }, (_, nth) => nth),
    ask: (nth) => [(endpoint === 'user-status' ? userStatus : depositCheck)(`id-${nth}`)],
    holds: () => held,
  });
const story = (id: string): Requirement =>
  scenario({ ...subject, id, play: () => Promise.resolve({ finding: held }) });

const limitsOf = (most: number, windowSeconds: number): FixtureLimits => ({
  'user-status': { failedLookups: most, windowSeconds },
  'deposit-check': { requests: most, windowSeconds },
});
const planned = (requirements: readonly Requirement[], more: Partial<PlanOptions> = {}, keys = 1) =>
  plan({
    requirements,
    skip: new Set(),
    seed: 1,
    cases: 1000,
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
const limited = (most: number, seconds: number) => ({
  known: { ...sampleKnown, limits: limitsOf(most, seconds) },
});

describe('waits', () => {
  /** One of each window is kept back, and the first window is not waited for. */
  for (const [inputs, most, keys, windows] of [
    [9, 10, 1, 0],
    [10, 10, 1, 1],
    [18, 10, 1, 1],
    [19, 10, 1, 2],
    [18, 10, 2, 0],
    [19, 10, 2, 1],
    [5, 1, 1, 4],
    [5, 2, 1, 4],
  ] as const)
    test(`${inputs} inputs, ${most} in 2 s, ${keys} keys: ${windows} windows`, () => {
      const { durationMs, load, requests, cutTo } = planned(
        [lookups('user-status', inputs)],
        limited(most, 2),
        keys,
      );
      assert.deepEqual([durationMs, requests, cutTo], [windows * 2000, inputs, undefined]);
      assert.deepEqual(load[0], {
        endpoint: 'user-status',
        counted: inputs,
        keys,
        limit: { most, windowMs: 2000 },
      });
    });
  test('of the endpoints go by side by side', () => {
    const both = [lookups('user-status', 30), lookups('deposit-check', 50)];
    assert.equal(planned(both, limited(11, 1)).durationMs, 4000);
  });
  test('are none where no limit is stated', () => {
    assert.equal(planned([lookups('user-status', 500)]).durationMs, 0);
  });
  test('are those of --rate where that takes longer', () => {
    const list = [lookups('user-status', 30)];
    assert.equal(planned(list, { rate: 2 }).durationMs, 15_000);
    assert.equal(planned(list, { ...limited(11, 60), rate: 2 }).durationMs, 120_000);
  });
});

describe('what is sent', () => {
  test('equal requests once, fresh ones each time', () => {
    const twice = (fresh: boolean) => [
      lookups('user-status', 20),
      lookups('user-status', 20, { fresh, name: 'y' }),
    ];
    assert.equal(planned(twice(false)).requests, 20);
    assert.equal(planned(twice(true)).requests, 40);
  });
  test('nothing for what is skipped or lacks its fixture', () => {
    const lacking = property<number>({
      ...subject,
      id: 'valid/user-status/z',
      lacks: () => 'anything',
      every: () => [1],
      ask: () => [userStatus('z')],
      holds: () => held,
    });
    const skip = new Set(['valid/user-status/x']);
    assert.equal(planned([lookups('user-status', 20), lacking], { skip }).requests, 0);
  });
  test('about a dozen for a story, which counts at its endpoint', () => {
    const { requests, load } = planned([story('pending/deposit-check/y')]);
    assert.deepEqual([requests, load.map(({ counted }) => counted)], [12, [0, 12]]);
  });
});

describe('the limiters', () => {
  const both = [story('rate-limit/user-status/a'), story('rate-limit/deposit-check/a')];
  test('take windows and requests of those that are asked about', () => {
    const known = { ...sampleKnown, limits: limitsOf(10, 2) };
    for (const [list, ms, requests] of [
      [both, 16_000, 90],
      [both.slice(0, 1), 8000, 60],
      [both.slice(1), 8000, 30],
      [[lookups('user-status', 3)], 0, 0],
    ] as const) {
      assert.deepEqual([limiterMs(list, known, Infinity), limiterRequests(list, known)], [ms, requests]);
      const { durationMs, requests: all } = planned(list.slice(0), { known });
      if (requests > 0) assert.deepEqual([durationMs, all], [ms, requests]);
    }
  });
  test('take what was learned where nothing is stated, and longer at a low rate', () => {
    const known = { ...sampleKnown, limits: {} };
    assert.equal(limiterMs(both, known, Infinity), 0);
    assert.equal(limiterMs(both, known, Infinity, { 'user-status': { windowMs: 3000 } }), 12_000);
    assert.equal(limiterMs(both, { ...sampleKnown, limits: limitsOf(10, 2) }, Infinity, {}, 5), 18_000);
  });
  test('have half of a bound at most', () => {
    assert.deepEqual([keptBack(10, 100), keptBack(80, 100), keptBack(80, Infinity)], [10, 50, 80]);
    assert.equal(limiterMs(both, { ...sampleKnown, limits: limitsOf(10, 2) }, 20_000, {}, 1), 10_000);
  });
  test('are driven from rest only where their windows fit into that half', () => {
    const known = { ...sampleKnown, limits: limitsOf(10, 2) };
    assert.equal(limiterMs(both, known, 32_000), 16_000);
    assert.equal(limiterMs(both, known, 20_000), 8000 + 1000, 'one of them');
    assert.equal(limiterMs(both, known, 10_000), 500, 'none');
  });
});

describe('a cut', () => {
  const list = [lookups('user-status', 40), lookups('deposit-check', 10)];
  test('to fit --max-requests takes the same from everything', () => {
    const { cutTo, because, requests } = planned(list, { maxRequests: 20 });
    assert.deepEqual([cutTo, because, requests], [10, '--max-requests', 20]);
  });
  test('to fit --max-duration', () => {
    const { cutTo, because, durationMs } = planned(list, { ...limited(6, 1), maxDurationMs: 3000 });
    // Four windows of five.
    assert.deepEqual([cutTo, because, durationMs], [20, '--max-duration', 3000]);
  });
  test('says what is left out, in the order of the run, and what all of it would take', () => {
    const ten = Array.from({ length: 10 }, (_, nth) =>
      lookups('user-status', 3, { fresh: true, name: `n${nth}` }),
    );
    const limiter = story('rate-limit/user-status/l');
    const found = planned([...ten, limiter], { ...limited(3, 10), maxDurationMs: 30_000 });
    // Four windows of two.
    assert.deepEqual(found.leftOut, ['valid/user-status/n8', 'valid/user-status/n9']);
    assert.deepEqual(found.notCompared, ['user-status']);
    assert.deepEqual([found.shallower, found.wholeMs], [10, 140_000 + 40_000]);
    const whole = planned([...ten, limiter], limited(3, 10));
    assert.deepEqual([whole.leftOut, whole.notCompared, whole.wholeMs], [[], [], undefined]);
  });
  test('to fit --max-duration at a --rate', () => {
    const { cutTo, because } = planned(list, { rate: 10, maxDurationMs: 2000 });
    assert.deepEqual([cutTo, because], [10, '--max-duration']);
  });
  test('is none where all just fits, and never leaves less than one input', () => {
    assert.equal(planned(list, { maxRequests: 50 }).cutTo, undefined);
    assert.equal(planned(list, { maxRequests: 49 }).cutTo, 39);
    assert.equal(planned(list, { maxRequests: 1 }).cutTo, 1);
  });
  test('keeps the bounds wherever one input does, and no deeper cut would be needed', () => {
    const bounds = fc.record({
      most: fc.integer({ min: 1, max: 60 }),
      seconds: fc.integer({ min: 1, max: 60 }),
      maxDurationMs: fc.integer({ min: 1000, max: 600_000 }),
      maxRequests: fc.integer({ min: 50, max: 5000 }),
      rate: fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(bounds, ({ most, seconds, maxDurationMs, maxRequests, rate }) => {
        const depth = (inputs: number) => [
          lookups('user-status', inputs),
          lookups('deposit-check', Math.min(inputs, 30)),
          story('auth/user-status/s'),
          story('rate-limit/user-status/l'),
        ];
        const options = {
          ...limited(most, seconds),
          maxDurationMs,
          maxRequests,
          ...(rate === undefined ? {} : { rate }),
        };
        const keeps = ({ requests, durationMs }: ReturnType<typeof plan>) =>
          requests <= maxRequests && durationMs <= maxDurationMs;
        const found = planned(depth(80), options);
        assert.equal(found.cutTo === undefined, found.because === undefined);
        if (found.cutTo === undefined) return keeps(found);
        if (!keeps(planned(depth(1), options))) return found.cutTo === 1;
        return keeps(found) && planned(depth(found.cutTo + 1), options).cutTo !== undefined;
      }),
      { numRuns: 200 },
    );
  });
});

test('the plan of the catalogue is deeper the more there is to spend', () => {
  const depths = [0.5, 2, 10].map(
    (minutes) => planned(catalogue, { cases: 60, ...limited(60, 3), maxDurationMs: minutes * 60_000 }).cutTo,
  );
  assert.ok(depths[0]! < (depths[1] ?? Infinity));
  assert.equal(depths[2], undefined);
});
