import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Progress } from '../schemas/progress.ts';
import { renderProgress, renderWaiting } from './progress.ts';
import { hostileText } from './testing/records.ts';
import { columns } from './text.ts';

const progress: Progress = {
  done: 12,
  total: 68,
  doing: 'invalid-uuid/user-status/malformed',
  requests: 1234,
  elapsedMs: 4210,
  maxRequests: Number.POSITIVE_INFINITY,
  maxDurationMs: 300_000,
  failing: [],
};

const lines: readonly (readonly [width: number, line: string])[] = [
  [110, '[12/68] invalid-uuid/user-status/malformed  1,234 requests, 293/s  4.2 s of 5 min 0 s'],
  [80, '[12/68] invalid-uuid/user-status/mal…  1,234 requests, 293/s  4.2 s of 5 min 0 s'],
  [55, '[12/68]  1,234 requests, 293/s  4.2 s of 5 min 0 s'],
  [48, '[12/68]  1,234 requests  4.2 s of 5 min 0 s'],
  [40, '[12/68]  1,234 requests  4.2 s of 5 min…'],
];

for (const [width, line] of lines) {
  test(`progress on ${width} columns`, () => assert.equal(renderProgress(progress, width), line));
}

test('progress with other limits', () => {
  const bounds = { maxRequests: 5000, maxDurationMs: Number.POSITIVE_INFINITY };
  assert.equal(
    renderProgress({ ...progress, ...bounds, requests: 1 }, 120),
    '[12/68] invalid-uuid/user-status/malformed  1 of 5,000 requests, 0/s  4.2 s',
  );
});

test('the rate is shown after a second', () => {
  const early = renderProgress({ ...progress, elapsedMs: 900 }, 120);
  assert.equal(early, '[12/68] invalid-uuid/user-status/malformed  1,234 requests  0.9 s of 5 min 0 s');
});

test('progress is one printable line within the width', () => {
  fc.assert(
    fc.property(hostileText, fc.integer({ min: 20, max: 200 }), (doing, width) => {
      const line = renderProgress({ ...progress, doing }, width);
      assert.ok(columns(line) <= width);
      assert.doesNotMatch(line, /\p{C}/u);
    }),
  );
});

test('a wait', () => {
  const waiting = { endpoint: 'user-status', waitMs: 251_500, why: 'Retry-After 297 s' } as const;
  assert.equal(renderWaiting(waiting), 'waiting 4:12 for user-status (Retry-After 297 s)');
  assert.equal(renderWaiting({ waitMs: 1, why: 'a rest' }), 'waiting 0:01 (a rest)');
});
