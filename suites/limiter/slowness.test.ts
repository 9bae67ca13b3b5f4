import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TimedRequest } from './history.ts';
import { slowness } from './slowness.ts';

/** Requests that went out in lots, so many ms apart, and were answered after so many ms. */
const sent = (count: number, lot: number, apartMs: number, latencyMs: number): readonly TimedRequest[] =>
  Array.from({ length: count }, (_, nth) => {
    const sentAt = Math.floor(nth / lot) * apartMs;
    return { sentAt, receivedAt: sentAt + latencyMs, result: 'passed' };
  });

test('a target that would need more in flight than are ever sent is too slow', () => {
  assert.match(slowness(sent(122, 64, 6000, 6000), 61, 750), /^the target was too slow$/);
  assert.match(slowness([], 61, 750), /^the target was too slow$/);
});

test('requests that follow each other slowly were held back, and the values that are needed are named', () => {
  for (const [latencyMs, inFlight] of [
    [1, 2],
    [900, 74],
  ] as const)
    assert.equal(
      slowness(sent(122, 1, 50, latencyMs), 61, 750),
      `--rate or --concurrency is too low: omit both, or allow more than 82 requests per second and ${inFlight} in flight`,
    );
});

test('requests that follow each other quickly were not held back', () => {
  assert.match(slowness(sent(122, 1, 5, 900), 61, 750), /^the target was too slow$/);
});

test('a few answers that took long do not make the target slow', () => {
  const history = sent(122, 1, 50, 1).map((one, nth) => (nth < 50 ? { ...one, receivedAt: 1e6 } : one));
  assert.match(slowness(history, 61, 750), /allow more than 82 requests per second and 2 in flight$/);
});
