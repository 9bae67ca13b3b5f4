import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createSlots, inPool } from './pool.ts';

const ticks = async (count: number) => {
  for (let nth = 0; nth < count; nth++) await new Promise(setImmediate);
};

test('every item before the first that says stop is worked on, whatever each takes', async () => {
  const items = fc.array(fc.record({ takes: fc.nat(5), goesOn: fc.boolean() }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(items, fc.integer({ min: 1, max: 8 }), async (list, concurrency) => {
      const begun: number[] = [];
      let [atOnce, most] = [0, 0];
      await inPool([...list.entries()], createSlots(concurrency), async ([nth, { takes, goesOn }]) => {
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
    await inPool(Array.from({ length: items }), createSlots(concurrency), async () => {
      most = Math.max(most, ++atOnce);
      await ticks(3);
      atOnce--;
      return true;
    });
    assert.equal(most, expected);
  }
});

test('after a stop nothing more is begun, and nothing at all of an empty list', async () => {
  const begun: number[] = [];
  await inPool([1, 2, 3, 4], createSlots(1), async (item) => {
    begun.push(item);
    return item < 2;
  });
  assert.deepEqual(begun, [1, 2]);
  await inPool([], createSlots(4), () => assert.fail('there is nothing to work on'));
});

test('an error of the work comes out', async () => {
  const work = async () => {
    throw new RangeError('ours');
  };
  await assert.rejects(inPool([1, 2], createSlots(2), work), /ours/);
});

test('who shares the slots goes ahead when nothing is left to begin, and no slot is lost or taken twice', async () => {
  const lists = fc.array(fc.array(fc.record({ takes: fc.nat(3), goesOn: fc.boolean() }), { maxLength: 8 }), {
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(lists, fc.integer({ min: 1, max: 4 }), async (all, count) => {
      const slots = createSlots(count);
      let [atOnce, most] = [0, 0];
      const ended: Promise<void>[] = [];
      for (const list of all) {
        await new Promise<void>((begun) => {
          const pool = inPool(
            list,
            slots,
            async ({ takes, goesOn }) => {
              most = Math.max(most, ++atOnce);
              await ticks(takes);
              atOnce--;
              return goesOn;
            },
            begun,
          );
          ended.push(pool);
        });
      }
      await Promise.all(ended);
      assert.equal(atOnce, 0);
      assert.ok(most <= count);
      for (let nth = 0; nth < count; nth++) assert.equal(slots.take(), undefined, 'every slot is free again');
      assert.ok(slots.take() instanceof Promise, 'and there are no more of them');
    }),
    { numRuns: 50 },
  );
});
