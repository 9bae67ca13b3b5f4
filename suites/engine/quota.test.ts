import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { FixtureLimits } from '../../schemas/generated/types.ts';
import type { Answer } from '../answer.ts';
import { answerOf } from '../testing/samples.ts';
import { createBudget } from './budget.ts';
import { manualClock, track, type ManualClock } from '../testing/manual-clock.ts';
import { createQuota } from './quota.ts';

/** A quota, with helpers for the endpoint `deposit-check`. */
function quotaOf(
  limits: FixtureLimits = {},
  {
    hand = manualClock(),
    deadline = Number.MAX_SAFE_INTEGER,
    signal = new AbortController().signal,
  }: { readonly hand?: ManualClock; readonly deadline?: number; readonly signal?: AbortSignal } = {},
) {
  const bounds = { clock: hand.clock, deadline, signal };
  const budget = createBudget({ ...bounds, maxRequests: Number.POSITIVE_INFINITY, reserved: 0 });
  const quota = createQuota({ ...bounds, budget, limits, random: () => 0 });
  const admit = (key = 'k', cost: 0 | 1 = 1, until?: number) =>
    quota.admit('deposit-check', key, cost, until);
  const note = (reply: Answer | undefined, key = 'k', cost: 0 | 1 = 1) =>
    quota.record('deposit-check', key, cost, reply, true);
  return {
    hand,
    quota,
    admit,
    note,
    meet: async (reply: Answer) => {
      await admit();
      note(reply);
    },
    /** Waits for the reset of the endpoint. The returned function says whether it is done `ms` later. */
    settle: () => {
      const settling = track(quota.waitForReset('deposit-check'));
      return async (ms: number) => {
        await hand.advance(ms);
        return settling.isDone;
      };
    },
    /** Asks for several requests. The returned function says how many are admitted `ms` later. */
    ask: (count = 1, key = 'k', { cost = 1, endpoint = 'deposit-check' }: Asked = {}) => {
      const asked = Array.from({ length: count }, () => track(quota.admit(endpoint, key, cost)));
      return async (ms = 0) => {
        await (ms === 0 ? hand.settled() : hand.advance(ms));
        return asked.filter(({ isDone }) => isDone).length;
      };
    },
  };
}

interface Asked {
  readonly cost?: 0 | 1;
  readonly endpoint?: Endpoint;
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

/** A limiter: whether a request that arrives now passes. */
type Limiter = (now: number, cost: 0 | 1) => boolean;

const limiters = {
  'a fixed window from the first request': (threshold: number, windowMs: number): Limiter => {
    let start = Number.NEGATIVE_INFINITY;
    let count = 0;
    return (now, cost) => {
      if (now >= start + windowMs) count = 0;
      if (count >= threshold) return false;
      if (count === 0) start = now;
      count += cost;
      return true;
    };
  },
  'windows of the wall clock': (threshold: number, windowMs: number): Limiter => {
    const counts = new Map<number, number>();
    return (now, cost) => {
      const window = Math.floor(now / windowMs);
      const count = counts.get(window) ?? 0;
      if (count < threshold) counts.set(window, count + cost);
      return count < threshold;
    };
  },
  'a sliding window': (threshold: number, windowMs: number): Limiter => {
    const seen: number[] = [];
    return (now, cost) => {
      const passes = seen.filter((at) => at > now - windowMs).length < threshold;
      if (passes && cost > 0) seen.push(now);
      return passes;
    };
  },
} as const satisfies Record<string, (threshold: number, windowMs: number) => Limiter>;

/** A request with its latencies in ms, and its result. */
const trip = fc.record({
  there: fc.nat(400),
  back: fc.nat(400),
  isFree: fc.nat(3).map((n) => n === 0),
  isLost: fc.nat(9).map((n) => n === 0),
});

const crowds = fc
  .record({
    threshold: fc.integer({ min: 1, max: 6 }),
    windowMs: fc.integer({ min: 1, max: 300 }),
    concurrency: fc.integer({ min: 1, max: 8 }),
    trips: fc.array(trip, { minLength: 1, maxLength: 30 }),
  })
  // With a threshold of one, nothing can be reserved for free requests.
  .filter(({ threshold, trips }) => threshold > 1 || trips.every(({ isFree }) => !isFree));

type Crowd = typeof crowds extends fc.Arbitrary<infer Value> ? Value : never;

/** Sends requests to a simulated limiter. Returns how many were refused and sent. */
async function refusals(
  { threshold, windowMs, concurrency, trips }: Crowd,
  passes: Limiter,
  stated = threshold,
) {
  const { hand, admit, note } = quotaOf(limitsOf(stated, windowMs / 1000));
  const { clock } = hand;
  const queue = [...trips];
  let [refused, sent] = [0, 0];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const cost = next.isFree ? 0 : 1;
      assert.equal(await admit('k', cost), undefined);
      const sentAt = clock.now();
      await clock.sleep(next.there);
      sent++;
      if (!passes(clock.now(), cost)) refused++;
      await clock.sleep(next.back);
      note(next.isLost ? undefined : ok(sentAt, clock.now()), 'k', cost);
    }
  };
  await hand.until(Promise.all(Array.from({ length: concurrency }, worker)));
  return { refused, sent };
}

describe('a stated threshold is never crossed, for any latencies', () => {
  for (const [name, limiter] of Object.entries(limiters)) {
    test(name, async () => {
      await fc.assert(
        fc.asyncProperty(crowds, async (crowd) => {
          const { refused, sent } = await refusals(crowd, limiter(crowd.threshold, crowd.windowMs));
          assert.deepEqual([refused, sent], [0, crowd.trips.length]);
        }),
        { numRuns: 60 },
      );
    });
    test(`${name}: the simulation detects a crossed threshold`, async () => {
      const alike = { there: 5, back: 5, isFree: false, isLost: false };
      const trips = Array.from({ length: 20 }, () => alike);
      const crowd = { threshold: 4, windowMs: 100, concurrency: 8, trips };
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
    test(`of ${threshold}, ${atOnce} are sent at once, and the next when the first leaves the window`, async () => {
      const { hand, note, ask } = quotaOf(limitsOf(threshold, 1));
      const done = ask(threshold + 5);
      assert.equal(await done(), atOnce, 'one is kept back for those that are free');
      await hand.advance(200);
      note(ok(0, 200));
      assert.equal(await done(1000), atOnce, 'a window after the answer is not over');
      assert.equal(await done(100), atOnce + 1);
    });
  test('requests sent without asking count too; free ones wait only at the threshold', async () => {
    const { quota, ask } = quotaOf(limitsOf(2, 1));
    quota.record('deposit-check', 'k', 1, ok(0), false);
    const paid = ask();
    const free = ask(1, 'k', { cost: 0 });
    assert.deepEqual([await paid(), await free()], [0, 1]);
    quota.record('deposit-check', 'k', 1, ok(0), false);
    const late = ask(1, 'k', { cost: 0 });
    assert.equal(await late(), 0);
    assert.deepEqual([await paid(1100), await late()], [1, 1]);
  });
  test('each endpoint and key has its own limiter; requests without a key have none', async () => {
    const stated = { ...limitsOf(1, 1), 'user-status': { failedLookups: 1, windowSeconds: 1 } };
    const { ask } = quotaOf(stated);
    const done = [ask(2, 'a'), ask(2, 'b'), ask(2, 'a', { endpoint: 'user-status' }), ask(500, '')];
    assert.deepEqual(await Promise.all(done.map((count) => count())), [1, 1, 1, 500]);
  });
});

test('keys share the load: all are used before anything waits', async () => {
  const { hand, quota, note, ask } = quotaOf(limitsOf(3, 1));
  const soonest = () => quota.firstAvailable('deposit-check', ['a', 'b', 'c']);
  const used: string[] = [];
  for (let nth = 0; nth < 6; nth++) {
    const key = soonest();
    used.push(key);
    const done = ask(1, key);
    assert.equal(await done(), 1);
  }
  assert.deepEqual(used.toSorted(), ['a', 'a', 'b', 'b', 'c', 'c']);
  await hand.advance(50);
  note(ok(0, 50), 'b');
  await hand.advance(100);
  note(ok(0, 150), 'a');
  await hand.advance(950);
  assert.equal(soonest(), 'b', 'the first that has room again');
  await hand.advance(1000);
  note(limited(hand.clock.now()), 'b');
  assert.equal(soonest(), 'a', 'a key that the limiter holds is passed over');
});

describe('a 429', () => {
  test('blocks the key until a probe passes', async () => {
    const { hand, quota, note, meet, ask } = quotaOf();
    await meet(limited(0, '2'));
    const done = ask(5);
    const other = ask(1, 'other');
    assert.equal(await done(1999), 0);
    assert.equal(await other(), 1, 'other keys are not blocked');
    assert.equal(await done(100), 1, 'a single probe');
    assert.equal(await done(60_000), 1, 'until its answer is in');
    note(ok(hand.clock.now()));
    assert.equal(await done(), 5);
    assert.equal(quota.waitedMs(), 2020);
  });
  test('to the probe blocks the key for longer', async () => {
    const { hand, admit, note } = quotaOf();
    for (const wait of [0, 520, 1020, 2020, 4020]) {
      const before = hand.clock.now();
      assert.equal(await hand.until(admit()), undefined);
      assert.equal(hand.clock.now() - before, wait);
      note(limited(hand.clock.now()));
    }
  });
  test('a lost probe is followed by another one alone', async () => {
    const { hand, note, meet, ask } = quotaOf();
    await meet(limited(0, '1'));
    const done = ask(3);
    await hand.advance(2000);
    note(undefined);
    assert.equal(await done(), 2);
  });
  test('to requests in flight at the first 429 changes nothing', async () => {
    const { hand, admit, note } = quotaOf();
    for (let nth = 0; nth < 20; nth++) await admit();
    await hand.advance(100);
    for (let nth = 0; nth < 20; nth++) note(limited(0));
    const next = track(admit());
    await hand.advance(521);
    assert.deepEqual({ ...next }, { isDone: true, value: undefined });
  });
  test('does not end because an earlier request passes', async () => {
    const { hand, quota, admit, note, ask } = quotaOf();
    for (let nth = 0; nth < 3; nth++) await admit();
    await hand.advance(100);
    note(ok(0, 100));
    note(limited(0, '2'));
    const done = ask(3);
    assert.equal(await done(2020), 1, 'a probe');
    note(ok(0, hand.clock.now()));
    assert.equal(await done(), 1, 'it alone tells');
    assert.deepEqual(quota.learned(), {});
    note(ok(hand.clock.now()));
    await hand.settled();
    assert.deepEqual(quota.learned(), { 'deposit-check': { most: 2, windowMs: 2000 } });
  });
  test('in a burst does not block the key', async () => {
    const { quota, ask } = quotaOf();
    quota.record('deposit-check', 'k', 1, limited(0, '60'), false);
    const done = ask();
    assert.equal(await done(), 1);
  });
});

const now = Date.parse('2024-02-29T12:00:00Z');

/** The wait after one 429 and its end, with a stated window of 3 s and without. */
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
        const { hand, admit, meet } = quotaOf(limits, { hand: manualClock(now) });
        await meet(limited(now, value));
        const trouble = await hand.until(admit());
        const outcome = trouble?.code === 'rate-limited' ? 'shut' : hand.clock.now() - now;
        assert.equal(outcome, expected);
      }
    });

  for (const [field, name] of [
    ['retry-after', 'Retry-After'],
    ['x-ratelimit-reset', 'RateLimit-Reset'],
  ] as const)
    test(`that is too long: the reason quotes ${name}`, async () => {
      const { admit, meet } = quotaOf({}, { hand: manualClock(now) });
      await meet({ ...answerOf(429, {}, { [field]: '86400' }), sentAt: now, receivedAt: now });
      const words = (await admit())?.words ?? '';
      assert.match(words, new RegExp(`429 with a ${name} of 86400 s, longer than this run waits`));
    });
});

describe('waiting is given up', () => {
  for (const [name, limits, value] of [
    ['without a Retry-After', {}, undefined],
    ['with a Retry-After that promises too much', {}, '1'],
    ['with a Retry-After of nothing', {}, '0'],
    ['with a stated window', limitsOf(5, 3), undefined],
    ['with a stated window and a Retry-After of nothing', limitsOf(5, 3), '0'],
  ] as const)
    test(name, async () => {
      const { hand, quota, admit, note } = quotaOf(limits);
      let trouble = await admit();
      for (let nth = 0; trouble === undefined; nth++) {
        assert.ok(nth < 60, 'asked for ever');
        note(limited(hand.clock.now(), value));
        trouble = await hand.until(admit());
      }
      assert.equal(trouble.code, 'rate-limited');
      assert.match(trouble.words, /still 429/);
      assert.ok(hand.clock.now() <= 3_600_000);
      assert.equal(await quota.admit('user-status', 'k', 1), undefined, 'the other endpoint goes on');
      assert.equal(quota.firstAvailable('deposit-check', ['k', 'l']), 'l');
    });
  test('and starts again after an answer', async () => {
    const { hand, admit, note } = quotaOf();
    for (let nth = 0; nth < 100; nth++) {
      assert.equal(await hand.until(admit()), undefined);
      const at = hand.clock.now();
      note(nth % 2 === 0 ? limited(at, '60') : ok(at));
    }
  });
});

describe('the deadline', () => {
  for (const [name, limits, reply] of [
    ['for room', limitsOf(1, 60), ok(0)],
    ['of a 429', {}, limited(0, '60')],
  ] as const)
    test(`ends the wait ${name} before it begins`, async () => {
      const { quota, admit, meet } = quotaOf(limits, { deadline: 5000 });
      await meet(reply);
      const trouble = await admit();
      assert.equal(trouble?.code, 'rate-limited');
      assert.match(trouble.words, /max-duration/);
      assert.equal(quota.waitedMs(), 0);
    });
  test('that is earlier for some requests applies only to them', async () => {
    const { hand, admit, meet } = quotaOf(limitsOf(1, 60), { deadline: 100_000 });
    await meet(ok(0));
    assert.equal((await admit('k', 1, 50_000))?.code, 'rate-limited');
    assert.equal(await hand.until(admit()), undefined);
    assert.equal(hand.clock.now(), 60_020);
  });
});

describe('an interruption', () => {
  for (const [name, reply] of Object.entries({ 'for room': ok(0), 'of a 429': limited(0, '60') }))
    test(`ends the wait ${name}`, async () => {
      const abort = new AbortController();
      const { hand, admit, meet } = quotaOf(limitsOf(1, 60), { signal: abort.signal });
      await meet(reply);
      const next = track(admit());
      await hand.settled();
      assert.equal(next.isDone, false);
      abort.abort();
      await hand.settled();
      assert.equal(next.value?.code, 'interrupted');
    });
  test('ends the wait for a probe after its reply', async () => {
    const abort = new AbortController();
    const { hand, admit, note, meet } = quotaOf({}, { signal: abort.signal });
    await meet(limited(0, '1'));
    const [probe, next] = [track(admit()), track(admit())];
    await hand.advance(2000);
    assert.deepEqual([probe.isDone, next.isDone], [true, false]);
    abort.abort();
    note(undefined);
    await hand.settled();
    assert.equal(next.value?.code, 'interrupted');
  });
});

describe('the reset', () => {
  test('comes one window after the last reply of the endpoint, counted or not', async () => {
    const { hand, admit, note, settle } = quotaOf(limitsOf(5, 1));
    for (const [at, key, cost] of [
      [0, 'k', 1],
      [300, '', 0],
    ] as const) {
      await hand.advance(at);
      await admit(key, cost);
      note(ok(at), key, cost);
    }
    const isDone = settle();
    assert.deepEqual([await isDone(1000), await isDone(50)], [false, true]);
  });
  test('needs no wait for no requests, for another endpoint, or beyond the deadline', async () => {
    const { quota, note, settle } = quotaOf(limitsOf(5, 1), { deadline: 100 });
    note(ok(0));
    await quota.waitForReset('user-status');
    assert.equal(await settle()(100), true);
  });
});

describe('a limit that is not stated', () => {
  /** Sends counted requests, gets a 429, and passes again after some ms. */
  const meetLimit = async (
    { hand, admit, note }: ReturnType<typeof quotaOf>,
    { key = 'k', passes, wait }: { key?: string; passes: number; wait: number },
  ) => {
    const refusal = (at: number) => limited(at, String(wait / 1000));
    for (const reply of [...Array.from({ length: passes }, () => ok), refusal, ok]) {
      assert.equal(await hand.until(admit(key)), undefined);
      note(reply(hand.clock.now()), key);
    }
  };
  test('applies from then on to all keys of its endpoint, and to no other', async () => {
    const one = quotaOf();
    for (const key of ['sibling', '']) await one.hand.until(one.admit(key));
    await meetLimit(one, { passes: 4, wait: 3000 });
    const done = ['k', 'sibling', 'fresh', ''].map((key) => one.ask(10, key));
    done.push(one.ask(10, 'k', { endpoint: 'user-status' }));
    // One is reserved. The probe of the first key and the first request of the second count too.
    assert.deepEqual(await Promise.all(done.map((count) => count())), [2, 2, 3, 10, 10]);
  });
  for (const [name, limits, meeting] of [
    ['where one is stated', limitsOf(5, 3), { passes: 2, wait: 1000 }],
    ['from requests without an issued key', {}, { passes: 5, wait: 1000, key: '' }],
    ['from a limiter that was shut to begin with', {}, { passes: 0, wait: 1000 }],
  ] as const)
    test(`nothing is learned ${name}`, async () => {
      const one = quotaOf(limits);
      await meetLimit(one, meeting);
      assert.deepEqual(one.quota.learned(), {});
    });
  test('a stated limit stays, whatever the other endpoint answers', async () => {
    const one = quotaOf(limitsOf(5, 3));
    await meetLimit(one, { passes: 2, wait: 9000 });
    const done = one.ask(9, 'other');
    assert.equal(await done(), 4);
  });
  test('has a reset too', async () => {
    const one = quotaOf();
    await meetLimit(one, { passes: 4, wait: 3000 });
    const isDone = one.settle();
    assert.deepEqual([await isDone(3000), await isDone(100)], [false, true]);
  });
});
