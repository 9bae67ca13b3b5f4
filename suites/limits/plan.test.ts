import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { FixtureLimits } from '../../schemas/generated/types.ts';
import { catalogue } from '../catalogue.ts';
import { scenario, type Requirement } from '../requirement.ts';
import { sampleKnown } from '../testing/samples.ts';
import { pass } from '../verdict.ts';
import { newLimits, reduce, type LimitEvent } from './account.ts';
import { plan, type PlanOptions } from './plan.ts';

const subject = { level: 'required', clause: '', title: '' } as const;
const rowOf = (id: string) => catalogue.find((row) => row.id === id)!;
/** All its lookups count at the limiter. */
const unknown = (endpoint: Endpoint) => rowOf(`foreign-ib/${endpoint}/unknown`);
const scenarioOf = (id: string, endpoint: Endpoint, turn?: 'last'): Requirement =>
  scenario({
    ...subject,
    id,
    endpoint,
    ...(turn && { turn }),
    sends: 12,
    run: () => Promise.resolve({ finding: pass }),
  });
/** Each takes 12 requests. */
const scenariosOf = (count: number, endpoint: Endpoint) =>
  Array.from({ length: count }, (_, nth) => scenarioOf(`pending/${endpoint}/${nth}`, endpoint));

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
    graceMs: 0,
    maxDurationMs: Number.POSITIVE_INFINITY,
    maxRequests: Number.POSITIVE_INFINITY,
    ...more,
    known: {
      ...sampleKnown,
      limits: {},
      ...more.known,
      callerKeys: Array.from({ length: keys }, () => sampleKnown.callerKeys[0]!),
    },
  });

describe('waits', () => {
  /** One request of each window is left, and the first window needs no wait. */
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
    test(`${count * 12} requests, ${most} in 2 s, ${keys} keys: ${windows} windows`, () => {
      const some = scenariosOf(count, 'deposit-check');
      const { durationMs, load, requests } = planned(some, limited(most, 2), keys);
      assert.deepEqual([Math.floor(durationMs / 2000), requests], [windows, count * 12]);
      const limit = { most, windowMs: 2000 };
      assert.deepEqual(load[1], { endpoint: 'deposit-check', counted: count * 12, limitedMs: 2000, limit });
    });

  test('of both endpoints overlap; there are none without a known limit; --rate may be longer', () => {
    const both = [...scenariosOf(2, 'user-status'), ...scenariosOf(4, 'deposit-check')];
    const seconds = (more: Partial<PlanOptions>) => Math.round(planned(both, more).durationMs / 1000);
    assert.equal(seconds(limited(13, 1)), 3);
    assert.equal(seconds({}), 0);
    assert.equal(seconds({ rate: 2 }), 36);
    assert.equal(seconds({ ...limited(13, 60), rate: 2 }), 192);
  });

  test('use limits that a run has learned', () => {
    const limits = { 'deposit-check': { most: 13, windowMs: 5000 } };
    const { durationMs, load } = planned(scenariosOf(2, 'deposit-check'), { limits });
    assert.equal(Math.round(durationMs / 1000), 5);
    assert.deepEqual(load[1]!.limit, limits['deposit-check']);
  });
});

describe('the rest of a run', () => {
  const rows = scenariosOf(2, 'deposit-check');
  const key = sampleKnown.callerKeys[0]!.key;
  const asked = { endpoint: 'deposit-check', key, cost: 1 } as const;
  const answered = { kind: 'answered', isAdmitted: false, counted: true, policies: [] } as const;
  const stated = { 'deposit-check': { most: 13, windowMs: 2000 } };
  /** A plan after 1 s, with the first row done. */
  const rest = (...events: readonly LimitEvent[]) =>
    planned(rows, {
      ...limited(13, 2),
      soFar: {
        startedAt: 5000,
        now: 6000,
        requests: 40,
        sent: new Set(),
        isDone: (row) => row === rows[0],
        limits: events.reduce(reduce, newLimits(stated, { deadline: Infinity, runMs: Infinity })),
        known: sampleKnown,
      },
    });
  const passed = { ...asked, ...answered, sentAt: 6000, at: 6000 };

  test('takes what was sent and what is left of it', () => {
    const { requests, sent, durationMs, load } = rest();
    assert.deepEqual([requests, sent, load[1]!.counted, durationMs], [52, 40, 12, 1000]);
  });

  test('waits for what was counted before', () =>
    assert.equal(Math.floor(rest(passed).durationMs / 100), 30));

  test('waits while the key is refused', () => {
    const wanted = { field: 'Retry-After', ms: 30_000 };
    const refused = { ...passed, kind: 'refused', counted: false, isAdmitted: true, wanted } as const;
    assert.equal(Math.floor(rest({ ...asked, kind: 'sent' }, refused).durationMs / 1000), 31);
  });
});

test('a plan ends, whatever the length of a window', () => {
  for (let nth = 1; nth <= 20; nth++) {
    const limits = { 'deposit-check': { most: 5, windowMs: 1000 + nth / 7 } };
    assert.ok(planned(scenariosOf(20, 'deposit-check'), { limits }).durationMs > 50_000);
  }
});

describe('lookups', () => {
  test('grow with --cases; repeated ones count three times', () => {
    const { requests, load } = planned([unknown('user-status')]);
    assert.ok(requests > 50 && requests < 180, String(requests));
    assert.ok(load[0]!.counted > 50 && load[0]!.counted <= requests);
  });

  test('reach a strength only if --cases allows all that it needs', () => {
    for (const [cases, strength] of [
      [5, 1],
      [1000, 2],
    ] as const) {
      const more = { cases, comparesBounds: true, maxDurationMs: 1000, ...limited(9, 1) };
      const { others, needs } = planned([unknown('user-status')], more);
      assert.equal(others.at(-1)!.strength, strength);
      const reached = needs.map(({ reaches }) => reaches);
      assert.equal(reached.includes('strength 2'), strength === 2);
    }
  });

  test('are none for skipped requirements and for scenarios alone', () => {
    const skip = new Set(['foreign-ib/user-status/unknown']);
    assert.equal(planned([unknown('user-status')], { skip }).requests, 0);
    assert.equal(planned(scenariosOf(1, 'user-status')).requests, 12);
  });

  test('are estimated for more lookups than are walked through', () => {
    const many = { cases: 1_000_000, rate: 1000, maxDurationMs: 500_000 };
    const { requests, because, durationMs } = planned([unknown('deposit-check')], many);
    assert.ok(Math.abs(requests / 500_000 - 1) < 0.05, String(requests));
    assert.deepEqual([because, Math.round(durationMs)], ['--max-duration', 500_000]);
  });
});

describe('limiters', () => {
  const both = (['user-status', 'deposit-check'] as const).map((one) => scenarioOf(one, one, 'last'));
  test('take windows of the selected endpoints, and are compared only if there is time', () => {
    for (const [list, windows] of [
      [both, 8],
      [both.slice(1), 4],
    ] as const) {
      const { durationMs, notCompared } = planned(list, limited(10, 2));
      assert.deepEqual([durationMs, notCompared], [windows * 2000, []]);
    }
    const short = { ...limited(10, 2), maxDurationMs: 9000 };
    assert.deepEqual(planned(both, short).notCompared, ['deposit-check']);
    assert.deepEqual(planned(both, { ...short, maxDurationMs: 3000 }).notCompared, [
      'user-status',
      'deposit-check',
    ]);
  });
});

describe('changes of data', () => {
  const changing = catalogue.filter((row) => row.kind === 'scenario' && row.needsChange !== undefined);
  const stateHook = { change: () => Promise.resolve() };
  const [pending] = sampleKnown.pending;
  const { becoming } = sampleKnown;
  const seconds = (known: Partial<PlanOptions['known']>, more: Partial<PlanOptions>, otherKeys = 1) => {
    const keys = sampleKnown.otherKeys.slice(0, otherKeys);
    const all = { ...sampleKnown, limits: {}, ...known, otherKeys: keys };
    return planned(changing, { known: all, graceMs: 5000, ...more }).durationMs / 1000;
  };
  test('take the grace each, those at once together', () => {
    const none = { pending: [], becoming: [] };
    const one = { pending: [pending!], becoming };
    assert.equal(seconds(none, {}), 0);
    assert.equal(seconds(none, { stateHook }), 5);
    assert.equal(seconds(one, {}), 5);
    assert.equal(seconds(one, { stateHook }), 5);
    assert.equal(seconds({ ...one, pending: [] }, { stateHook }), 10);
    assert.equal(seconds({ ...one, spare: pending }, { stateHook }), 10);
    assert.equal(seconds(one, { stateHook }, 0), 10);
  });

  test('do not grow with --cases, and are cut by --max-duration', () => {
    const { durationMs } = planned([...changing, unknown('deposit-check')], {
      cases: 1_000_000,
      graceMs: 5000,
      stateHook,
    });
    assert.ok(durationMs >= 5000 && durationMs <= 10_000, String(durationMs));
    const cut = planned(changing, { graceMs: 5000, stateHook, maxDurationMs: 2000 });
    assert.deepEqual([cut.because, cut.durationMs], ['--max-duration', 2000]);
    assert.ok(cut.needs.length > 0);
  });
});

describe('a cut', () => {
  const list = [unknown('user-status'), unknown('deposit-check')];
  test('is absent if all fits, and names its reason', () => {
    const { requests, because } = planned(list);
    assert.equal(because, undefined);
    assert.equal(planned(list, { maxRequests: requests }).because, undefined);
    assert.equal(planned(list, { maxRequests: requests - 1 }).because, '--max-requests');
    assert.equal(planned(list, { ...limited(6, 1), maxDurationMs: 3000 }).because, '--max-duration');
    assert.equal(planned(list, { rate: 10, maxDurationMs: 2000 }).because, '--max-duration');
    const { durationMs } = planned(list, { rate: 10 });
    assert.equal(planned(list, { rate: 10, maxDurationMs: durationMs + 1 }).because, undefined);
  });

  test('says what is left out, and which bounds are enough', () => {
    const some = [...list, scenarioOf('rate-limit/user-status/l', 'user-status', 'last')];
    assert.deepEqual(planned(some, { maxRequests: 1 }).leftOut, ['foreign-ib/deposit-check/unknown']);
    const found = planned(some, { ...limited(3, 10), maxDurationMs: 12_000 });
    const whole = planned(some, limited(3, 10));
    assert.deepEqual([found.notCompared, found.wholeMs], [['user-status'], whole.durationMs]);
    const last = found.needs.at(-1)!;
    assert.equal(last.reaches, 'everything');
    const enough = planned(some, { ...limited(3, 10), maxDurationMs: last.durationMs });
    assert.deepEqual([enough.because, enough.notCompared], [undefined, []]);
  });

  test('compares other bounds, and more keys, if something has to wait', () => {
    assert.deepEqual(planned(list, { comparesBounds: true }).others, []);
    const { others } = planned(list, { ...limited(6, 60), comparesBounds: true });
    assert.deepEqual([...new Set(others.map(({ keys }) => keys))], [1, 2, 10]);
    for (const keys of [1, 2, 10]) {
      const own = others.filter((one) => one.keys === keys).map(({ requests }) => requests);
      assert.deepEqual(
        own,
        own.toSorted((one, other) => one - other),
        'more time, no fewer requests',
      );
    }
  });
});
