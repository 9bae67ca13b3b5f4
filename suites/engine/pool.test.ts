import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Turn } from '../limits/limiter.ts';
import { createPool } from './pool.ts';

interface Item {
  readonly group: string;
  readonly nth: number;
}

const item = (group: string, nth: number): Item => ({ group, nth });
const [now, later, reply] = [
  { kind: 'now' },
  { kind: 'at', at: 9, reason: 'rest', why: 'w' },
  { kind: 'reply' },
] as const;

/** A pool of these items, and a function that takes the next one by the turns of the groups. */
function poolOf(...items: readonly Item[]) {
  const pool = createPool(items.values(), ({ group }) => group);
  const next = (turns: Readonly<Record<string, Turn>>) => pool.next(({ group }) => turns[group]!);
  return { ...pool, next };
}

test('those that must wait let others pass, however many there are, and keep their order', () => {
  const waiting = Array.from({ length: 1000 }, (_, nth) => item('a', nth));
  const { next, held } = poolOf(...waiting, item('b', 1));
  assert.deepEqual(next({ a: later, b: now }), { kind: 'send', item: item('b', 1) });
  assert.deepEqual(next({ a: later, b: now }), later);
  assert.deepEqual(held(), waiting);
  assert.deepEqual(next({ a: now, b: now }), { kind: 'send', item: item('a', 0) });
});

test('an item that is put back is the next of its group', () => {
  const { next, putBack, held } = poolOf(item('a', 1), item('b', 2), item('a', 3));
  next({ a: now, b: now });
  putBack(item('a', 1));
  assert.deepEqual(next({ a: later, b: now }), { kind: 'send', item: item('b', 2) });
  assert.deepEqual(held(), [item('a', 1)]);
  assert.deepEqual(next({ a: now, b: now }), { kind: 'send', item: item('a', 1) });
});

test('another item of its group than the one put back shows whether it may go', () => {
  const { next, putBack } = poolOf(item('a', 1), item('b', 2), item('a', 3), item('a', 4));
  next({ a: now, b: now });
  putBack(item('a', 1));
  next({ a: later, b: now });
  next({ a: later, b: now });
  const sent = [1, 2, 3].map(() => next({ a: now, b: now }));
  assert.deepEqual(
    sent,
    [3, 1, 4].map((nth) => ({ kind: 'send', item: item('a', nth) })),
  );
});

test('if nothing may be sent, a reply comes before the earliest time', () => {
  const items = [item('a', 1), item('b', 2), item('c', 3)];
  const sooner = { ...later, at: 5 };
  assert.deepEqual(poolOf(...items).next({ a: later, b: sooner, c: later }), sooner);
  assert.deepEqual(poolOf(...items).next({ a: later, b: sooner, c: reply }), reply);
});
