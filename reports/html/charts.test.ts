import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { logScale, roundTicks } from './charts.ts';

const labels = (ticks: readonly { readonly label: string }[]) => ticks.map(({ label }) => label).join(' ');

test('an axis of latencies doubles from tick to tick, or more where there would be too many', () => {
  assert.equal(labels(logScale(0.9, 10, String).ticks), '0.5 1 2 4 8 16');
  assert.equal(labels(logScale(0.1, 1000, String).ticks), '0.0625 0.5 4 32 256 2048');
  assert.equal(labels(logScale(4, 4, String).ticks), '4 8');
  const { place } = logScale(1, 16, String);
  assert.deepEqual([0, 1, 2, 4, 16, 1000].map(place), [0, 0, 25, 50, 100, 100]);
});

const positive = fc.double({ min: 1e-9, max: 1e12, noNaN: true });

test('whatever the values, ticks are few, in order, and on the axis', () => {
  fc.assert(
    fc.property(positive, positive, (one, other) => {
      const [least, most] = [Math.min(one, other), Math.max(one, other)];
      const scale = logScale(least, most, String);
      for (const ticks of [scale.ticks, roundTicks(one, String)]) {
        const places = ticks.map(({ at }) => at);
        assert.ok(ticks.length >= 1 && ticks.length <= 8, String(ticks.length));
        assert.deepEqual(
          places,
          places.toSorted((a, b) => a - b),
        );
        assert.ok(places.every((at) => at >= 0 && at <= 100.001));
      }
      assert.ok(scale.place(least) <= scale.place(most));
    }),
  );
});
