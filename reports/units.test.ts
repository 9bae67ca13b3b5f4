import assert from 'node:assert/strict';
import { test } from 'node:test';
import { count, duration, latency, several } from './text.ts';

test('numbers, nouns and times as people read them', () => {
  assert.deepEqual([0, 999, 1234567].map(count), ['0', '999', '1,234,567']);
  assert.deepEqual(
    [0, 1, 1234].map((value) => several(value, 'request')),
    ['0 requests', '1 request', '1,234 requests'],
  );
  assert.deepEqual([0, 49, 3200, 59_949, 59_950, 125_400, 3_600_000].map(duration), [
    '0.0 s',
    '0.0 s',
    '3.2 s',
    '59.9 s',
    '1 min 0 s',
    '2 min 5 s',
    '60 min 0 s',
  ]);
});

test('latencies as people read them', () => {
  assert.deepEqual([0, 0.004, 0.434, 1, 12.46, 999, 999.6, 1250, 65_000].map(latency), [
    '0 ms',
    '0 ms',
    '0.43 ms',
    '1 ms',
    '12.5 ms',
    '999 ms',
    '1 s',
    '1.25 s',
    '65 s',
  ]);
});
