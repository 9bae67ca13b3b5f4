import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { randomOf } from '../model/covering.ts';
import { sampleKnown } from '../testing/samples.ts';
import { keyOf, lateCounting, limitedContext, limiters, type Limiter } from '../testing/simulated.ts';
import { explore } from './explore.ts';
import type { Burst, TimedRequest } from './history.ts';
import { judgeBurst, judgeBursts } from './judge-bursts.ts';
import type { RateLimit } from './limit.ts';

/** Number of simulated runs of each limiter. Example for more: `HISTORIES=10000`. */
const RUNS = Number(process.env['HISTORIES'] ?? 21);

type Make = (most: number, windowMs: number, phase: number) => Limiter;

/** Limiters that keep the limit, but requests in flight pass too. */
const late: Readonly<Record<string, Make>> = {
  'fixed window': (most, windowMs) => lateCounting(most, windowMs, 8),
  'clock-aligned window': (most, windowMs, phase) => lateCounting(most, windowMs, 8, -phase),
};

/** Limiters of a kind with so many times the limit, so many more, and a window of so many. */
const faulty: Readonly<
  Record<string, readonly [kind: string, times: number, more?: number, windows?: number]>
> = {
  'one too few, fixed': ['fixed', 1, -1],
  'one too few, sliding': ['sliding', 1, -1],
  'one too few, aligned': ['aligned', 1, -1],
  'one too many, fixed': ['fixed', 1, 1],
  'one too many, sliding': ['sliding', 1, 1],
  'half as many': ['fixed', 1 / 2],
  'twice as many, fixed': ['fixed', 2],
  'three times as many, sliding': ['sliding', 3],
  'ten times as many': ['fixed', 10],
  'no limiter': ['fixed', Infinity],
  'window of a third': ['fixed', 1, 0, 1 / 3],
  'sliding window of a half': ['sliding', 1, 0, 1 / 2],
  'bucket of one that refills in ten windows': ['bucket', 0, 1, 10],
  'bucket of a third that refills as promised': ['bucket', 1 / 3, 0, 1 / 3],
  'bucket of twice as many that refills as promised': ['bucket', 2, 0, 2],
  'bucket that refills three times as fast': ['bucket', 1, 0, 1 / 3],
};
const makeOf =
  ([kind, times, more = 0, windows = 1]: (typeof faulty)[string]): Make =>
  (most, windowMs, phase) =>
    limiters[kind]!(Math.ceil(times * most) + more, windows * windowMs, phase * windows);

interface Scene {
  readonly latencyMs?: number;
  readonly loss?: number;
  /** Maximum pause of a target that stalls now and then, in ms. */
  readonly stallMs?: number;
  /** Whether only requests are slow, and each answer takes 10 ms. */
  readonly isFastBack?: boolean;
  /** The limit, by default at random. */
  readonly most?: number;
  readonly windowSeconds?: number;
}

const scenes: readonly Scene[] = [
  {},
  { latencyMs: 2 },
  { latencyMs: 40 },
  { latencyMs: 150 },
  { latencyMs: 2, loss: 0.005 },
  { latencyMs: 2, loss: 0.05 },
  { latencyMs: 50, loss: 0.05 },
];
const sceneOf = (seed: number) => scenes[seed % scenes.length]!;

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

/** What bursts show about a simulated limiter. Equal seeds give equal runs. */
async function outcomeOf(make: Make, seed: number, scene = sceneOf(seed)) {
  const random = randomOf(seed);
  const [number, seconds] = [8 + Math.floor(random() * 60), 1 + Math.floor(random() * 4)];
  const { latencyMs = 0, loss = 0, stallMs, isFastBack = false } = scene;
  const { most = number, windowSeconds = seconds } = scene;
  const meets =
    stallMs === undefined ? () => random() * latencyMs : stalling(stallMs, random, () => context.now());
  const { context } = limitedContext(
    () => make(most, windowSeconds * 1000, random() * windowSeconds * 1000),
    {
      account: keyOf,
      ...(isFastBack || stallMs !== undefined ? { meets } : { slowness: latencyMs / 2 }),
      isLost: () => random() < loss,
      isLostBefore: (nth) => nth % 2 === 0,
      windowMs: windowSeconds * 1000,
      seed,
    },
  );
  const known = { ...sampleKnown, limits: { 'deposit-check': { requests: most, windowSeconds } } };
  const { judgement } = await explore('deposit-check', context, known);
  const isLate = judgement?.kind === 'kept' && (judgement.countsLater ?? 0) > 1;
  return isLate ? 'late' : judgement!.kind;
}

/** The seeds of each outcome. */
async function seedsOf(make: Make, scene: Scene = {}, runs = RUNS, from = 0) {
  const seeds: Record<Awaited<ReturnType<typeof outcomeOf>>, number[]> = {
    kept: [],
    late: [],
    broken: [],
    open: [],
    again: [],
  };
  for (let seed = from; seed < from + runs; seed++)
    seeds[await outcomeOf(make, seed, { ...sceneOf(seed), ...scene })].push(seed);
  return seeds;
}

describe('a correct limiter never fails and is mostly decided', () => {
  for (const [name, make] of Object.entries(limiters))
    test(name, async () => {
      const { broken, kept, late: isLate } = await seedsOf(make);
      assert.deepEqual([broken, isLate], [[], []]);
      assert.ok(kept.length > 0.6 * RUNS, `${kept.length} of ${RUNS} kept`);
    });
  for (const [name, make] of Object.entries(late))
    test(`${name} that counts after its look-up`, async () => {
      // Fewer runs would say too little.
      const runs = 3 * RUNS;
      const { broken, kept, late: isLate } = await seedsOf(make, { isFastBack: true }, runs);
      assert.deepEqual(broken, []);
      assert.ok(isLate.length > 0.6 * runs, `${isLate.length} of ${runs} late`);
      assert.ok(kept.length + isLate.length > 0.7 * runs, `${kept.length} of ${runs} kept`);
    });
  for (const [most, windowSeconds] of [
    [100, 25],
    [90, 45],
  ] as const)
    test(`a bucket of ${most} that is refilled every second for ${windowSeconds} s`, async () => {
      const scene = { latencyMs: 40, loss: 0, most, windowSeconds };
      const { kept } = await seedsOf(limiters['bucket, a part each second']!, scene, 8);
      assert.equal(kept.length, 8);
    });
  for (const name of ['aligned', 'weighted'])
    test(`${name}, often ending during bursts: nothing is counted late`, async () => {
      const scene = { latencyMs: 10, loss: 0, isFastBack: true, most: 60, windowSeconds: 1 };
      const { kept } = await seedsOf(limiters[name]!, scene, 8, 100);
      assert.equal(kept.length, 8);
    });
});

describe('a wrong limiter never passes and mostly fails', () => {
  for (const [name, what] of Object.entries(faulty))
    test(name, async () => {
      const { kept, late: isLate, broken } = await seedsOf(makeOf(what));
      // The lost request may be the missing one. A window may end during slow bursts.
      const mayHide = (seed: number) => {
        const { latencyMs = 0, loss = 0 } = sceneOf(seed);
        return name.startsWith('one too') && (loss > 0 || latencyMs > 2);
      };
      assert.deepEqual(
        [...kept, ...isLate].filter((seed) => !mayHide(seed)),
        [],
      );
      assert.ok(broken.length > 0.6 * RUNS, `${broken.length} of ${RUNS} broken`);
    });
});

describe('a target that stalls now and then is never judged wrongly', () => {
  for (const [wrong, some] of [
    ['broken', { ...limiters, ...late }],
    ['kept', Object.fromEntries(Object.entries(faulty).map(([name, what]) => [name, makeOf(what)]))],
  ] as const)
    for (const [name, make] of Object.entries(some))
      test(name, async () => {
        for (const stallMs of [500, 2000, 8000])
          assert.deepEqual((await seedsOf(make, { latencyMs: 0, loss: 0, stallMs }, RUNS / 7))[wrong], []);
      });
});

const four: RateLimit = { most: 4, windowMs: 2000 };
const sixty: RateLimit = { most: 60, windowMs: 3000 };

/** So many requests with the same result, `stepMs` apart. */
const requests = (
  result: TimedRequest['result'],
  count: number,
  from = 0,
  stepMs = 1,
  tookMs = 1,
): readonly TimedRequest[] =>
  Array.from({ length: count }, (_, nth) => {
    const sentAt = from + nth * stepMs;
    return { sentAt, receivedAt: sentAt + tookMs, result, ...(result === 'lost' && { words: '503' }) };
  });
const burst = (startedAt: number, isPaused: boolean, ...parts: (readonly TimedRequest[])[]): Burst => ({
  startedAt,
  isPaused,
  history: parts.flat().map((one) => ({
    ...one,
    sentAt: startedAt + one.sentAt,
    receivedAt: startedAt + one.receivedAt,
  })),
});
/** Passes, and then one 429. */
const passing = (passed: number, startedAt = 0, stepMs = 1, tookMs = 1, isPaused = false) =>
  burst(
    startedAt,
    isPaused,
    requests('passed', passed, 0, stepMs, tookMs),
    requests('refused', 1, passed * stepMs, 1, tookMs),
  );
/** Four pass, then four more after half a window. */
const twice = (startedAt: number, stepMs: number, lost = 0) =>
  burst(
    startedAt,
    false,
    requests('passed', 4, 0, stepMs),
    requests('refused', 1, 4 * stepMs),
    requests('passed', 4, 1000),
    requests('lost', lost, 1005),
    requests('refused', 1, 1010),
  );
/** Some requests are lost, so that ten may have been counted. */
const losing = (passed: number, lost: number) =>
  burst(
    0,
    false,
    requests('passed', passed, 0, 0),
    requests('lost', lost, 0, 0, Infinity),
    requests('refused', 2, 2, 1498),
  );
const ten: RateLimit = { most: 10, windowMs: 2000 };
const mixed = [6, 3, 4, 4, 4].map((passed, nth) => passing(passed, nth * 20_700));

const cases: readonly (readonly [name: string, RateLimit, readonly Burst[], says: string])[] = [
  ['a boundary in fast bursts', four, [passing(8, 0, 5), passing(8, 20_000, 5)], 'kept'],
  ['at two phases', four, [passing(8, 0, 5), passing(8, 20_500, 5)], 'broken'],
  ['a boundary in two bursts', four, [twice(0, 1), twice(20_000, 1)], 'kept'],
  ['with a lost request', four, [twice(0, 1), twice(20_000, 1, 1)], 'again'],
  ['in two slow bursts', four, [twice(0, 50), twice(20_000, 50)], 'again'],
  ['in four slow ones', four, [0, 20_000, 40_000, 60_000].map((from) => twice(from, 50)), 'kept'],
  ['a loss that may hide fewer', ten, [losing(9, 1)], 'again'],
  ['twice', ten, [losing(9, 1), losing(9, 1)], 'again'],
  ['three times', ten, [losing(9, 1), losing(9, 1), losing(9, 1)], 'kept'],
  ['after fewer', ten, [losing(8, 1), losing(9, 1), losing(9, 1), losing(9, 1)], 'again'],
  ['a loss beside enough passes', ten, [losing(10, 1)], 'kept'],
  ['fewer, whatever was lost, twice', ten, [losing(8, 1), losing(9, 0)], 'broken'],
  ['losses that may hide half as many', ten, [losing(5, 5), losing(5, 5), losing(5, 5)], 'open'],
  ['four bursts that nothing explains', four, mixed.slice(0, 4), 'again'],
  ['five of them', four, mixed, 'open'],
  [
    // A window of 50 in 3 s ends during the second.
    'a slow burst that a bucket explains, after a fast one with fewer passes',
    sixty,
    [passing(50, 0, 1, 10, true), passing(80, 0, 60, 10, true)],
    'again',
  ],
  [
    // A window of 30 in 3 s, twice.
    'bursts longer than a window',
    sixty,
    [0, 20_000, 40_000].map((from) => passing(60, from, 98, 90)),
    'open',
  ],
];

describe('bursts of a kind', () => {
  for (const [name, limit, bursts, says] of cases)
    test(`${name}: ${says}`, () => assert.equal(judgeBursts(bursts, limit).kind, says));
  for (const [passed, tail, tookMs, says] of [
    [4, 3, 1, 'instead'],
    [4, 2, 1, 'lost'],
    [3, 5, 1, 'lost'],
    [4, 5, Infinity, 'lost'],
  ] as const)
    test(`${passed} passes, then ${tail} other answers after ${tookMs} ms: ${says}`, () => {
      const tried = burst(0, false, requests('passed', passed), requests('lost', tail, passed, 1, tookMs));
      const { kind, words } = judgeBurst(tried, four);
      assert.deepEqual([kind, words], [says, says === 'instead' ? '503' : undefined]);
    });
  test('a first answer that comes last may be of the next window', () => {
    const tried = burst(
      0,
      false,
      requests('passed', 1, 0, 1, 2100),
      requests('passed', 4, 1),
      requests('refused', 1, 5),
    );
    assert.equal(judgeBurst(tried, four).kind, 'too slow');
  });
});

test('a burst of ten thousand requests is judged at once', () => {
  const limit = { most: 5000, windowMs: 60_000 };
  const refused = [requests('refused', 30, 10_000), requests('refused', 2, 36_000, 18_000)];
  const big = burst(0, false, requests('passed', 10_000, 0, 1, 200), ...refused);
  const startedAt = performance.now();
  assert.equal(judgeBurst(big, limit).kind, 'more');
  assert.ok(performance.now() - startedAt < 1000, `${performance.now() - startedAt} ms`);
});
