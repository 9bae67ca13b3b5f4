import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { story, type Sighting } from './history.ts';
import { mayBeRefilled } from './refilled.ts';
import { thresholds } from './windows.ts';

const WINDOW = 1000;
/** So many requests that pass at a time, or that long; negative: 429s. */
const at = (sentAt: number, count: number, tookMs = 0): readonly Sighting[] =>
  Array.from({ length: Math.abs(count) }, () => ({
    sentAt,
    receivedAt: sentAt + tookMs,
    passed: count > 0,
  }));

/** Which thresholds explain a history, by the way in which windows lie: `3`, `2-4`, `3-` for 3 or more. */
function explained(history: readonly Sighting[]) {
  const spans = thresholds(history, WINDOW);
  const of = (windows: string) => {
    const mine = spans.filter((span) => span.windows === windows);
    if (mine.length === 0) return 'none';
    const least = Math.min(...mine.map((span) => span.least));
    const most = Math.max(...mine.map((span) => span.most));
    return least === most ? `${least}` : `${least}-${Number.isFinite(most) ? most : ''}`;
  };
  return [of('fixed'), of('sliding'), of('aligned')];
}

type Row = readonly [history: readonly Sighting[], fixed: string, sliding: string, aligned: string];
const histories: Readonly<Record<string, Row>> = {
  'passes alone': [at(0, 5), '5-', '5-', '0-'],
  'passes, and 429 at once': [[...at(0, 5), ...at(50, -1)], '5', '5', '0-5'],
  'a 429 out of nothing': [at(0, -1), '0', '0', '0'],
  'a request that took as long as a window counts for nothing certain': [at(0, 5, 1100), '0-', '0-', '0-'],
  'two bursts in one window': [[...at(0, 3), ...at(500, 2), ...at(600, -1)], '5', '5', '2-5'],
  'two bursts apart': [[...at(0, 3), ...at(50, -1), ...at(1500, 4), ...at(1550, -1)], 'none', 'none', '3'],
  'two bursts apart, alike': [[...at(0, 3), ...at(50, -1), ...at(1500, 3), ...at(1550, -1)], '3', '3', '3'],
  'a burst just after the first window': [
    [...at(0, 3), ...at(50, -1), ...at(1100, 3), ...at(1150, -1)],
    '3',
    '3',
    '3',
  ],
  'a burst at the end of a window and one after it': [
    [...at(0, 1), ...at(900, 2), ...at(1100, 3), ...at(1150, -1)],
    '3',
    '5',
    '2-5',
  ],
  'a 429 long after what passed is of no window': [[...at(0, 3), ...at(2500, -1)], 'none', 'none', '0'],
  'what passes after a 429 does not explain it': [
    [...at(0, 2), ...at(50, -1), ...at(300, 3)],
    'none',
    'none',
    '2',
  ],
  'a burst just as the window ends': [[...at(0, 3), ...at(1000, 3)], '3-', '3-', '0-'],
  'a row of 429s is explained by its first': [
    [...at(0, 3), ...at(100, -1), ...at(900, -1), ...at(1800, -1)],
    '3',
    '3',
    '0-3',
  ],
};

describe('thresholds', () => {
  for (const [name, [history, ...expected]] of Object.entries(histories))
    test(name, () => assert.deepEqual(explained(history), expected));
  test('whatever the order in which answers were noted', () => {
    for (const [history] of Object.values(histories))
      assert.deepEqual(explained(history.toReversed()), explained(history));
  });
});

/** Whether a bucket of 4 that wins back 4 in a second may show it. */
const buckets: Readonly<Record<string, readonly [readonly Sighting[], boolean]>> = {
  nothing: [[], true],
  'what it holds': [at(0, 4), true],
  'more than it holds': [at(0, 5), false],
  'what it holds and wins back': [[...at(0, 4), ...at(500, 2)], true],
  'more than it wins back': [[...at(0, 4), ...at(500, 3)], false],
  'more than it holds after a long time': [[...at(0, 4), ...at(9000, 5)], false],
  'one at a time': [Array.from({ length: 12 }, (_, nth) => at(nth * 250, 1)).flat(), true],
  'a 429 of the empty one': [[...at(0, 4), ...at(10, -1), ...at(300, 1)], true],
  'more at once just after a 429': [[...at(0, 4), ...at(10, -1), ...at(300, 2)], false],
  'a long 429, and then more than so slow a bucket wins back': [
    [...at(0, 4), ...at(700, -1), ...at(1400, 3)],
    false,
  ],
  'answers that overtake each other': [[...at(0, 1, 600), ...at(0, 4)], true],
  'slow answers, which leave time to win back': [[...at(0, 4), ...at(10, 2, 600)], true],
};

describe('a bucket that is refilled', () => {
  for (const [name, [history, expected]] of Object.entries(buckets))
    test(`${name}: ${expected}`, () =>
      assert.equal(mayBeRefilled(history, { most: 4, windowMs: WINDOW }), expected));
});

/** What people read of a history. */
const stories: Readonly<Record<string, readonly Sighting[]>> = {
  '': [],
  'at 0.00 s 3 passed within 0.04 s': at(5000, 3, 40),
  'at 0.00 s 429': at(5000, -2),
  'at 0.00 s 12 passed within 0.05 s, then 429; at 2.20 s 13 passed within 0.00 s': [
    ...at(5000, 12),
    ...at(5040, -3, 10),
    ...at(7200, 13),
  ],
  'at 0.00 s 2 passed within 0.15 s; at 0.40 s 429': [...at(5400, -1), ...at(5000, 1), ...at(5150, 1)],
};

describe('the story', () => {
  for (const [text, history] of Object.entries(stories))
    test(text, () => assert.equal(story(history, WINDOW), text));
});
