import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { onSignals } from './signals.ts';

for (const [first, second] of [
  ['SIGTERM', 'SIGTERM'],
  ['SIGINT', 'SIGTERM'],
  ['SIGTERM', 'SIGINT'],
  ['SIGHUP', 'SIGHUP'],
] as const)
  test(`${first} asks for an end, and ${second} behind it ends at once`, () => {
    const signalled = new EventEmitter();
    let ended = 0;
    const signal = onSignals(signalled, () => void (ended += 1));
    assert.deepEqual([signal.aborted, ended], [false, 0]);
    signalled.emit(first, first);
    assert.deepEqual([signal.aborted, signal.reason, ended], [true, first, 0]);
    signalled.emit(second, second);
    assert.equal(ended, 1);
  });
