import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { realClock, virtualClock } from './clock.ts';
import { track } from '../testing/manual-clock.ts';

const START = Date.UTC(2026, 0, 1);
const turns = async (count: number) => {
  for (let nth = 0; nth < count; nth++) await new Promise(setImmediate);
};

describe('a virtual clock', () => {
  test('wakes each sleeper at its time, the earliest first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(1000), { minLength: 1, maxLength: 30 }), async (waits) => {
        const { sleep, now } = virtualClock(START);
        const woken: number[] = [];
        await Promise.all(
          waits.map(async (ms) => {
            await sleep(ms);
            assert.equal(now(), START + ms);
            woken.push(ms);
          }),
        );
        const sorted = waits.toSorted((a, b) => a - b);
        assert.deepEqual(woken, sorted);
      }),
      { numRuns: 30 },
    );
  });
  test('stands still while work runs, and goes on after it', async () => {
    const { sleep, now, during } = virtualClock(0);
    let finish = () => {};
    const working = during(new Promise<void>((resolve) => (finish = resolve)));
    const sleeping = sleep(1000);
    await turns(20);
    assert.equal(now(), 0);
    finish();
    await working;
    await sleeping;
    assert.equal(now(), 1000);
  });
  test('stands still for work that a woken sleeper starts', async () => {
    const { sleep, now, during } = virtualClock(0);
    const seen: number[] = [];
    const lane = async () => {
      await sleep(100);
      await during(turns(5));
      seen.push(now());
    };
    await Promise.all([lane(), sleep(200)]);
    assert.deepEqual([seen, now()], [[100], 200]);
  });
});

describe('the real clock', () => {
  test('does not sleep after the signal fires, before or during the sleep', async () => {
    const abort = new AbortController();
    const sleepers = [AbortSignal.abort(), abort.signal].map((signal) =>
      track(realClock.sleep(2000, signal)),
    );
    await turns(1);
    const areDone = sleepers.map(({ isDone }) => isDone);
    assert.deepEqual(areDone, [true, false]);
    abort.abort();
    await turns(1);
    assert.equal(sleepers[1]!.isDone, true);
  });
});
