import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLoad } from './load.ts';

/** Sends requests to a front end that refuses what is beyond its capacity. Returns what was refused, and the most in flight. */
async function refusedOf(capacity: number, requests: number, atOnce: number) {
  const { begin, end } = createLoad();
  let [inFlight, most, refused, left] = [0, 0, 0, requests];
  const worker = async () => {
    while (left-- > 0) {
      await begin();
      inFlight++;
      const isRefused = inFlight > capacity;
      if (isRefused) refused++;
      if (left < requests / 2) most = Math.max(most, inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight--;
      end(isRefused);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return { refused, most };
}

test('fewer requests are in flight once a front end refuses many', async () => {
  const { refused, most } = await refusedOf(8, 2000, 32);
  assert.ok(refused < 100, `${refused} refused`);
  assert.ok(most <= 12, `${most} in flight`);
});

test('without refusals, and after a few, nothing waits', async () => {
  assert.equal((await refusedOf(64, 2000, 32)).most, 32);
  const { begin, end } = createLoad();
  for (let nth = 0; nth < 32; nth++) await begin();
  for (let nth = 0; nth < 16; nth++) end(nth % 8 === 0);
  for (let nth = 0; nth < 16; nth++) await begin();
});

test('after the target was down, as many are in flight as before', async () => {
  const { begin, end, reset } = createLoad();
  for (let nth = 0; nth < 8; nth++) await begin();
  for (let nth = 0; nth < 8; nth++) end(true);
  reset();
  for (let nth = 0; nth < 32; nth++) await begin();
});

test('one that must be alone waits for the others, and the others wait for it', async () => {
  const { begin, end } = createLoad();
  const began: string[] = [];
  const start = async (name: string, isAlone = false) => {
    await begin(isAlone);
    began.push(name);
  };
  await start('first');
  const all = Promise.all([start('alone', true), start('last'), start('last')]);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  await settle();
  assert.deepEqual(began, ['first']);
  end(false);
  await settle();
  assert.deepEqual(began, ['first', 'alone']);
  end(true);
  await all;
  assert.deepEqual(began, ['first', 'alone', 'last', 'last']);
});
