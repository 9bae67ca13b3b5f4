import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthOf, soakTable, type Sample } from './growth.ts';

const samples = (residents: readonly number[]): readonly Sample[] =>
  residents.map((residentMb, index) => ({
    requests: index * 100,
    residentMb,
    descriptors: 20,
    seconds: index,
  }));

test('growth is that of the medians: a peak is none, a slope is one', () => {
  assert.equal(
    growthOf(samples([100, 300, 100, 90, 200, 200, 110, 100, 100, 300, 100, 100, 90, 100, 100])),
    0,
  );
  assert.equal(growthOf(samples([100, 110, 120, 130, 140])), 40);
  assert.equal(growthOf(samples([100])), 0);
});

test('the table has the first, the last, and so many between', () => {
  const rows = soakTable(samples(Array.from({ length: 50 }, () => 80)))
    .trimEnd()
    .split('\n')
    .slice(2);
  assert.equal(rows[0], '| 0 | 0 | 80 | 20 |');
  assert.equal(rows.at(-1), '| 4900 | 49 | 80 | 20 |');
  assert.equal(rows.length, 11);
});
