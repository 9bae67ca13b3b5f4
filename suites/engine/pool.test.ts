import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { inPool } from './pool.ts';

const ticks = async (count: number) => {
  for (let nth = 0; nth < count; nth++) await new Promise(setImmediate);
};

test('every item before the first that says stop is worked on, whatever each takes', async () => {
  const items = fc.array(fc.record({ takes: fc.nat(5), goesOn: fc.boolean() }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(items, fc.integer({ min: 1, max: 8 }), async (list, concurrency) => {
      const begun: number[] = [];
      let [atOnce, most] = [0, 0];
      await inPool([...list.entries()], concurrency, async ([nth, { takes, goesOn }]) => {
        begun.push(nth);
        most = Math.max(most, ++atOnce);
        await ticks(takes);
        atOnce--;
        return goesOn;
      });
      assert.equal(atOnce, 0, 'nothing is left under way');
      assert.ok(most <= concurrency);
      assert.deepEqual(begun, [...begun.keys()], 'in order, each once');
      const first = list.findIndex(({ goesOn }) => !goesOn);
      if (first === -1) assert.equal(begun.length, list.length);
      else assert.ok(begun.length > first && begun.length <= first + concurrency * 6);
    }),
    { numRuns: 50 },
  );
});

test('as many are under way at once as is allowed, and no more', async () => {
  for (const [concurrency, items, expected] of [
    [1, 5, 1],
    [3, 5, 3],
    [16, 5, 5],
  ] as const) {
    let [atOnce, most] = [0, 0];
    await inPool(Array.from({ length: items }), concurrency, async () => {
      most = Math.max(most, ++atOnce);
      await ticks(3);
      atOnce--;
      return true;
    });
    assert.equal(most, expected);
  }
});

test('an error of the work comes out', async () => {
  const work = async () => {
    throw new RangeError('ours');
  };
  await assert.rejects(inPool([1, 2], 2, work), /ours/);
});
