import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Rule, Sighting } from './history.ts';
import { judge } from './judge.ts';

/** Whether a counted request passes at an instant; remembers it if so. */
type Limiter = (instant: number) => boolean;

/** Limiters as servers have them, written without a look at the judge. */
const limiters: Readonly<Record<string, (most: number, windowMs: number, phase: number) => Limiter>> = {
  fixed: (most, windowMs) => {
    let start = Number.NEGATIVE_INFINITY;
    let count = 0;
    return (instant) => {
      if (instant >= start + windowMs) [start, count] = [instant, 0];
      if (count >= most) return false;
      count++;
      return true;
    };
  },
  aligned: (most, windowMs, phase) => {
    let window = Number.NaN;
    let count = 0;
    return (instant) => {
      const at = Math.floor((instant - phase) / windowMs);
      if (at !== window) [window, count] = [at, 0];
      if (count >= most) return false;
      count++;
      return true;
    };
  },
  sliding: (most, windowMs) => {
    let hits: number[] = [];
    return (instant) => {
      hits = hits.filter((hit) => hit > instant - windowMs);
      if (hits.length >= most) return false;
      hits.push(instant);
      return true;
    };
  },
  'sliding, refusals counted': (most, windowMs) => {
    let hits: number[] = [];
    return (instant) => {
      hits = hits.filter((hit) => hit > instant - windowMs);
      hits.push(instant);
      return hits.length <= most;
    };
  },
  'locked until a window without a try': (most, windowMs) => {
    let hits: number[] = [];
    let locked = Number.NEGATIVE_INFINITY;
    return (instant) => {
      const isLocked = instant < locked + windowMs;
      if (!isLocked) hits = hits.filter((hit) => hit > instant - windowMs);
      if (isLocked || hits.length >= most) {
        if (!isLocked) hits = [];
        locked = instant;
        return false;
      }
      hits.push(instant);
      return true;
    };
  },
};

const refilled = (holds: number, perMs: number): Limiter =>
  // Full to begin with.
  (() => {
    let level = holds;
    let last = 0;
    return (instant: number) => {
      level = Math.min(holds, level + (instant - last) * perMs);
      last = instant;
      if (level < 1) return false;
      level--;
      return true;
    };
  })();

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
        latencies: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      }),
      { minLength: 1, maxLength: 5 },
    )
    .map((bursts) => {
      let at = 10_000;
      return bursts.flatMap(({ gap, count, slowness, latencies }) => {
        at += gap;
        return Array.from({ length: count }, () => {
          const sentAt = at;
          const instant = sentAt + latencies.next().value! * slowness;
          return { sentAt, instant, receivedAt: instant + latencies.next().value! * slowness };
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
