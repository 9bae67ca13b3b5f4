import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createLatencies } from './latencies.ts';

function figuresOf(times: readonly number[]) {
  const latencies = createLatencies();
  for (const ms of times) latencies.add(ms);
  const figures = latencies.figures();
  assert.ok(figures !== undefined);
  return figures;
}

test('without an answer there are no figures', () => assert.equal(createLatencies().figures(), undefined));

test('a hundred latencies, 1 to 100 ms', () => {
  const { medianMs, p95Ms, p99Ms, maxMs } = figuresOf(Array.from({ length: 100 }, (_, at) => at + 1));
  for (const [figure, exact] of [
    [medianMs, 50],
    [p95Ms, 95],
    [p99Ms, 99],
  ] as const)
    assert.ok(Math.abs(figure - exact) <= exact * 0.05, `${figure} for ${exact}`);
  assert.equal(maxMs, 100);
});

test('the bounds of a bucket are written to four digits', () => {
  assert.deepEqual(figuresOf([3]).histogram, [{ fromMs: 2.828, toMs: 3.084, answers: 1 }]);
});

const latency = fc.double({ min: 0.07, max: 1e6, noNaN: true });

test('figures are true to 5 %, in order, and every answer stands in its bucket', () => {
  fc.assert(
    fc.property(fc.array(latency, { minLength: 1, maxLength: 200 }), (times) => {
      const sorted = times.toSorted((a, b) => a - b);
      const { answers, medianMs, p95Ms, p99Ms, maxMs, histogram } = figuresOf(times);
      const shares = [
        [medianMs, 0.5],
        [p95Ms, 0.95],
        [p99Ms, 0.99],
        [maxMs, 1],
      ] as const;
      for (const [figure, share] of shares) {
        const exact = sorted[Math.ceil(share * times.length) - 1]!;
        assert.ok(Math.abs(figure - exact) <= exact * 0.05, `${share}: ${figure} for ${exact}`);
      }
      assert.ok(medianMs <= p95Ms && p95Ms <= p99Ms && p99Ms <= maxMs);
      assert.equal(answers, times.length);
      for (const { fromMs, toMs, answers: number } of histogram) {
        // The bounds are written to four digits.
        const within = (slack: number) =>
          times.filter((ms) => ms >= fromMs * (1 + slack) && ms < toMs * (1 - slack)).length;
        assert.ok(within(0.001) <= number && number <= within(-0.001));
      }
      assert.equal(
        histogram.reduce((sum, bucket) => sum + bucket.answers, 0),
        times.length,
      );
    }),
  );
});

test('whatever the latencies, the histogram has 192 buckets at most', () => {
  const all = Array.from({ length: 4000 }, (_, at) => 2 ** (at / 40 - 30));
  assert.equal(figuresOf([0, ...all]).histogram.length, 192);
  assert.deepEqual(
    figuresOf([0, 1e12]).histogram.map(({ fromMs, answers }) => [fromMs, answers]),
    [
      [0.0625, 1],
      [961_500, 1],
    ],
  );
});
