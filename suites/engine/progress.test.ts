import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Progress } from '../../schemas/progress.ts';
import { createProgress } from './progress.ts';
import type { RunOptions } from './run-options.ts';

/** The progress of a run of 500 requests and 5 s of waits, on a clock that only the test moves. */
function progressOf(context: TestContext, more: Partial<RunOptions> = {}) {
  const state = { at: 0, spent: 0, told: undefined as Progress | undefined };
  context.mock.method(performance, 'now', () => state.at);
  const options = {
    requirements: [],
    maxDurationMs: 300_000,
    maxRequests: Number.POSITIVE_INFINITY,
    clock: { now: () => state.at },
    onProgress: (told: Progress) => (state.told = told),
    ...more,
  };
  const findings = { results: new Map(), failing: () => [] };
  const budget = { spent: () => state.spent };
  const progress = createProgress(options, budget, findings, { requests: 500, waitsMs: 5000 });
  const after = (ms: number, spent: number) => {
    Object.assign(state, { at: state.at + ms, spent: state.spent + spent });
    progress.report();
    return state.told?.expectedMs;
  };
  return { after, wait: progress.wait, told: () => state.told?.expectedMs };
}

test('a run takes as long as its waits, and its requests at the speed so far', (context) => {
  const { after, wait } = progressOf(context);
  assert.equal(after(100, 10), undefined);
  assert.equal(after(900, 90), 10_000);
  wait('user-status', 4000);
  // The wait is part of what was expected.
  assert.equal(after(3000, 0), 10_000);
  assert.equal(after(1000, 100), 10_000);
  // More requests than expected.
  assert.equal(after(3000, 900), 10_000);
  assert.equal(after(9000, 900), 19_000);
});

test('a wait that nobody expected counts as soon as it begins, and the end of the run bounds it', (context) => {
  const { after, wait, told } = progressOf(context, { maxDurationMs: 60_000 });
  after(1000, 100);
  wait('user-status', 41_000);
  wait('deposit-check', 20_000);
  after(100, 0);
  assert.equal(told(), 45_000);
  wait('user-status', 90_000);
  after(100, 0);
  assert.equal(told(), 60_000);
});

test('on a virtual clock, waits take no time', (context) => {
  const { after } = progressOf(context, { maxRealMs: 300_000 });
  assert.equal(after(1000, 100), 5000);
});
