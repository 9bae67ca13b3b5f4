import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue, isLookupRow, knownFrom, virtualClock } from '../index.ts';
import { sampleFixture } from '../testing/samples.ts';
import { estimate, expectedRun, type EstimateOptions } from './expected-run.ts';
import { createLookups } from '../plan/lookups.ts';
import { timesOf } from '../plan/lookup.ts';

const lookups = (count: number, cost: 0 | 1) =>
  Array.from({ length: count }, () => ({ endpoint: 'user-status' as const, cost, times: 1 }));

const options: EstimateOptions = {
  stages: [lookups(20, 1), lookups(40, 1), lookups(100, 0)],
  limits: { 'user-status': { most: 11, windowMs: 60_000 } },
  keys: 1,
  rate: undefined,
  maxDurationMs: Infinity,
  maxRequests: Infinity,
  required: 0,
  boundFor: (requests) => requests,
  others: 10,
  trialsMs: [60_000],
  changesMs: 0,
  lookupsMs: Infinity,
};

test('the nth counted request waits n / (keys × (limit - 1)) windows', () => {
  const waits = (keys: number) => estimate({ ...options, keys }).durationMs - 60_000;
  // 60 counted requests, 10 a window: the last one is in the sixth.
  assert.equal(waits(1), 5 * 60_000);
  assert.equal(waits(2), 2 * 60_000);
  assert.equal(waits(10), 0);
  assert.equal(estimate(options).requests, 170);
});

test('a run that is cut reaches less, and what it needs is enough', () => {
  const cut = estimate({ ...options, maxDurationMs: 120_000 });
  assert.equal(cut.strength, 1);
  const [pairs, everything] = cut.needs;
  assert.deepEqual([pairs!.reaches, everything!.reaches], ['strength 2', 'everything']);
  assert.equal(estimate({ ...options, maxDurationMs: pairs!.durationMs }).strength, 2);
  assert.equal(estimate({ ...options, maxRequests: 30 }).strength, 1);
  assert.equal(estimate({ ...options, maxRequests: 10 }).strength, 0);
  assert.equal(estimate(options).strength, 2);
});

test('what lookups leave, and scenarios before pairs, are a part of the bound', () => {
  const cut = { ...options, required: 30, boundFor: (requests: number) => 2 * requests, maxRequests: 39 };
  const [levels, pairs, everything] = estimate(cut).needs.map(({ requests }) => requests);
  assert.deepEqual([levels, pairs, everything], [50, 250, 250]);
});

test('a narrowed run is expected to send the lookups that it has', () => {
  const rows = catalogue.filter(isLookupRow).filter(({ id }) => id === 'valid/deposit-check/repeatable');
  const known = knownFrom(sampleFixture);
  const bounds = { maxDurationMs: Infinity, maxRequests: Infinity, graceMs: 0 };
  const asked = { known, seed: 1, cases: 4000 };
  const skip = new Set<string>();
  const narrowed = { ...asked, ...bounds, requirements: rows, skip, clock: virtualClock(0) };
  let requests = 0;
  for (const lookup of createLookups(asked, rows).next(
    'deposit-check',
    ...(['requirement', 'level', 'pair', 'example', 'triple'] as const),
  ))
    requests += timesOf(lookup);
  assert.equal(expectedRun(narrowed).requests, requests);
});

test('a rate slows all requests', () => {
  const { durationMs, waitsMs } = estimate({ ...options, limits: {}, rate: 2, trialsMs: [3000] });
  // 160 lookups and 10 other requests. Only the trial waits.
  assert.deepEqual([durationMs, waitsMs], [85_000, 3000]);
});
