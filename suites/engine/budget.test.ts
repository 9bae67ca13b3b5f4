import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createBudget, createLoad, type BudgetOptions } from './budget.ts';
import { manualClock, track } from '../testing/manual-clock.ts';

function budgetOf(bounds: Partial<BudgetOptions> = {}) {
  const time = manualClock();
  const abort = new AbortController();
  const budget = createBudget({
    clock: time.clock,
    signal: abort.signal,
    deadline: Number.POSITIVE_INFINITY,
    maxRequests: Number.POSITIVE_INFINITY,
    reserved: 0,
    ...bounds,
  });
  const words = (until?: number) => budget.ended(until)?.words;
  /** The times of the requests of `spendNow`. */
  const at: number[] = [];
  const spendNow = async (isAtOnce?: boolean) => {
    assert.equal(await budget.spend(isAtOnce), undefined);
    at.push(time.clock.now());
  };
  return { ...time, ...budget, abort, words, at, spendNow };
}

test('without limits, a run may go on', async () => {
  const { spend, spent, words } = budgetOf();
  for (let nth = 0; nth < 1000; nth++) assert.equal(await spend(), undefined);
  assert.deepEqual([spent(), words()], [1000, undefined]);
});

test('the time ends at the deadline, or earlier with `until`', async () => {
  const run = budgetOf({ deadline: 100 });
  const { words, spend, spent } = run;
  await run.advance(49);
  assert.deepEqual([words(), words(50), words(200)], [undefined, undefined, undefined]);
  await run.advance(1);
  assert.match(words(50)!, /--max-duration/);
  assert.equal(words(), undefined);
  await run.advance(50);
  // A later `until` does not extend the run.
  for (const until of [undefined, 200]) assert.match(words(until)!, /--max-duration/);
  assert.equal((await spend())?.code, 'budget');
  assert.equal(spent(), 0);
});

test('with a virtual clock, real time ends a run too', () => {
  assert.equal(budgetOf({ maxRealMs: 60_000 }).words(), undefined);
  assert.match(budgetOf({ maxRealMs: 0 }).words()!, /--max-duration/);
});

test('no more than the maximum of requests, even at once', async () => {
  const { spend, spent, words } = budgetOf({ maxRequests: 10 });
  const outcomes = await Promise.all(Array.from({ length: 25 }, async () => spend()));
  assert.equal(outcomes.filter((end) => end === undefined).length, 10);
  const ends = new Set(outcomes.flatMap((end) => (end === undefined ? [] : [end.words])));
  assert.deepEqual(ends, new Set(['--max-requests was reached']));
  assert.deepEqual([spent(), words()], [10, '--max-requests was reached']);
});

test('some requests are reserved from work that must end early', async () => {
  const { spend, words } = budgetOf({ maxRequests: 10, reserved: 4 });
  for (let nth = 0; nth < 6; nth++) {
    assert.equal(words(1000), undefined);
    await spend();
  }
  assert.match(words(1000)!, /--max-requests/);
  assert.equal(words(), undefined);
});

describe('a rate', () => {
  for (const rate of [0.5, 4, 50])
    test(`of ${rate} per second paces evenly and does not catch up`, async () => {
      const run = budgetOf({ rate });
      const { at, spendNow } = run;
      await run.until(Promise.all(Array.from({ length: 5 }, () => spendNow())));
      const pause = 60_000;
      await run.advance(pause);
      await run.until(Promise.all([spendNow(), spendNow()]));
      const gaps = at.slice(1).map((ms, nth) => ms - at[nth]!);
      const gap = 1000 / rate;
      assert.deepEqual(gaps.toSpliced(4, 1), [gap, gap, gap, gap, gap]);
      assert.equal(at[0], 0);
      assert.equal(gaps[4], pause);
    });
  for (const [rate, expected] of [
    [4, [0, 0, 500, 500, 1000, 1250, 1500]],
    [20, [0, 0, 0, 0, 0, 0, 0, 350, 400, 450]],
  ] as const)
    test(`is an average: some of a group go at once, and the next requests wait: ${rate}`, async () => {
      const run = budgetOf({ rate });
      const { at, spendNow } = run;
      await run.until(Promise.all(Array.from({ length: expected.length - 2 }, () => spendNow(true))));
      await run.until(Promise.all([spendNow(false), spendNow(false)]));
      assert.deepEqual(at, expected);
    });
  test('whose next turn is after the deadline sends and counts nothing', async () => {
    const run = budgetOf({ rate: 1, deadline: 500 });
    assert.equal(await run.spend(), undefined);
    const late = await run.until(run.spend());
    assert.deepEqual([late?.code, run.clock.now(), run.spent()], ['budget', 500, 1]);
  });
  test('ends its wait when interrupted', async () => {
    const run = budgetOf({ rate: 1 });
    await run.spend();
    const next = track(run.spend());
    await run.settled();
    assert.equal(next.isDone, false);
    run.abort.abort();
    await run.settled();
    assert.equal(next.value?.code, 'interrupted');
    assert.equal(run.spent(), 1);
  });
});

test('an interruption takes precedence', async () => {
  const { abort, spend, words } = budgetOf({ deadline: 0, maxRequests: 0 });
  abort.abort();
  assert.equal(words(), 'the run was interrupted');
  assert.equal((await spend())?.code, 'interrupted');
});

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
