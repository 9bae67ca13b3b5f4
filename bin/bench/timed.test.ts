import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUsage } from './timed.ts';

test('processor time and memory are read', () => {
  assert.deepEqual(readUsage('0.75 0.25 51200\n'), { processorSeconds: 1, peakMb: 50 });
  assert.throws(() => readUsage('Command terminated by signal 9\n'), /no figures/);
});
