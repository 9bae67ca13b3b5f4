import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { inLowerCase, indexById } from './id-index.ts';

const idOf = ({ id }: { readonly id: string }) => id;
/** Few different ones, so that twins are common; any letter case, any text. */
const ids = fc.array(
  fc.oneof(
    fc.constantFrom('a', 'A', 'b', '', 'ffffffff-ffff', 'FFFFFFFF-ffff'),
    fc.uuid(),
    fc.uuid().map((id) => id.replace('-', 'a')),
    fc
      .constantFrom('0', 'f', 'g', '\u0130', '\u{1F600}')
      .map((end) => `00000000-0000-4000-8000-00000000000${end}`),
    fc.string(),
    fc.uuid().map((id) => id.toUpperCase()),
  ),
);

test('an index finds what a Map by id in lower case finds, and nothing else', () => {
  fc.assert(
    fc.property(ids, ids, (known, asked) => {
      const items = known.map((id) => ({ id }));
      const index = indexById(items, idOf);
      const map = new Map(items.map(({ id }, position) => [id.toLowerCase(), position]));
      const near = known.flatMap((one) => [one.toLowerCase(), one.replace('-', 'a'), one.replace('-', '')]);
      for (const id of [...known, ...asked, ...near]) assert.equal(index.find(id), map.get(id) ?? -1);
    }),
  );
});

test('twins are told with the first that had the id', () => {
  const items = ['x', 'y', 'X', 'z', 'x'].map((id) => ({ id }));
  assert.deepEqual(indexById(items, idOf).twins, [
    [2, 0],
    [4, 0],
  ]);
  assert.deepEqual([...indexById(items, idOf).outdone], [0, 2]);
});

test('a list is indexed once', () => {
  const items = [{ id: 'x' }];
  assert.equal(indexById(items, idOf), indexById(items, idOf));
});

test('ids that count up in their last digits are told apart', () => {
  const items = Array.from({ length: 50_000 }, (_, n) => ({
    id: `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
  }));
  const index = indexById(items, idOf);
  for (const [position, { id }] of items.entries()) assert.equal(index.find(id), position);
  assert.equal(index.find('00000000-0000-4000-8000-ffffffffffff'), -1);
});

test('lower case is what the language says it is', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.uuid()), (id) => {
      for (const text of [id, id.toUpperCase(), id.toLowerCase()])
        assert.equal(inLowerCase(text), text.toLowerCase());
    }),
  );
});

test('ids of the same hash are told apart', () => {
  // Among so many, about ten pairs have the same 32 bits.
  const scrambled = (n: number, by: number) =>
    (Math.imul(n ^ (n >>> 15), by) >>> 0).toString(16).padStart(8, '0');
  const items = Array.from({ length: 300_000 }, (_, n) => {
    const [a, b] = [scrambled(n + 1, 0x85ebca6b), scrambled(n + 7, 0xc2b2ae35)];
    return { id: `${a}-0000-4000-8000-${b}0000` };
  });
  const index = indexById(items, idOf);
  assert.deepEqual(index.twins, []);
  assert.ok(items.every(({ id }, position) => index.find(id) === position));
});

test('an id in any letter case is found where that is asked for, and only there', () => {
  const id = 'ABCDEF00-0000-4000-8000-00000000000a';
  const index = indexById([{ id }, { id: 'Not-A-Uuid' }], (item) => item.id);
  for (const written of [id, id.toLowerCase(), id.toUpperCase()]) {
    assert.equal(index.findInAnyCase(written), 0);
    assert.equal(index.find(written), written === id.toLowerCase() ? 0 : -1);
  }
  assert.deepEqual(
    [index.find('not-a-uuid'), index.find('NOT-A-UUID'), index.findInAnyCase('NOT-A-UUID')],
    [1, -1, 1],
  );
});
