import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chanceOf, drawsFor } from './statistics.ts';

test('the fewer lookups failed, the more must pass', () => {
  const draws = [1, 2, 4, 8, 20].map((of) => drawsFor({ failed: 1, of }));
  assert.deepEqual(draws, [6, 6, 14, 30, 40]);
});

test("Fisher's exact test, as tables give it", () => {
  const tea = chanceOf({ failed: 3, of: 4 }, { failed: 1, of: 4 });
  assert.ok(Math.abs(tea - 0.4857) < 1e-4);
  assert.ok(Math.abs(chanceOf({ failed: 2, of: 2 }, { failed: 0, of: 6 }) - 1 / 28) < 1e-9);
  assert.equal(chanceOf({ failed: 6, of: 6 }, { failed: 10, of: 10 }), 1);
});
