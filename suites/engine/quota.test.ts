import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { FixtureLimits } from '../../schemas/generated/types.ts';
import { answerOf } from '../testing/samples.ts';
import { createBudget } from './budget.ts';
import { ended, manualClock, tracked, type ManualClock } from '../testing/manual-clock.ts';
import { createQuota, type Quota } from './quota.ts';

function quotaOf(
  { clock }: ManualClock,
  limits: FixtureLimits = {},
  more: { readonly deadline?: number; readonly signal?: AbortSignal } = {},
): Quota {
  const bounds = {
    clock,
    deadline: more.deadline ?? Number.MAX_SAFE_INTEGER,
    signal: more.signal ?? new AbortController().signal,
  };
  const budget = createBudget({ ...bounds, maxRequests: Number.POSITIVE_INFINITY, keepBack: 0 });
  return createQuota({ ...bounds, budget, limits, random: () => 0 });
}

const ok = (sentAt: number, receivedAt = sentAt) => ({ ...answerOf(404, {}), sentAt, receivedAt });
const limited = (sentAt: number, retryAfter?: string) => ({
  ...answerOf(429, {}, retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  sentAt,
  receivedAt: sentAt,
});

const limitsOf = (requests: number, windowSeconds: number): FixtureLimits => ({
  'deposit-check': { requests, windowSeconds },
});

/** A limiter: whether a request that arrives now passes; at the threshold nothing does. */
type Limiter = (now: number, price: 0 | 1) => boolean;

const limiters = {
  'a fixed window from the first request': (threshold: number, windowMs: number): Limiter => {
    let start = Number.NEGATIVE_INFINITY;
    let count = 0;
    return (now, price) => {
      if (now >= start + windowMs) count = 0;
      if (count >= threshold) return false;
      if (count === 0) start = now;
      count += price;
      return true;
    };
  },
  'windows of the wall clock': (threshold: number, windowMs: number): Limiter => {
    const counts = new Map<number, number>();
    return (now, price) => {
      const window = Math.floor(now / windowMs);
      const count = counts.get(window) ?? 0;
      if (count < threshold) counts.set(window, count + price);
      return count < threshold;
    };
  },
  'a sliding window': (threshold: number, windowMs: number): Limiter => {
    const seen: number[] = [];
    return (now, price) => {
      const passes = seen.filter((at) => at > now - windowMs).length < threshold;
      if (passes && price > 0) seen.push(now);
      return passes;
    };
  },
} as const satisfies Record<string, (threshold: number, windowMs: number) => Limiter>;

/** A request on its way: ms there and back, and what becomes of it. */
interface Trip {
  readonly there: number;
  readonly back: number;
  readonly isFree: boolean;
  readonly isLost: boolean;
}

interface Crowd {
  readonly threshold: number;
  readonly windowMs: number;
  /** How many workers send requests one after another. */
  readonly concurrency: number;
  readonly trips: readonly Trip[];
}

const crowds = fc
  .record<Crowd>({
    threshold: fc.integer({ min: 1, max: 6 }),
    windowMs: fc.integer({ min: 1, max: 300 }),
    concurrency: fc.integer({ min: 1, max: 8 }),
    trips: fc.array(
      fc.record<Trip>({
        there: fc.nat(400),
        back: fc.nat(400),
        isFree: fc.nat(3).map((n) => n === 0),
        isLost: fc.nat(9).map((n) => n === 0),
      }),
      { minLength: 1, maxLength: 30 },
    ),
  })
  // With a threshold of one, nothing can be kept back for those that are free.
  .filter(({ threshold, trips }) => threshold > 1 || trips.every(({ isFree }) => !isFree));

/** Sends the crowd to a simulated limiter; how many were refused, and how many sent in all. */
async function refusals(
  { threshold, windowMs, concurrency, trips }: Crowd,
  passes: Limiter,
  stated = threshold,
): Promise<{ refused: number; sent: number }> {
  const hand = manualClock();
  const { clock } = hand;
  const quota = quotaOf(hand, limitsOf(stated, windowMs / 1000));
  const queue = [...trips];
  let [refused, sent] = [0, 0];
  const worker = async () => {
    for (let trip = queue.shift(); trip !== undefined; trip = queue.shift()) {
      const price = trip.isFree ? 0 : 1;
      assert.equal(await quota.admit('deposit-check', 'k', price), undefined);
      const sentAt = clock.now();
      await clock.sleep(trip.there);
      sent++;
      if (!passes(clock.now(), price)) refused++;
      await clock.sleep(trip.back);
      const reply = trip.isLost ? undefined : ok(sentAt, clock.now());
      quota.note('deposit-check', 'k', price, reply, true);
    }
  };
  await ended(hand, Promise.all(Array.from({ length: concurrency }, worker)));
  return { refused, sent };
}

describe('a stated threshold is never crossed, whatever the latencies', () => {
  for (const [name, limiter] of Object.entries(limiters)) {
    test(name, async () => {
      await fc.assert(
        fc.asyncProperty(crowds, async (crowd) => {
          const { refused, sent } = await refusals(crowd, limiter(crowd.threshold, crowd.windowMs));
          assert.equal(refused, 0);
          assert.equal(sent, crowd.trips.length);
        }),
        { numRuns: 60 },
      );
    });
    test(`${name}: the simulation notices what goes beyond`, async () => {
      const trip = { there: 5, back: 5, isFree: false, isLost: false };
      const crowd = {
        threshold: 4,
        windowMs: 100,
        concurrency: 8,
        trips: Array.from({ length: 20 }, () => trip),
      };
      const { refused } = await refusals(crowd, limiter(4, 100), 6);
      assert.ok(refused > 0);
    });
  }
});

describe('a stated threshold is used up', () => {
  for (const [threshold, atOnce] of [
    [1, 1],
    [2, 1],
    [3, 2],
    [60, 59],
  ] as const)
    test(`of ${threshold}, ${atOnce} go out at once, and the next when the first is forgotten`, async () => {
      const hand = manualClock();
      const quota = quotaOf(hand, limitsOf(threshold, 1));
      const admitted = Array.from({ length: threshold + 5 }, () =>
        tracked(quota.admit('deposit-check', 'k', 1)),
      );
      const done = () => admitted.filter(({ isDone }) => isDone).length;
      await hand.settled();
      assert.equal(done(), atOnce, 'one is kept back for those that are free');
      await hand.pass(200);
      quota.note('deposit-check', 'k', 1, ok(0, 200), true);
      await hand.pass(1000);
      assert.equal(done(), atOnce, 'a window after the answer is not over');
      await hand.pass(100);
      assert.equal(done(), atOnce + 1);
    });
  test('what is not admitted counts as well; what is free waits only at the threshold', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand, limitsOf(2, 1));
    quota.note('deposit-check', 'k', 1, ok(0), false);
    const paid = tracked(quota.admit('deposit-check', 'k', 1));
    const free = tracked(quota.admit('deposit-check', 'k', 0));
    await hand.settled();
    assert.deepEqual([paid.isDone, free.isDone], [false, true]);
    quota.note('deposit-check', 'k', 1, ok(0), false);
    const late = tracked(quota.admit('deposit-check', 'k', 0));
    await hand.settled();
    assert.equal(late.isDone, false);
    await hand.pass(1100);
    assert.deepEqual([paid.isDone, late.isDone], [true, true]);
  });
  test('each endpoint, each key has a limiter of its own; no key has none', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand, { ...limitsOf(1, 1), 'user-status': { failedLookups: 1, windowSeconds: 1 } });
    const ask = (endpoint: Endpoint, key: string) => tracked(quota.admit(endpoint, key, 1));
    const first = [
      ask('deposit-check', 'a'),
      ask('deposit-check', 'b'),
      ask('user-status', 'a'),
      ...Array.from({ length: 50 }, () => ask('deposit-check', '')),
    ];
    const second = [ask('deposit-check', 'a'), ask('deposit-check', 'b'), ask('user-status', 'a')];
    await hand.settled();
    assert.ok(first.every(({ isDone }) => isDone));
    assert.ok(second.every(({ isDone }) => !isDone));
  });
  test('without a threshold nothing waits', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand);
    const admitted = Array.from({ length: 500 }, () => tracked(quota.admit('user-status', 'k', 1)));
    await hand.settled();
    assert.ok(admitted.every(({ isDone }) => isDone));
  });
});

test('keys share the load: each is used up before anything waits', async () => {
  const hand = manualClock();
  const quota = quotaOf(hand, limitsOf(3, 1));
  const keys = ['a', 'b', 'c'];
  const used: string[] = [];
  for (let nth = 0; nth < 6; nth++) {
    const key = quota.soonest('deposit-check', keys);
    used.push(key);
    const admission = tracked(quota.admit('deposit-check', key, 1));
    await hand.settled();
    assert.ok(admission.isDone);
  }
  assert.deepEqual(used.toSorted(), ['a', 'a', 'b', 'b', 'c', 'c']);
  await hand.pass(50);
  quota.note('deposit-check', 'b', 1, ok(0, 50), true);
  await hand.pass(100);
  quota.note('deposit-check', 'a', 1, ok(0, 150), true);
  await hand.pass(950);
  assert.equal(quota.soonest('deposit-check', keys), 'b', 'the first that has room again');
  await hand.pass(1000);
  quota.note('deposit-check', 'b', 1, limited(hand.clock.now()), true);
  assert.equal(quota.soonest('deposit-check', keys), 'a', 'a key that the limiter holds is passed over');
});

describe('a 429', () => {
  test('closes the key until one request has tried whether it is over', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand);
    await quota.admit('deposit-check', 'k', 1);
    quota.note('deposit-check', 'k', 1, limited(0, '2'), true);
    const waiting = Array.from({ length: 5 }, () => tracked(quota.admit('deposit-check', 'k', 1)));
    const done = () => waiting.filter(({ isDone }) => isDone).length;
    const other = tracked(quota.admit('deposit-check', 'other', 1));
    await hand.pass(1999);
    assert.equal(done(), 0);
    assert.equal(other.isDone, true, 'other keys are not held back');
    await hand.pass(100);
    assert.equal(done(), 1, 'a single probe');
    await hand.pass(60_000);
    assert.equal(done(), 1, 'until its answer is in');
    quota.note('deposit-check', 'k', 1, ok(hand.clock.now()), true);
    await hand.settled();
    assert.equal(done(), 5);
    assert.equal(quota.waitedMs(), 2020);
  });
  test('to the probe closes again, for longer', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand);
    const waits: number[] = [];
    for (let nth = 0; nth < 5; nth++) {
      const before = hand.clock.now();
      assert.equal(await ended(hand, quota.admit('deposit-check', 'k', 1)), undefined);
      waits.push(hand.clock.now() - before);
      quota.note('deposit-check', 'k', 1, limited(hand.clock.now()), true);
    }
    assert.deepEqual(waits, [0, 520, 1020, 2020, 4020]);
  });
  test('a probe that got lost is followed by another, alone', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand);
    await quota.admit('deposit-check', 'k', 1);
    quota.note('deposit-check', 'k', 1, limited(0, '1'), true);
    const waiting = Array.from({ length: 3 }, () => tracked(quota.admit('deposit-check', 'k', 1)));
    const done = () => waiting.filter(({ isDone }) => isDone).length;
    await hand.pass(2000);
    quota.note('deposit-check', 'k', 1, undefined, true);
    await hand.settled();
    assert.equal(done(), 2);
  });
  test('to requests that were under way when the limiter set in says nothing new', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand);
    for (let nth = 0; nth < 20; nth++) await quota.admit('deposit-check', 'k', 1);
    await hand.pass(100);
    for (let nth = 0; nth < 20; nth++) quota.note('deposit-check', 'k', 1, limited(0), true);
    const next = tracked(quota.admit('deposit-check', 'k', 1));
    await hand.pass(521);
    assert.deepEqual({ ...next }, { isDone: true, value: undefined });
  });
  test('is not over because a request that went out before it passes', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand);
    for (let nth = 0; nth < 3; nth++) await quota.admit('deposit-check', 'k', 1);
    await hand.pass(100);
    quota.note('deposit-check', 'k', 1, ok(0, 100), true);
    quota.note('deposit-check', 'k', 1, limited(0, '2'), true);
    const waiting = Array.from({ length: 3 }, () => tracked(quota.admit('deposit-check', 'k', 1)));
    const done = () => waiting.filter(({ isDone }) => isDone).length;
    await hand.pass(2020);
    assert.equal(done(), 1, 'a probe');
    quota.note('deposit-check', 'k', 1, ok(0, hand.clock.now()), true);
    await hand.settled();
    assert.equal(done(), 1, 'it alone tells');
    assert.deepEqual(quota.learned(), {});
    quota.note('deposit-check', 'k', 1, ok(hand.clock.now()), true);
    await hand.settled();
    assert.deepEqual(quota.learned(), { 'deposit-check': { most: 2, windowMs: 2000 } });
  });
  test('that was asked for closes nothing', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand);
    quota.note('deposit-check', 'k', 1, limited(0, '60'), false);
    const next = tracked(quota.admit('deposit-check', 'k', 1));
    await hand.settled();
    assert.equal(next.isDone, true);
  });
});

const now = Date.parse('2024-02-29T12:00:00Z');

/** How long a key waits after one 429, and how it ends: with a window of 3 s stated, and without. */
const waits: readonly (readonly [value: string | undefined, unstated: number | 'shut', stated: number])[] = [
  [undefined, 520, 3020],
  ['0', 20, 20],
  ['2', 2020, 2020],
  ['15', 15_020, 15_020],
  ['121', 121_020, 3020],
  ['999999999999999999999999', 'shut', 3020],
  ['9'.repeat(400), 'shut', 3020],
  ['Fri, 31 Dec 9999 23:59:59 GMT', 'shut', 3020],
  ['soon', 520, 3020],
  ['-1', 520, 3020],
];

describe('the wait after a 429', () => {
  for (const [value, unstated, stated] of waits)
    test(`with Retry-After ${value?.slice(0, 40)}`, async () => {
      for (const [limits, expected] of [
        [{}, unstated],
        [limitsOf(5, 3), stated],
      ] as const) {
        const hand = manualClock(now);
        const quota = quotaOf(hand, limits);
        await quota.admit('deposit-check', 'k', 1);
        quota.note('deposit-check', 'k', 1, limited(now, value), true);
        const trouble = await ended(hand, quota.admit('deposit-check', 'k', 1));
        const outcome = trouble?.code === 'rate-limited' ? 'shut' : hand.clock.now() - now;
        assert.equal(outcome, expected);
      }
    });

  test('that is longer than is waited for: the reason says what was asked', async () => {
    for (const [field, name] of [
      ['retry-after', 'Retry-After'],
      ['x-ratelimit-reset', 'RateLimit-Reset'],
    ] as const) {
      const quota = quotaOf(manualClock(now));
      await quota.admit('deposit-check', 'k', 1);
      const answer = { ...answerOf(429, {}, { [field]: '86400' }), sentAt: now, receivedAt: now };
      quota.note('deposit-check', 'k', 1, answer, true);
      const trouble = await quota.admit('deposit-check', 'k', 1);
      assert.match(
        trouble?.words ?? '',
        new RegExp(`429 with ${name} of 86400 s, longer than is waited for`),
      );
    }
  });
});

describe('patience ends', () => {
  for (const [name, limits, value] of [
    ['without a Retry-After', {}, undefined],
    ['with a Retry-After that promises too much', {}, '1'],
    ['with a Retry-After of nothing', {}, '0'],
    ['with a stated window', limitsOf(5, 3), undefined],
    ['with a stated window and a Retry-After of nothing', limitsOf(5, 3), '0'],
  ] as const)
    test(name, async () => {
      const hand = manualClock();
      const quota = quotaOf(hand, limits);
      for (let nth = 0; ; nth++) {
        assert.ok(nth < 60, 'asked for ever');
        const trouble = await ended(hand, quota.admit('deposit-check', 'k', 1));
        if (trouble !== undefined) {
          assert.equal(trouble.code, 'rate-limited');
          assert.match(trouble.words, /still 429/);
          break;
        }
        quota.note('deposit-check', 'k', 1, limited(hand.clock.now(), value), true);
      }
      assert.ok(hand.clock.now() <= 3_600_000);
      assert.equal(await quota.admit('user-status', 'k', 1), undefined, 'the other endpoint goes on');
      assert.equal(quota.soonest('deposit-check', ['k', 'l']), 'l');
    });
  test('and starts anew after an answer', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand);
    for (let nth = 0; nth < 100; nth++) {
      assert.equal(await ended(hand, quota.admit('deposit-check', 'k', 1)), undefined);
      const at = hand.clock.now();
      quota.note('deposit-check', 'k', 1, nth % 2 === 0 ? limited(at, '60') : ok(at), true);
    }
  });
});

describe('the deadline', () => {
  test('ends the wait for room before it begins', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand, limitsOf(1, 60), { deadline: 500 });
    await quota.admit('deposit-check', 'k', 1);
    quota.note('deposit-check', 'k', 1, ok(0), true);
    const trouble = await quota.admit('deposit-check', 'k', 1);
    assert.equal(trouble?.code, 'rate-limited');
    assert.match(trouble.words, /max-duration/);
  });
  test('that comes earlier for some does so for them alone', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand, limitsOf(1, 60), { deadline: 100_000 });
    await quota.admit('deposit-check', 'k', 1);
    quota.note('deposit-check', 'k', 1, ok(0), true);
    assert.equal((await quota.admit('deposit-check', 'k', 1, 50_000))?.code, 'rate-limited');
    assert.equal(await ended(hand, quota.admit('deposit-check', 'k', 1)), undefined);
    assert.equal(hand.clock.now(), 60_020);
  });
  test('ends the wait of a 429 before it begins', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand, {}, { deadline: 5000 });
    await quota.admit('deposit-check', 'k', 1);
    quota.note('deposit-check', 'k', 1, limited(0, '60'), true);
    const trouble = await quota.admit('deposit-check', 'k', 1);
    assert.equal(trouble?.code, 'rate-limited');
    assert.match(trouble.words, /max-duration/);
    assert.equal(quota.waitedMs(), 0);
  });
});

describe('an interruption', () => {
  for (const [name, reply] of Object.entries({ 'for room': ok(0), 'of a 429': limited(0, '60') }))
    test(`ends the wait ${name}`, async () => {
      const hand = manualClock();
      const abort = new AbortController();
      const quota = quotaOf(hand, limitsOf(1, 60), { signal: abort.signal });
      await quota.admit('deposit-check', 'k', 1);
      quota.note('deposit-check', 'k', 1, reply, true);
      const next = tracked(quota.admit('deposit-check', 'k', 1));
      await hand.settled();
      assert.equal(next.isDone, false);
      abort.abort();
      await hand.settled();
      assert.equal(next.value?.code, 'interrupted');
    });
  test('ends the wait for a probe when its reply is in', async () => {
    const hand = manualClock();
    const abort = new AbortController();
    const quota = quotaOf(hand, {}, { signal: abort.signal });
    await quota.admit('deposit-check', 'k', 1);
    quota.note('deposit-check', 'k', 1, limited(0, '1'), true);
    const [probe, next] = [
      tracked(quota.admit('deposit-check', 'k', 1)),
      tracked(quota.admit('deposit-check', 'k', 1)),
    ];
    await hand.pass(2000);
    assert.deepEqual([probe.isDone, next.isDone], [true, false]);
    abort.abort();
    quota.note('deposit-check', 'k', 1, undefined, true);
    await hand.settled();
    assert.equal(next.value?.code, 'interrupted');
  });
});

describe('settling', () => {
  test('waits until a window after whatever was last heard of the endpoint, counted or not', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand, limitsOf(5, 1));
    for (const [at, key, price] of [
      [0, 'k', 1],
      [300, '', 0],
    ] as const) {
      await hand.pass(at);
      await quota.admit('deposit-check', key, price);
      quota.note('deposit-check', key, price, ok(at), true);
    }
    const settling = tracked(quota.settle('deposit-check'));
    await hand.pass(1000);
    assert.equal(settling.isDone, false);
    await hand.pass(50);
    assert.equal(settling.isDone, true);
  });
  test('does not wait for nothing, for another endpoint, or beyond the deadline', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand, limitsOf(5, 1), { deadline: 100 });
    quota.note('deposit-check', 'k', 1, ok(0), true);
    await quota.settle('user-status');
    const settling = tracked(quota.settle('deposit-check'));
    await hand.pass(100);
    assert.equal(settling.isDone, true);
  });
});

describe('a limit that nobody stated', () => {
  /** Sends counted requests at these times, then meets a 429, and is let in again after so many ms. */
  const meetLimit = async (
    hand: ManualClock,
    quota: Quota,
    { key = 'k', passes, wait }: { key?: string; passes: number; wait: number },
  ) => {
    const ask = async (reply: (at: number) => ReturnType<typeof ok>) => {
      assert.equal(await ended(hand, quota.admit('deposit-check', key, 1)), undefined);
      quota.note('deposit-check', key, 1, reply(hand.clock.now()), true);
    };
    for (let nth = 0; nth < passes; nth++) await ask(ok);
    await ask((at) => limited(at, String(wait / 1000)));
    await ask(ok);
  };
  test('is kept to from then on, by every key of its endpoint and by no other', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand);
    for (const key of ['sibling', '']) await ended(hand, quota.admit('deposit-check', key, 1));
    await meetLimit(hand, quota, { passes: 4, wait: 3000 });
    const atOnce = (endpoint: Endpoint, key: string) =>
      Array.from({ length: 10 }, () => tracked(quota.admit(endpoint, key, 1)));
    const asked = {
      k: atOnce('deposit-check', 'k'),
      sibling: atOnce('deposit-check', 'sibling'),
      fresh: atOnce('deposit-check', 'fresh'),
      nobody: atOnce('deposit-check', ''),
      elsewhere: atOnce('user-status', 'k'),
    };
    await hand.settled();
    const admitted = Object.entries(asked).map(
      ([name, list]) => [name, list.filter(({ isDone }) => isDone).length] as const,
    );
    // One is kept back; the probe of the first key and the first request of its sibling count as well.
    assert.deepEqual(Object.fromEntries(admitted), { k: 2, sibling: 2, fresh: 3, nobody: 10, elsewhere: 10 });
  });
  for (const [name, limits, meeting] of [
    ['where one is stated', limitsOf(5, 3), { passes: 2, wait: 1000 }],
    ['from requests without an issued key', {}, { passes: 5, wait: 1000, key: '' }],
    ['from a limiter that was shut to begin with', {}, { passes: 0, wait: 1000 }],
  ] as const)
    test(`nothing is learned ${name}`, async () => {
      const hand = manualClock();
      const quota = quotaOf(hand, limits);
      await meetLimit(hand, quota, meeting);
      assert.deepEqual(quota.learned(), {});
    });
  test('a stated limit stands, whatever its sibling meets', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand, limitsOf(5, 3));
    await meetLimit(hand, quota, { passes: 2, wait: 9000 });
    const asked = Array.from({ length: 9 }, () => tracked(quota.admit('deposit-check', 'other', 1)));
    await hand.settled();
    assert.equal(asked.filter(({ isDone }) => isDone).length, 4);
  });
  test('is settled for as well', async () => {
    const hand = manualClock();
    const quota = quotaOf(hand);
    await meetLimit(hand, quota, { passes: 4, wait: 3000 });
    const settling = tracked(quota.settle('deposit-check'));
    await hand.pass(3000);
    assert.equal(settling.isDone, false);
    await hand.pass(100);
    assert.equal(settling.isDone, true);
  });
});
