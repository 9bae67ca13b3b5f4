import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds, slowness, type TimedRequest } from './history.ts';

const both = ['--rate', '--concurrency'];

/** Requests sent in groups at a fixed interval, with a fixed latency, in ms. */
const sent = (count: number, lot: number, apartMs: number, latencyMs: number): readonly TimedRequest[] =>
  Array.from({ length: count }, (_, nth) => {
    const sentAt = Math.floor(nth / lot) * apartMs;
    return { sentAt, receivedAt: sentAt + latencyMs, result: 'passed' };
  });

test('a target that needs more requests in flight than the maximum is too slow', () => {
  assert.match(slowness(sent(122, 64, 6000, 6000), 61, 750, both), /^the target was too slow$/);
  assert.match(slowness([], 61, 750, both), /^the target was too slow$/);
});

test('slowly sent requests were throttled by options, and the needed values are named', () => {
  for (const [latencyMs, inFlight] of [
    [1, 2],
    [900, 74],
  ] as const)
    assert.equal(
      slowness(sent(122, 1, 50, latencyMs), 61, 750, both),
      `--rate or --concurrency is too low: omit both, or allow more than 82 requests per second and ${inFlight} in flight`,
    );
});

test('only flags that were given are named', () => {
  const history = sent(122, 1, 50, 1);
  assert.match(slowness(history, 61, 750, ['--rate']), /^--rate is too low: omit it, or/);
  assert.match(slowness(history, 61, 750, []), /^the target was too slow, or this machine was busy$/);
});

test('quickly sent requests were not throttled', () => {
  assert.match(slowness(sent(122, 1, 5, 900), 61, 750, both), /^the target was too slow$/);
});

test('a few slow answers do not make the target slow', () => {
  const history = sent(122, 1, 50, 1).map((one, nth) => (nth < 50 ? { ...one, receivedAt: 1e6 } : one));
  assert.match(slowness(history, 61, 750, both), /allow more than 82 requests per second and 2 in flight$/);
});

test('long times are written in minutes', () => {
  const written = [2200, 99_990, 100_000, 3_150_000].map(seconds);
  assert.deepEqual(written, ['2.20 s', '99.99 s', '1 min 40 s', '52 min 30 s']);
});
