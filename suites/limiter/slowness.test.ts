import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sighting } from './history.ts';
import { slowness } from './slowness.ts';

/** Requests that went out in lots, so many ms apart, and were answered after so many ms. */
const sent = (count: number, lot: number, apartMs: number, latencyMs: number): readonly Sighting[] =>
  Array.from({ length: count }, (_, nth) => {
    const sentAt = Math.floor(nth / lot) * apartMs;
    return { sentAt, receivedAt: sentAt + latencyMs, result: 'passed' };
  });

test('lots that wait for a slow target are no fault of --rate', () => {
  assert.match(slowness(sent(122, 16, 900, 900), 61, 750), /^the target/);
  assert.match(slowness(sent(122, 64, 4000, 4000), 61, 750), /^the target/);
  assert.match(slowness([], 61, 750), /^the target/);
});

test('requests one by one, as --rate lets them out, are none of the target, be it fast or slow', () => {
  for (const latencyMs of [1, 900])
    assert.equal(
      slowness(sent(122, 1, 50, latencyMs), 61, 750),
      '--rate let them out too slowly: leave it out, or let more than 82 a second go',
    );
});

test('a rate that is high enough is not to blame', () => {
  assert.match(slowness(sent(122, 1, 5, 900), 61, 750), /^the target/);
});
