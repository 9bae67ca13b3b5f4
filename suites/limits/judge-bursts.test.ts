import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sampleKnown } from '../testing/samples.ts';
import { explore } from './explore.ts';
import type { Burst } from './history.ts';
import { judgeBurst, judgeBursts } from './judge-bursts.ts';
import {
  keyOf,
  limitedContext,
  withBan,
  lateCounting,
  limiters,
  tokenBucket,
  steppedBucket,
  weightedWindow,
  type Limiter,
} from '../testing/simulated.ts';
import { randomOf } from '../model/covering.ts';

/** Number of simulated runs of each limiter. Example for more: `HISTORIES=10000`. */
const RUNS = Number(process.env['HISTORIES'] ?? 30);

type Make = (most: number, windowMs: number, random: () => number) => Limiter;

const at =
  (kind: string, more = 0, windows = 1): Make =>
  (most, windowMs, random) =>
    limiters[kind]!(Math.max(1, most + more), windows * windowMs, random() * windowMs);

/** Limiters that keep the limit. */
const legal: Readonly<Record<string, Make>> = {
  'fixed window': at('fixed'),
  'clock-aligned window, or bucket that is filled up at intervals': at('aligned'),
  'sliding window': at('sliding'),
  'sliding window that counts refusals': at('sliding, refusals counted'),
  'locked until a window without a try': at('locked until a window without a try'),
  'weighted sliding window': (most, windowMs, random) => weightedWindow(most, windowMs, random() * windowMs),
  'bucket that refills evenly': (most, windowMs) => tokenBucket(most, most / windowMs),
  'bucket that gets a quarter back at intervals': (most, windowMs, random) =>
    steppedBucket(most, windowMs, 4, random() * windowMs),
  'bucket that gets a part back every second': (most, windowMs, random) =>
    steppedBucket(most, windowMs, windowMs / 1000, random() * windowMs),
  'bucket that gets a tenth back at intervals': (most, windowMs, random) =>
    steppedBucket(most, windowMs, 10, random() * windowMs),
  'bucket that gets a twentieth back at intervals': (most, windowMs, random) =>
    steppedBucket(most, windowMs, 20, random() * windowMs),
  'fixed window with a ban of three windows': (most, windowMs, random) =>
    withBan(at('fixed')(most, windowMs, random), 3 * windowMs),
  'aligned window with a ban of ten windows': (most, windowMs, random) =>
    withBan(at('aligned')(most, windowMs, random), 10 * windowMs),
  // Its answers take 10 ms.
  'fixed window that counts after its look-up': (most, windowMs) => lateCounting(most, windowMs, 8),
  'clock-aligned window that counts after its look-up': (most, windowMs, random) =>
    lateCounting(most, windowMs, 8, -random() * windowMs),
};

/** Limiters that break the limit by more than any common kind explains. */
const faulty: Readonly<Record<string, Make>> = {
  'one too few, fixed': at('fixed', -1),
  'one too few, sliding': at('sliding', -1),
  'one too few, aligned': at('aligned', -1),
  'half as many': (most, windowMs, random) =>
    limiters['fixed']!(Math.ceil(most / 2), windowMs, random() * windowMs),
  'twice as many, fixed': (most, windowMs) => limiters['fixed']!(2 * most, windowMs, 0),
  'three times as many, sliding': (most, windowMs) => limiters['sliding']!(3 * most, windowMs, 0),
  'ten times as many': (most, windowMs) => limiters['fixed']!(10 * most, windowMs, 0),
  'no limiter': () => () => true,
  'window of a third': at('fixed', 0, 1 / 3),
  'sliding window of a half': at('sliding', 0, 1 / 2),
  'bucket of one that refills every 20 s': () => tokenBucket(1, 1 / 20_000),
  'bucket of a third that refills as promised': (most, windowMs) =>
    tokenBucket(Math.ceil(most / 3), most / windowMs),
  'bucket of twice as many': (most, windowMs) => tokenBucket(2 * most, most / windowMs),
  'bucket that refills three times as fast': (most, windowMs) => tokenBucket(most, (3 * most) / windowMs),
};

interface Scene {
  readonly latencyMs: number;
  readonly loss: number;
  /** Maximum pause of a target that stalls now and then, in ms. */
  readonly stallMs?: number;
}

const scenes: readonly Scene[] = [
  { latencyMs: 0, loss: 0 },
  { latencyMs: 2, loss: 0 },
  { latencyMs: 40, loss: 0 },
  { latencyMs: 150, loss: 0 },
  { latencyMs: 2, loss: 0.005 },
  { latencyMs: 2, loss: 0.05 },
  { latencyMs: 50, loss: 0.05 },
];

/** Time from sending to handling at a target that stalls now and then, in ms. */
function stalling(stallMs: number, random: () => number, now: () => number): () => number {
  let [begin, end] = [0, 0];
  return () => {
    while (now() >= end) {
      begin = Math.max(end, 1) + random() * 2 * stallMs;
      end = begin + random() * stallMs;
    }
    return random() * 30 + (now() < begin ? 0 : end - now());
  };
}

/** The result of a simulated limiter. Equal seeds give equal runs. */
async function outcomeOf(
  make: Make,
  seed: number,
  isLate = false,
  { latencyMs, loss, stallMs }: Scene = scenes[seed % scenes.length]!,
): Promise<string> {
  const random = randomOf(seed);
  const most = 8 + Math.floor(random() * 60);
  const windowSeconds = 1 + Math.floor(random() * 4);
  const losses = new Map<number, boolean>();
  const isLost = (nth: number) => {
    const known = losses.get(nth) ?? random() < loss;
    losses.set(nth, known);
    return known;
  };
  const meets =
    stallMs === undefined ? () => random() * latencyMs : stalling(stallMs, random, () => context.now());
  const { context } = limitedContext(() => make(most, windowSeconds * 1000, random), {
    account: keyOf,
    ...(isLate || stallMs !== undefined ? { meets } : { slowness: latencyMs / 2 }),
    isLost,
    isLostBefore: (nth) => nth % 2 === 0,
    windowMs: windowSeconds * 1000,
    seed,
  });
  const known = { ...sampleKnown, limits: { 'deposit-check': { requests: most, windowSeconds } } };
  const { judgement } = await explore('deposit-check', context, known);
  return judgement?.kind ?? 'none';
}

async function outcomesOf(
  make: Make,
  { isLate = false, runs = RUNS } = {},
): Promise<Readonly<Record<string, readonly number[]>>> {
  const outcomes: Record<string, number[]> = {};
  for (let seed = 0; seed < runs; seed++) (outcomes[await outcomeOf(make, seed, isLate)] ??= []).push(seed);
  return outcomes;
}

describe('a correct limiter never fails and is mostly decided', () => {
  for (const [name, make] of Object.entries(legal))
    test(name, async () => {
      const isLate = name.includes('after its look-up');
      // About three quarters of these are kept: fewer runs would say too little.
      const runs = isLate ? 3 * RUNS : RUNS;
      const { broken = [], kept = [] } = await outcomesOf(make, { isLate, runs });
      assert.deepEqual(broken, []);
      assert.ok(kept.length > 0.7 * runs, `${kept.length} of ${runs} kept`);
    });
});

test('nor does a bucket fail that is refilled every second, for any window', async () => {
  for (const [most, windowSeconds] of [
    [100, 25],
    [90, 45],
  ] as const)
    for (let seed = 0; seed < 8; seed++) {
      const make = () => steppedBucket(most, windowSeconds * 1000, windowSeconds, 1000 * randomOf(seed)());
      const { context } = limitedContext(make, {
        account: keyOf,
        windowMs: windowSeconds * 1000,
        slowness: 20,
        seed,
      });
      const known = { ...sampleKnown, limits: { 'deposit-check': { requests: most, windowSeconds } } };
      const { judgement } = await explore('deposit-check', context, known);
      assert.equal(judgement?.kind, 'kept');
    }
});

test('windows that end during bursts are not taken for late counting', async () => {
  const limit = { requests: 60, windowSeconds: 1 };
  for (const [name, make] of Object.entries(legal).filter(([one]) =>
    /^clock-aligned window,|^weighted/.test(one),
  ))
    for (let seed = 100; seed < 108; seed++) {
      const random = randomOf(seed);
      const limiter = () => make(limit.requests, 1000, random);
      const more = { account: keyOf, meets: () => 10 * random(), windowMs: 1000, seed };
      const { context } = limitedContext(limiter, more);
      const known = { ...sampleKnown, limits: { 'deposit-check': limit } };
      const { judgement } = await explore('deposit-check', context, known);
      assert.equal(judgement?.kind, 'kept');
      assert.ok((judgement.countsLater ?? 0) < 2, `${name}, seed ${seed}`);
    }
});

describe('a target that stalls now and then is never judged wrongly', () => {
  for (const [name, make] of [...Object.entries(legal), ...Object.entries(faulty)])
    test(name, async () => {
      const wrong = name in legal ? 'broken' : 'kept';
      for (let seed = 0; seed < RUNS / 10; seed++)
        for (const stallMs of [500, 2000, 8000])
          assert.notEqual(
            await outcomeOf(make, seed, false, { latencyMs: 0, loss: 0, stallMs }),
            wrong,
            `${seed}`,
          );
    });
});

/** A burst of requests `stepMs` apart, of which the last one gets a 429. */
function passing(passed: number, { startedAt = 0, stepMs = 1, tookMs = 1, inFlight = 2 } = {}): Burst {
  const history = Array.from({ length: passed + 1 }, (_, nth) => ({
    sentAt: startedAt + nth * stepMs,
    receivedAt: startedAt + nth * stepMs + tookMs,
    result: nth < passed ? ('passed' as const) : ('refused' as const),
  }));
  return { startedAt, history, inFlight };
}

test('a window boundary within a fast burst is no break', () => {
  const quick = (startedAt: number) => passing(8, { startedAt, stepMs: 5 });
  const limit = { most: 4, windowMs: 2000 };
  assert.deepEqual(judgeBursts([quick(0), quick(20_000)], limit), { kind: 'kept' });
  assert.equal(judgeBursts([quick(0), quick(20_500)], limit).kind, 'broken');
});

test('two bursts that a boundary explains decide only if both are fast and complete', () => {
  const twice = (startedAt: number, stepMs: number, lost = 0): Burst => {
    const sighting = (ms: number, result: 'passed' | 'refused' | 'lost') => ({
      sentAt: startedAt + ms,
      receivedAt: startedAt + ms + 1,
      result,
    });
    const passes = Array.from({ length: 4 }, (_, nth) => sighting(nth * stepMs, 'passed'));
    const more = Array.from({ length: 4 }, (_, nth) => sighting(1000 + nth, 'passed'));
    const losses = Array.from({ length: lost }, () => sighting(1005, 'lost'));
    const history = [
      ...passes,
      sighting(4 * stepMs, 'refused'),
      ...more,
      ...losses,
      sighting(1010, 'refused'),
    ];
    return { startedAt, history, inFlight: 2 };
  };
  const limit = { most: 4, windowMs: 2000 };
  const boundary = { kind: 'kept' };
  assert.deepEqual(judgeBursts([twice(0, 1), twice(20_000, 1)], limit), boundary);
  assert.equal(judgeBursts([twice(0, 1), twice(20_000, 1, 1)], limit).kind, 'again');
  assert.equal(judgeBursts([twice(0, 50), twice(20_000, 50)], limit).kind, 'again');
  const four = [0, 20_000, 40_000, 60_000].map((startedAt) => twice(startedAt, 50));
  assert.deepEqual(judgeBursts(four, limit), boundary);
});

test('a burst with lost requests that may hide fewer passes is tried three times', () => {
  const burst = (passed: number, lost: number): Burst => ({
    startedAt: 0,
    history: [
      ...Array.from({ length: passed }, () => ({ sentAt: 0, receivedAt: 1, result: 'passed' as const })),
      ...Array.from({ length: lost }, () => ({ sentAt: 0, receivedAt: Infinity, result: 'lost' as const })),
      ...[2, 1500].map((sentAt) => ({ sentAt, receivedAt: sentAt + 1, result: 'refused' as const })),
    ],
    inFlight: 4,
  });
  const limit = { most: 10, windowMs: 2000 };
  const three = [burst(9, 1), burst(9, 1), burst(9, 1)];
  const kinds = [1, 2, 3].map((tries) => judgeBursts(three.slice(0, tries), limit).kind);
  assert.deepEqual(kinds, ['again', 'again', 'kept']);
  assert.equal(judgeBursts([burst(10, 1)], limit).kind, 'kept');
  assert.equal(judgeBursts([burst(8, 1), burst(9, 0)], limit).kind, 'broken');
  assert.equal(judgeBursts([burst(8, 1), ...three], limit).kind, 'again', 'fewer passed before');
  const half = [burst(5, 5), burst(5, 5), burst(5, 5)];
  assert.equal(judgeBursts(half, limit).kind, 'open', 'half as many would do as well');
});

test('three consecutive answers other than pass or 429 replace the 429; lost requests do not', () => {
  const finding = (passed: number, tail: number, tookMs = 1) => {
    const history = Array.from({ length: passed + tail }, (_, nth) =>
      nth < passed
        ? { sentAt: nth, receivedAt: nth + 1, result: 'passed' as const }
        : { sentAt: nth, receivedAt: nth + tookMs, result: 'lost' as const, words: '503' },
    );
    return judgeBurst({ startedAt: 0, history, inFlight: 2 }, { most: 4, windowMs: 2000 });
  };
  assert.deepEqual(finding(4, 3), { kind: 'instead', passed: 4, words: '503' });
  for (const [passed, tail, tookMs] of [
    [4, 2],
    [3, 5],
    [4, 5, Infinity],
  ] as const)
    assert.deepEqual(finding(passed, tail, tookMs), { kind: 'lost' });
});

test('five bursts that nothing explains are enough', () => {
  const limit = { most: 4, windowMs: 2000 };
  const mixed = [6, 3, 4, 4, 4].map((passed, nth) => passing(passed, { startedAt: nth * 20_700 }));
  assert.equal(judgeBursts(mixed.slice(0, 4), limit).kind, 'again');
  assert.equal(judgeBursts(mixed, limit).kind, 'open');
});

test('a slow burst that a bucket explains does not excuse a fast one with fewer passes', () => {
  const quick = passing(50, { tookMs: 10, inFlight: 1 });
  // A window of 50 in 3 s ends during the burst.
  const slow = passing(80, { stepMs: 60, tookMs: 10, inFlight: 1 });
  assert.notEqual(judgeBursts([quick, slow], { most: 60, windowMs: 3000 }).kind, 'kept');
});

test('bursts longer than a window do not show that a limit is kept', () => {
  // A window of 30 in 3 s, twice.
  const slow = (startedAt: number) => passing(60, { startedAt, stepMs: 98, tookMs: 90 });
  const { kind } = judgeBursts([0, 20_000, 40_000].map(slow), { most: 60, windowMs: 3000 });
  assert.equal(kind, 'open');
  // The first of five is answered last, and may have passed in the next window.
  const late = [2100, 11, 12, 13, 14, 15].map((receivedAt, sentAt) => ({
    sentAt,
    receivedAt,
    result: sentAt < 5 ? ('passed' as const) : ('refused' as const),
  }));
  const finding = judgeBurst({ startedAt: 0, history: late, inFlight: 2 }, { most: 4, windowMs: 2000 });
  assert.equal(finding.kind, 'tooSlow');
});

describe('a wrong limiter never passes and mostly fails', () => {
  for (const [name, make] of Object.entries(faulty))
    test(name, async () => {
      const { kept = [], broken = [] } = await outcomesOf(make);
      // The lost request may be the missing one. A window may end during slow bursts.
      const mayHide = ({ latencyMs, loss }: Scene) => loss > 0 || latencyMs > 2;
      const isExcused = (seed: number) =>
        name.startsWith('one too few') && mayHide(scenes[seed % scenes.length]!);
      assert.deepEqual(
        kept.filter((seed) => !isExcused(seed)),
        [],
      );
      assert.ok(broken.length > 0.6 * RUNS, `${broken.length} of ${RUNS} broken`);
    });
});
