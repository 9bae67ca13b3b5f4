import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spreadOf } from './spread.ts';

test('the middle half of figures in any order', () => {
  assert.deepEqual(spreadOf([5, 1, 4, 2, 3]), { median: 3, lowerQuartile: 2, upperQuartile: 4 });
  assert.deepEqual(spreadOf([7]), { median: 7, lowerQuartile: 7, upperQuartile: 7 });
});

test('between two figures lies their mean', () => {
  assert.deepEqual(spreadOf([4, 2]), { median: 3, lowerQuartile: 2.5, upperQuartile: 3.5 });
});
