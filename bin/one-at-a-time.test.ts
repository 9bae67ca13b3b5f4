import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneAtATime } from './one-at-a-time.ts';

test('what is asked for meanwhile is one more run, which makes the one before out of date', async () => {
  const ends: (() => void)[] = [];
  const told: boolean[] = [];
  const ask = oneAtATime(async (isOutOfDate) => {
    await new Promise<void>((resolve) => ends.push(resolve));
    told.push(isOutOfDate());
  });
  const all = ask();
  await ask();
  await ask();
  assert.equal(ends.length, 1);
  ends[0]!();
  while (ends.length < 2) await Promise.resolve();
  ends[1]!();
  await all;
  assert.deepEqual(told, [true, false]);
});

test('and it runs again when it is asked again', async () => {
  let runs = 0;
  const ask = oneAtATime(async () => void (runs += 1));
  await ask();
  await ask();
  assert.equal(runs, 2);
});
