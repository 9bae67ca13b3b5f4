import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBudget } from './budget.ts';
import { realClock, virtualClock } from './clock.ts';

test('a rate holds in every second, also after the machine stood still', async () => {
  const time = virtualClock(0);
  let stall = 0;
  const clock = { ...realClock, now: () => Math.max(time.now(), stall), sleep: time.sleep };
  const budget = createBudget({
    clock,
    signal: new AbortController().signal,
    deadline: Number.POSITIVE_INFINITY,
    maxRequests: Number.POSITIVE_INFINITY,
    keepBack: 0,
    rate: 50,
  });
  const sent: number[] = [];
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (sent.length < 150) {
        assert.equal(await budget.spend(), undefined);
        sent.push(clock.now());
        // Everybody wakes too late, once.
        if (sent.length === 50) stall = clock.now() + 500;
      }
    }),
  );
  const inSecond = sent.map((from) => sent.filter((at) => at >= from && at < from + 1000).length);
  assert.ok(Math.max(...inSecond) <= 51, `${Math.max(...inSecond)} in a second`);
});
