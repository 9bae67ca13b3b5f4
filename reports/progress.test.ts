import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hostileText } from './any-record.ts';
import { columns } from './printable.ts';
import { renderProgress, type Progress } from './progress.ts';

const progress: Progress = {
  done: 12,
  total: 68,
  requirement: 'invalid-uuid/user-status/malformed',
  requests: 1234,
  elapsedMs: 4210,
  waitingMs: 1700,
};

const lines: readonly (readonly [width: number, line: string])[] = [
  [96, '[12/68] invalid-uuid/user-status/malformed  1,234 requests  4.2 s  waiting 2 s for a rate limit'],
  [80, '[12/68] invalid-uuid/user-…  1,234 requests  4.2 s  waiting 2 s for a rate limit'],
  [70, '[12/68]  1,234 requests  4.2 s  waiting 2 s for a rate limit'],
  [40, '[12/68]  1,234 requests  4.2 s  waiting…'],
];

for (const [width, line] of lines) {
  test(`progress on ${width} columns`, () => assert.equal(renderProgress(progress, width), line));
}

test('progress without a wait', () => {
  const { waitingMs: _, ...rest } = progress;
  assert.equal(
    renderProgress({ ...rest, requests: 1 }, 120),
    '[12/68] invalid-uuid/user-status/malformed  1 request  4.2 s',
  );
});

test('progress is one printable line within the width', () => {
  fc.assert(
    fc.property(hostileText, fc.integer({ min: 20, max: 200 }), (requirement, width) => {
      const line = renderProgress({ ...progress, requirement }, width);
      assert.ok(columns(line) <= width);
      assert.doesNotMatch(line, /\p{C}/u);
    }),
  );
});
