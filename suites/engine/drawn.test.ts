import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { property } from '../property.ts';
import { fingerprint, userStatus } from '../request.ts';
import { sampleKnown as known } from '../sample-known.ts';
import { held } from '../verdict.ts';
import { drawn, evenly } from './drawn.ts';

test('an order whose beginnings are spread evenly, and in which nothing is lost', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 500 }), fc.nat(500), (length, cut) => {
      const list = Array.from({ length }, (_, nth) => nth);
      const order = evenly(list);
      assert.deepEqual(
        order.toSorted((a, b) => a - b),
        list,
      );
      const begun = order.slice(0, cut);
      // Of any half of the list, about half of what was begun.
      const early = begun.filter((nth) => nth < length / 2).length;
      assert.ok(Math.abs(2 * early - begun.length) <= Math.log2(length + 2) + 1);
      assert.equal(order[0], list[0]);
    }),
  );
});

test('each distinct input has one place, that of its first draw, and its requests have names', () => {
  const repeating = property<string>({
    id: 'valid/user-status/x',
    level: 'required',
    clause: '',
    title: '',
    every: () => ['a', 'b', 'a', 'c', 'b'],
    ask: (id) => [userStatus(id), userStatus('same')],
    holds: () => held,
  });
  const list = drawn(repeating, known, { seed: 1, cases: 1 });
  assert.deepEqual(
    list.map(({ index }) => index).toSorted((a, b) => a - b),
    [0, 1, 3],
  );
  for (const { item, names } of list) assert.deepEqual(names, item.requests.map(fingerprint));
  assert.equal(drawn(repeating, known, { seed: 1, cases: 1 }), list, 'the same draw is the same list');
  assert.notEqual(drawn(repeating, known, { seed: 2, cases: 1 }), list);
});
