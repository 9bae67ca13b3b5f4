import assert from 'node:assert/strict';
import { test } from 'node:test';
import { count, forEachMore, spread, times } from './columns.ts';
import type { Samples } from './part.ts';

const samples: Samples = {
  bare: [
    { ms: 100, things: 10 },
    { ms: 200, things: 10 },
    { ms: 50, things: 10 },
  ],
  ours: [
    { ms: 150, things: 8_549 },
    { ms: 200, things: 8_549 },
    { ms: 200, things: 8_549 },
  ],
  none: [{}, {}, {}],
};
const cells = ({ cell }: ReturnType<typeof spread>) =>
  Object.values(samples).map((own) => cell(own, samples));

test('the median and the middle half, to three digits', () => {
  assert.deepEqual(cells(spread('', 'ms')), ['100 (75 to 150)', '200 (175 to 200)', '']);
  assert.deepEqual(spread('', 'ms').cell([{ ms: 52_987.55 }], samples), '53,000');
  assert.deepEqual(spread('', 'ms').cell([{ ms: 0.012_34 }], samples), '0.0123');
});

test('a ratio is of samples of the same round', () => {
  assert.deepEqual(cells(times('', 'ms', 'bare')), ['1', '1.5', '']);
});

test('a number of things keeps all its digits', () => {
  assert.deepEqual(cells(count('', 'things')), ['10', '8,549', '']);
});

test('what each one more takes; nothing where there is no more', () => {
  const byThing = forEachMore('', 'ms', 'things', 'bare');
  assert.deepEqual(cells(byThing), ['', '0.00586', '']);
});
