import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Rule, Sighting } from './history.ts';
import { judge } from './judge.ts';
import { limiters, noise, refilled, weighted, type Limiter } from './simulated.ts';

const manners = fc.constantFrom(...Object.keys(limiters));
const rules = fc.record({
  most: fc.integer({ min: 1, max: 20 }),
  windowMs: fc.integer({ min: 1000, max: 4000 }),
});

/** Bursts at any times, each request with latencies of its own on the way and back. */
const traffic = (windowMs: number, most: number) =>
  fc
    .array(
      fc.record({
        gap: fc.oneof(fc.integer({ min: 0, max: 2 * windowMs }), fc.constant(windowMs + 120)),
        count: fc.integer({ min: 1, max: 2 * most + 4 }),
        slowness: fc.constantFrom(0, 2, 80, windowMs / 2, windowMs),
        latencies: fc.integer().map(noise),
      }),
      { minLength: 1, maxLength: 5 },
    )
    .map((bursts) => {
      let at = 10_000;
      return bursts.flatMap(({ gap, count, slowness, latencies }) => {
        at += gap;
        return Array.from({ length: count }, () => {
          const sentAt = at;
          const instant = sentAt + latencies() * slowness;
          return { sentAt, instant, receivedAt: instant + latencies() * slowness };
        });
      });
    });

/** What one sees of a limiter: whoever comes first is asked first. */
function seen(
  limiter: Limiter,
  requests: readonly { sentAt: number; instant: number; receivedAt: number }[],
) {
  return requests
    .toSorted((a, b) => a.instant - b.instant)
    .map(({ sentAt, instant, receivedAt }): Sighting => ({ sentAt, receivedAt, passed: limiter(instant) }));
}

const histories = (limiterOf: (manner: string, rule: Rule, phase: number) => Limiter) =>
  fc.tuple(rules, manners, fc.double({ min: 0, max: 1, noNaN: true })).chain(([rule, manner, phase]) =>
    traffic(rule.windowMs, rule.most).map((requests) => ({
      rule,
      history: seen(limiterOf(manner, rule, phase * rule.windowMs), requests),
    })),
  );

const runs = { numRuns: 10_000, seed: 4 };

describe('a limiter that keeps its rule', () => {
  test('is never said to break it, however its windows lie', () => {
    const kept = histories((manner, { most, windowMs }, phase) => limiters[manner]!(most, windowMs, phase));
    fc.assert(
      fc.property(kept, ({ rule, history }) => judge(history, rule).kind !== 'broken'),
      runs,
    );
  });

  test('nor one that weighs the window before', () => {
    const kept = histories((_, { most, windowMs }, phase) => weighted(most, windowMs, phase));
    fc.assert(
      fc.property(kept, ({ rule, history }) => judge(history, rule).kind !== 'broken'),
      { ...runs, numRuns: 2000 },
    );
  });

  test('nor one that holds a bucket, or a smaller one', () => {
    const kept = fc
      .tuple(
        rules,
        fc.double({ min: 0.3, max: 1, noNaN: true }),
        fc.double({ min: 0.3, max: 1, noNaN: true }),
      )
      .chain(([rule, size, speed]) =>
        traffic(rule.windowMs, rule.most).map((requests) => ({
          rule,
          history: seen(
            refilled(Math.max(1, Math.floor(size * rule.most)), (speed * rule.most) / rule.windowMs),
            requests,
          ),
        })),
      );
    fc.assert(
      fc.property(kept, ({ rule, history }) => judge(history, rule).kind !== 'broken'),
      { ...runs, numRuns: 2000 },
    );
  });
});

describe('a limiter that breaks its rule', () => {
  const wrongs: readonly ((rule: Rule) => Rule)[] = [
    ({ most, windowMs }) => ({ most: most + 1, windowMs }),
    ({ most, windowMs }) => ({ most: Math.max(1, most - 1), windowMs }),
    ({ most, windowMs }) => ({ most: most + 3, windowMs }),
    ({ most, windowMs }) => ({ most: most * 10, windowMs }),
  ];
  test('is never said to keep it', () => {
    const broken = fc
      .tuple(rules, manners, fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(...wrongs))
      .map(([rule, manner, phase, wrong]) => ({ rule, manner, phase, actual: wrong(rule) }))
      .filter(({ rule, actual }) => actual.most !== rule.most)
      .chain(({ rule, manner, phase, actual }) =>
        traffic(rule.windowMs, rule.most).map((requests) => ({
          rule,
          letsMore: actual.most > rule.most,
          history: seen(limiters[manner]!(actual.most, actual.windowMs, phase * actual.windowMs), requests),
        })),
      );
    fc.assert(
      fc.property(broken, ({ rule, letsMore, history }) => {
        const judgement = judge(history, rule);
        return (
          judgement.kind !== 'kept' && !(letsMore && judgement.kind === 'open' && judgement.isStrictEnough)
        );
      }),
      runs,
    );
  });
});

/** What an exploration sends, with latencies up to 80 ms: a burst, one request early on, and a burst more than a window later. */
function settledBursts(limiter: Limiter, { most, windowMs }: Rule, seed: number): readonly Sighting[] {
  const latency = noise(seed);
  const plan = [
    [10_000, most + 4],
    [10_000 + 0.3 * windowMs, 1],
    [10_000 + 1.3 * windowMs + 150, most + 4],
  ] as const;
  const bursts = plan.flatMap(([sentAt, length]) =>
    Array.from({ length }, () => {
      const instant = sentAt + latency() * 40;
      return { sentAt, instant, receivedAt: instant + latency() * 40 };
    }),
  );
  return seen(limiter, bursts);
}

describe('two settled bursts decide', () => {
  for (const manner of ['fixed', 'sliding'])
    for (const [more, expected] of [
      [0, 'kept'],
      [1, 'broken'],
      [-1, 'broken'],
    ] as const)
      test(`${manner}, ${more} off: ${expected} in 200 of 200`, () => {
        for (let seed = 0; seed < 200; seed++) {
          // Fewer than these a bucket may win back between the bursts, and still refuse the one request early on.
          const rule = { most: 8 + (seed % 60), windowMs: 1000 + 37 * (seed % 50) };
          const history = settledBursts(limiters[manner]!(rule.most + more, rule.windowMs, 0), rule, seed);
          const judgement = judge(history, rule);
          assert.equal(judgement.kind, expected, `seed ${seed}: ${JSON.stringify(judgement)}`);
        }
      });
});
