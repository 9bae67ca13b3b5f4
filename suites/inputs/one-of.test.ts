import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { oneOf } from './one-of.ts';

test('one of some is drawn as fast-check does it', () => {
  const items = ['a', 'b', 'c'];
  const options = { seed: 7, numRuns: 50 };
  assert.deepEqual(fc.sample(oneOf(items), options), fc.sample(fc.constantFrom(...items), options));
});

test('one of a million is drawn, from all over them', () => {
  const items = Array.from({ length: 1_000_000 }, (_, n) => n);
  const drawn = fc.sample(oneOf(items), { seed: 7, numRuns: 1000 });
  for (let tenth = 0; tenth < 10; tenth++)
    assert.ok(
      drawn.some((n) => Math.floor(n / 100_000) === tenth),
      String(tenth),
    );
});
