import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../testing/samples.ts';
import { retryAfterMs } from './account.ts';

const NOW = Date.UTC(2026, 0, 1);

const askedBy = (value: string, date?: string) =>
  retryAfterMs({
    ...answerOf(429, {}),
    headers: { 'retry-after': [value], ...(date !== undefined && { date: [date] }) },
    receivedAt: NOW,
  });

test('Retry-After is read as seconds, fractions or a date by the clock of the target', () => {
  assert.equal(askedBy('3'), 3000);
  assert.equal(askedBy(' 0.25 '), 250);
  assert.equal(askedBy('Thu, 01 Jan 2026 00:00:05 GMT'), 5000);
  assert.equal(askedBy('Thu, 01 Jan 2026 00:00:05 GMT', 'Thu, 01 Jan 2026 00:00:03 GMT'), 2000);
  assert.equal(askedBy('Thu, 01 Jan 2025 00:00:05 GMT'), 0);
});

test('what is neither is ignored', () => {
  for (const value of ['-1', '', 'soon', '3 s', '1e9', 'Infinity', '2026-01-01', '99999999999'])
    assert.equal(askedBy(value), undefined, value);
});
