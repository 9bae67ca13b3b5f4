import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../testing/samples.ts';
import { createTimeline } from './timeline.ts';

const refused = { kind: 'trouble', code: 'network', words: 'refused' } as const;

test('counts answers in each second, by endpoint and status class, and says what waited', () => {
  const { add, timelineOf } = createTimeline(5000);
  add('user-status', answerOf(200, {}), 5000, false);
  add('user-status', answerOf(204, ''), 5999, false);
  add('user-status', answerOf(429, {}), 6000, false);
  add('deposit-check', answerOf(404, {}), 6500, true);
  add('deposit-check', refused, 6600, false);
  add('deposit-check', { ...refused, code: 'budget' }, 6700, false);
  const waits = [
    { endpoint: 'user-status', reason: 'retry-after', from: 6000, until: 8000 },
    { reason: 'lost-target', from: 6600, until: 60_000 },
  ] as const;
  assert.deepEqual(timelineOf(waits, 7000), {
    secondsPerRow: 1,
    rows: [
      { from: 0, endpoint: 'user-status', answers: { '2xx': 2 } },
      { from: 1, endpoint: 'user-status', answers: { '429': 1 }, waits: ['retry-after', 'lost-target'] },
      {
        from: 1,
        endpoint: 'deposit-check',
        answers: { '4xx': 1, none: 1 },
        isChanged: true,
        waits: ['lost-target'],
      },
    ],
  });
});

test('has longer rows for a longer run, without losing an answer', () => {
  const { add, timelineOf } = createTimeline(0);
  for (let second = 0; second < 1000; second++)
    add('user-status', answerOf(200, {}), 1000 * second, second === 999);
  const { secondsPerRow, rows } = timelineOf([], 1_000_000);
  assert.equal(secondsPerRow, 4);
  assert.deepEqual(new Set(rows.map(({ answers }) => answers['2xx'])), new Set([4]));
  assert.deepEqual([rows.length, rows.filter((one) => one.isChanged === true).length], [250, 1]);
});
