import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { FixtureLimits } from '../../schemas/generated/types.ts';
import type { Answer } from '../answer.ts';
import { createBudget } from '../engine/budget.ts';
import { manualClock, track, type ManualClock } from '../testing/manual-clock.ts';
import { answerOf } from '../testing/samples.ts';
import { firstKey } from './account.ts';
import { statedLimits } from './limit.ts';
import {
  admit as admitTo,
  allowRetry,
  createWaiter,
  figuresOf,
  isContradicted,
  longestWindowMs,
  recordReply,
  stopTelling,
  tellLimits,
  turnOf,
  untilReply,
  type Wait,
} from './waiter.ts';

const HOUR_MS = 3_600_000;

/** A waiter, with helpers for the endpoint `deposit-check`. */
function waiterOf(
  limits: FixtureLimits = {},
  {
    hand = manualClock(),
    deadline = Number.MAX_SAFE_INTEGER,
    maxDurationMs = HOUR_MS,
    signal = new AbortController().signal,
  }: {
    readonly hand?: ManualClock;
    readonly deadline?: number;
    readonly maxDurationMs?: number;
    readonly signal?: AbortSignal;
  } = {},
) {
  const bounds = { clock: hand.clock, deadline, signal };
  const budget = createBudget({ ...bounds, maxRequests: Number.POSITIVE_INFINITY, reserved: 0 });
  const waits: Wait[] = [];
  const told: unknown[] = [];
  const waiter = createWaiter({
    ...bounds,
    budget,
    maxDurationMs,
    stated: statedLimits({ limits }),
    onWait: (wait) => void waits.push(wait),
    onLimits: (found) => void told.push(found),
  });
  const askedOf = (key: string, cost: 0 | 1, endpoint: Endpoint = 'deposit-check') => ({
    endpoint,
    key,
    cost,
  });
  const admit = (key = 'k', cost: 0 | 1 = 1, until?: number) => admitTo(waiter, askedOf(key, cost), until);
  const note = (reply: Answer | undefined, key = 'k', cost: 0 | 1 = 1, isAdmitted = true) =>
    recordReply(waiter, askedOf(key, cost), reply, cost > 0 && reply?.status !== 429, isAdmitted);
  return {
    hand,
    waiter,
    admit,
    note,
    waits,
    told,
    meet: async (reply: Answer) => {
      await admit();
      note(reply);
    },
    /** What the run knows about the endpoint at its end. */
    figures: () => figuresOf(waiter).endpoints.find(({ endpoint }) => endpoint === 'deposit-check')!,
    /** The key that may send first. */
    firstOf: (...keys: readonly string[]) =>
      firstKey(waiter.limits, { endpoint: 'deposit-check', cost: 1 }, keys, hand.clock.now()),
    /** Asks for several requests. The returned function says how many are admitted `ms` later. */
    ask: (count = 1, key = 'k', { cost = 1, endpoint = 'deposit-check' }: Asking = {}) => {
      const asked = Array.from({ length: count }, () => track(admitTo(waiter, askedOf(key, cost, endpoint))));
      return async (ms = 0) => {
        await (ms === 0 ? hand.settled() : hand.advance(ms));
        return asked.filter(({ isDone }) => isDone).length;
      };
    },
  };
}

interface Asking {
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
  const { hand, admit, note } = waiterOf(limitsOf(stated, windowMs / 1000));
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
      const { hand, note, ask } = waiterOf(limitsOf(threshold, 1));
      const done = ask(threshold + 5);
      assert.equal(await done(), atOnce, 'one is kept back for those that are free');
      await hand.advance(200);
      note(ok(0, 200));
      assert.equal(await done(1000), atOnce, 'a window after the answer is not over');
      assert.equal(await done(100), atOnce + 1);
    });
  test('requests sent without asking count too; free ones wait only at the threshold', async () => {
    const { note, ask } = waiterOf(limitsOf(2, 1));
    note(ok(0), 'k', 1, false);
    const paid = ask();
    const free = ask(1, 'k', { cost: 0 });
    assert.deepEqual([await paid(), await free()], [0, 1]);
    note(ok(0), 'k', 1, false);
    const late = ask(1, 'k', { cost: 0 });
    assert.equal(await late(), 0);
    assert.deepEqual([await paid(1100), await late()], [1, 1]);
  });
  test('each endpoint and key has its own limiter; requests without a key have none', async () => {
    const stated = { ...limitsOf(1, 1), 'user-status': { failedLookups: 1, windowSeconds: 1 } };
    const { ask } = waiterOf(stated);
    const done = [ask(2, 'a'), ask(2, 'b'), ask(2, 'a', { endpoint: 'user-status' }), ask(500, '')];
    assert.deepEqual(await Promise.all(done.map((count) => count())), [1, 1, 1, 500]);
  });
});

test('keys share the load: all are used before anything waits', async () => {
  const { hand, note, ask, firstOf } = waiterOf(limitsOf(3, 1));
  const soonest = () => firstOf('a', 'b', 'c');
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

test('a request that waited comes before lookups that find out that they may go', async () => {
  const { hand, waiter, meet, ask } = waiterOf(limitsOf(2, 1));
  await meet(ok(0));
  const lookup = { endpoint: 'deposit-check', key: 'k', cost: 1 } as const;
  const woken = hand.clock.sleep(1020).then(async () => {
    const { kind } = turnOf(waiter, lookup);
    await untilReply(waiter);
    return [kind, turnOf(waiter, lookup).kind];
  });
  const waiting = ask();
  assert.equal(await waiting(1019), 0);
  assert.equal(await waiting(1), 1);
  assert.deepEqual(await woken, ['reply', 'reply'], 'and the lookup waits for its reply');
  assert.equal(turnOf(waiter, { ...lookup, cost: 0 }).kind, 'now');
});

test('lookups do not wait for a request that has to wait again', async () => {
  const { hand, waiter, meet, note, ask } = waiterOf(limitsOf(2, 1));
  await meet(ok(0));
  const woken = track(hand.clock.sleep(1020).then(() => untilReply(waiter)));
  const waiting = ask();
  await waiting(500);
  note(ok(500), 'k', 1, false);
  assert.equal(await waiting(520), 0);
  assert.equal(woken.isDone, true);
});

describe('a 429', () => {
  test('blocks the key until a probe passes', async () => {
    const { hand, note, meet, ask, figures } = waiterOf();
    await meet(limited(0, '2'));
    const done = ask(5);
    const other = ask(1, 'other');
    assert.equal(await done(1999), 0);
    assert.equal(await other(), 1, 'other keys are not blocked');
    assert.equal(await done(100), 1, 'a single probe');
    assert.equal(await done(60_000), 1, 'until its answer is in');
    note(ok(hand.clock.now()));
    assert.equal(await done(), 5);
    assert.equal(figures().waitedMs, 2020);
  });
  test('to the probe blocks the key for longer', async () => {
    const { hand, admit, note } = waiterOf();
    for (const wait of [0, 520, 1020, 2020, 4020]) {
      const before = hand.clock.now();
      assert.equal(await hand.until(admit()), undefined);
      assert.equal(hand.clock.now() - before, wait);
      note(limited(hand.clock.now()));
    }
  });
  test('a lost probe is followed by another one alone', async () => {
    const { hand, note, meet, ask } = waiterOf();
    await meet(limited(0, '1'));
    const done = ask(3);
    await hand.advance(2000);
    note(undefined);
    assert.equal(await done(), 2);
  });
  test('to requests in flight at the first 429 changes nothing', async () => {
    const { hand, admit, note } = waiterOf();
    for (let nth = 0; nth < 20; nth++) await admit();
    await hand.advance(100);
    for (let nth = 0; nth < 20; nth++) note(limited(0));
    const next = track(admit());
    await hand.advance(521);
    assert.deepEqual({ ...next }, { isDone: true, value: undefined });
  });
  test('does not end because an earlier request passes', async () => {
    const { hand, admit, note, ask, figures } = waiterOf();
    for (let nth = 0; nth < 3; nth++) await admit();
    await hand.advance(100);
    note(ok(0, 100));
    note(limited(0, '2'));
    const done = ask(3);
    assert.equal(await done(2020), 0, 'a request is in flight');
    note(ok(0, hand.clock.now()));
    assert.equal(await done(), 1, 'a probe');
    assert.equal(await done(), 1, 'it alone tells');
    assert.equal(figures().limit, undefined);
    note(ok(hand.clock.now()));
    await hand.settled();
    assert.deepEqual(figures().limit, { requests: 2, windowSeconds: 2, source: 'learned' });
  });
  test('in a burst does not block the key', async () => {
    const { note, ask } = waiterOf();
    note(limited(0, '60'), 'k', 1, false);
    const done = ask();
    assert.equal(await done(), 1);
  });
});

const now = Date.parse('2024-02-29T12:00:00Z');

/** A run of an hour that begins now. */
const anHour = () => ({ hand: manualClock(now), deadline: now + HOUR_MS });

/** The wait after one 429 in ms, and its reason, with a stated window of 3 s and without. */
const waits: readonly (readonly [
  value: string | undefined,
  unstated: number,
  stated: number,
  unstatedWhy: string,
  statedWhy?: string,
])[] = [
  [undefined, 520, 3020, 'back-off', 'stated limit, 5 in 3 s'],
  ['0', 20, 20, 'Retry-After 0 s'],
  ['2', 2020, 2020, 'Retry-After 2 s'],
  ['15', 15_020, 15_020, 'Retry-After 15 s'],
  ['121', 121_020, 121_020, 'Retry-After 121 s'],
  ['soon', 520, 3020, 'back-off', 'stated limit, 5 in 3 s'],
  ['-1', 520, 3020, 'back-off', 'stated limit, 5 in 3 s'],
];

describe('the wait after a 429', () => {
  for (const [value, unstated, stated, unstatedWhy, statedWhy = unstatedWhy] of waits)
    test(`with Retry-After ${value}`, async () => {
      for (const [limits, expected, why] of [
        [{}, unstated, unstatedWhy],
        [limitsOf(5, 3), stated, statedWhy],
      ] as const) {
        const { hand, admit, meet, waits: begun } = waiterOf(limits, anHour());
        await meet(limited(now, value));
        assert.equal(await hand.until(admit()), undefined);
        assert.equal(hand.clock.now() - now, expected);
        assert.deepEqual(
          begun.map((one) => [one.endpoint, one.until, one.why]),
          [['deposit-check', now + expected, why]],
        );
      }
    });

  for (const [field, value] of [
    ['retry-after', '86400'],
    ['retry-after', '9'.repeat(400)],
    ['retry-after', 'Fri, 31 Dec 9999 23:59:59 GMT'],
    ['x-ratelimit-reset', '86400'],
  ] as const)
    describe(`that is longer than the run: ${field} ${value.slice(0, 40)}`, () => {
      const refusal = (at: number) => ({
        ...answerOf(429, {}, { [field]: value }),
        sentAt: at,
        receivedAt: at,
      });
      for (const limits of [{}, limitsOf(5, 3)]) {
        const words = 'deposit-check' in limits ? 'with a stated window' : 'without a stated window';
        test(`${words}, one more request is refused: nothing more is sent`, async () => {
          const { hand, admit, note, meet } = waiterOf(limits, anHour());
          await meet(refusal(now));
          assert.equal(await hand.until(admit()), undefined);
          assert.equal(hand.clock.now() - now, 500);
          note(refusal(hand.clock.now()));
          const trouble = await admit();
          assert.equal(trouble?.code, 'rate-limited');
          assert.match(trouble.words, /--max-duration/);
        });
        test(`${words}, one more request passes: the field is ignored`, async () => {
          const { hand, waiter, admit, note, meet } = waiterOf(limits, anHour());
          await meet(refusal(now));
          await hand.until(admit());
          note(ok(hand.clock.now()));
          assert.deepEqual(figuresOf(waiter).ignored, [field === 'retry-after' ? 'Retry-After' : field]);
          await meet(refusal(hand.clock.now()));
          const before = hand.clock.now();
          assert.equal(await hand.until(admit()), undefined);
          assert.ok(hand.clock.now() - before <= 3020);
        });
      }
    });
});

describe('waiting is given up', () => {
  const rest = /^still 429 after \S+ (s|min) in which nothing was sent$/;
  for (const [name, limits, value, says] of [
    ['without a Retry-After, at the end of the run', {}, undefined, /--max-duration/],
    ['with a Retry-After that promises too much', {}, '1', rest],
    ['with a Retry-After of nothing', {}, '0', rest],
    ['with a stated window', limitsOf(5, 3), undefined, rest],
    ['with a stated window and a Retry-After of nothing', limitsOf(5, 3), '0', rest],
  ] as const)
    test(name, async () => {
      const { hand, waiter, admit, note, firstOf } = waiterOf(limits, { deadline: HOUR_MS });
      let trouble = await admit();
      let quietMs = 0;
      for (let nth = 0; trouble === undefined; nth++) {
        assert.ok(nth < 60, 'asked for ever');
        const at = hand.clock.now();
        note(limited(at, value));
        trouble = await hand.until(admit());
        quietMs = Math.max(quietMs, hand.clock.now() - at);
      }
      assert.equal(trouble.code, 'rate-limited');
      assert.match(trouble.words, says);
      assert.ok(quietMs >= 60_000 && hand.clock.now() <= HOUR_MS, `${quietMs} ms`);
      const other = { endpoint: 'user-status', key: 'k', cost: 1 } as const;
      assert.equal(await admitTo(waiter, other), undefined, 'the other endpoint goes on');
      assert.equal(firstOf('k', 'l'), 'l');
    });
  test('if the rest that would decide takes more than a quarter of the run', async () => {
    const minute = { deadline: 60_000, maxDurationMs: 60_000 };
    const { hand, admit, note } = waiterOf(limitsOf(5, 3), minute);
    let trouble = await admit();
    while (trouble === undefined) {
      note(limited(hand.clock.now()));
      trouble = await hand.until(admit());
    }
    assert.match(trouble.words, /^still 429 after .* s; 1 min in which nothing is sent would show more$/);
    assert.ok(hand.clock.now() < 15_000, `${hand.clock.now()} ms`);
  });
  test('until another try is allowed', async () => {
    const { hand, waiter, admit, note, meet } = waiterOf({}, { deadline: 5000 });
    await meet(limited(0, '60'));
    await hand.until(admit());
    note(limited(500, '60'));
    assert.equal((await admit())?.code, 'rate-limited');
    allowRetry(waiter, { endpoint: 'deposit-check', key: 'k', cost: 1 });
    assert.equal(turnOf(waiter, { endpoint: 'deposit-check', key: 'k', cost: 1 }).kind, 'at');
  });
  test('and starts again after an answer', async () => {
    const { hand, admit, note } = waiterOf();
    for (let nth = 0; nth < 100; nth++) {
      assert.equal(await hand.until(admit()), undefined);
      const at = hand.clock.now();
      note(nth % 2 === 0 ? limited(at, '60') : ok(at));
    }
  });
});

describe('the deadline', () => {
  test('ends the wait for room before it begins', async () => {
    const { admit, meet, figures } = waiterOf(limitsOf(1, 60), { deadline: 5000 });
    await meet(ok(0));
    const trouble = await admit();
    assert.equal(trouble?.code, 'rate-limited');
    assert.match(trouble.words, /max-duration/);
    assert.equal(figures().waitedMs, 0);
  });
  test('that is earlier for some requests applies only to them', async () => {
    const { hand, admit, meet } = waiterOf(limitsOf(1, 60), { deadline: 100_000 });
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
      const { hand, admit, meet } = waiterOf(limitsOf(1, 60), { signal: abort.signal });
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
    const { hand, admit, note, meet } = waiterOf({}, { signal: abort.signal });
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

describe('a limit that is not stated', () => {
  /** Sends counted requests, gets a 429, and passes again after some ms. */
  const meetLimit = async (
    { hand, admit, note }: ReturnType<typeof waiterOf>,
    { key = 'k', passes, wait }: { key?: string; passes: number; wait: number },
  ) => {
    const refusal = (at: number) => limited(at, String(wait / 1000));
    for (const reply of [...Array.from({ length: passes }, () => ok), refusal, ok]) {
      assert.equal(await hand.until(admit(key)), undefined);
      note(reply(hand.clock.now()), key);
    }
  };
  test('applies from then on to all keys of its endpoint, and to no other', async () => {
    const one = waiterOf();
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
      const one = waiterOf(limits);
      await meetLimit(one, meeting);
      assert.notEqual(one.figures().limit?.source, 'learned');
    });
  test('does not replace a stated one after a refusal that is no longer than its window', async () => {
    const one = waiterOf(limitsOf(5, 3));
    await meetLimit(one, { passes: 2, wait: 3000 });
    const done = one.ask(9, 'other');
    assert.equal(await done(), 4);
    assert.equal(one.figures().contradiction, undefined);
  });
  test('replaces a stated one after a refusal that is longer than its window', async () => {
    const one = waiterOf(limitsOf(5, 3));
    await meetLimit(one, { passes: 2, wait: 9000 });
    const { contradiction, limit } = one.figures();
    assert.match(contradiction ?? '', /2 counted requests \(Retry-After 9 s\), but 5 in 3 s is stated$/);
    assert.deepEqual(limit, { requests: 2, windowSeconds: 9, source: 'learned' });
    assert.ok(isContradicted(one.waiter, 'deposit-check') && !isContradicted(one.waiter, 'user-status'));
    assert.equal(longestWindowMs(one.waiter, 'deposit-check'), 9000);
  });
});

test('limits are told once they have settled, and again only much later', async () => {
  const { hand, note, told } = waiterOf();
  const pass = (key: string) => note(ok(hand.clock.now()), key, 1, false);
  const refuse = (key: string, wait: string) => note(limited(hand.clock.now(), wait), key);
  for (const key of ['a', 'b', 'b']) pass(key);
  for (const key of ['a', 'b']) refuse(key, '600');
  assert.deepEqual(told, []);
  await hand.advance(1000);
  pass('c');
  assert.deepEqual(told, [{ 'deposit-check': { most: 2, windowMs: 600_000 } }]);
  pass('d');
  refuse('d', '60');
  await hand.advance(2999);
  pass('c');
  assert.equal(told.length, 1);
  await hand.advance(1);
  pass('c');
  assert.equal(told.length, 2);
});

test('limits are told again once a key is given up, but not after the last plan', async () => {
  const { hand, note, told, waiter } = waiterOf(limitsOf(10, 2), { maxDurationMs: 240_000 });
  const refuse = async (ms: number) => {
    await hand.advance(ms);
    note(limited(hand.clock.now(), '1'));
    await hand.advance(1100);
    tellLimits(waiter);
  };
  // The limit was used up before.
  await refuse(60_000);
  assert.equal(told.length, 1);
  for (const ms of [2000, 20_000]) await refuse(ms);
  assert.equal(told.length, 1);
  await refuse(60_000);
  assert.equal(told.length, 2);
  const { note: noteLater, hand: later, told: toldLater, waiter: last } = waiterOf(limitsOf(10, 2));
  stopTelling(last);
  noteLater(limited(later.clock.now(), '1'));
  await later.advance(1100);
  tellLimits(last);
  assert.deepEqual(toldLater, []);
});
