import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { answerOf } from '../sample-answers.ts';
import { judgeClock, offset } from './clocks.ts';

const at = (sentAt: number, receivedAt: number, headers: Record<string, string>) => ({
  ...answerOf(200, {}, headers),
  sentAt,
  receivedAt,
});

/** An answer of a server whose clock is so far ahead of ours, that looked at it after so much of the trip. */
function answerAhead(ahead: number, sentAt: number, thereMs: number, backMs: number) {
  const date = Math.floor((sentAt + thereMs + ahead) / 1000) * 1000;
  return at(sentAt, sentAt + thereMs + backMs, { date: new Date(date).toUTCString() });
}

const trip = fc.record({
  sentAt: fc.integer({ min: 1.7e12, max: 1.8e12 }),
  there: fc.nat({ max: 3000 }),
  back: fc.nat({ max: 3000 }),
});

test('the true difference is never outside of what is said', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e8, max: 1e8 }), fc.array(trip, { minLength: 1 }), (ahead, trips) => {
      const range = offset(trips.map(({ sentAt, there, back }) => answerAhead(ahead, sentAt, there, back)))!;
      assert.ok(range.from <= ahead && ahead <= range.to, JSON.stringify(range));
    }),
  );
});

test('clocks that agree are never complained of, however slow the answers are', () => {
  fc.assert(
    fc.property(fc.array(trip, { minLength: 1 }), (trips) => {
      const answers = trips.map(({ sentAt, there, back }) => answerAhead(0, sentAt, there, back));
      assert.equal(judgeClock(answers).outcome, 'good');
    }),
  );
});

/** Differences, and what is said of them. */
const said: readonly (readonly [ahead: number, outcome: string, words: RegExp])[] = [
  [8000, 'good', /^7\.\d s ahead of this machine's$/],
  [-8000, 'good', /^7\.\d s behind this machine's$/],
  [60_000, 'bad', /^59\.\d s ahead/],
  [-86_400_000, 'bad', /behind this machine's$/],
];

for (const [ahead, outcome, words] of said)
  test(`${ahead} ms ahead: ${outcome}`, () => {
    const finding = judgeClock([answerAhead(ahead, 1.75e12 + 500, 10, 10)]);
    assert.equal(finding.outcome, outcome);
    assert.match(finding.words, words);
  });

test('a Date that is missing or no date tells nothing; the age of a cached answer is added', () => {
  assert.equal(judgeClock([]).outcome, 'unknown');
  assert.equal(judgeClock([at(0, 0, {}), at(0, 0, { date: 'soon' })]).outcome, 'unknown');
  const sentAt = Date.UTC(2026, 0, 1, 0, 10);
  const cached = { date: new Date(sentAt - 600_000).toUTCString(), age: '600' };
  assert.equal(judgeClock([at(sentAt, sentAt + 5, cached)]).outcome, 'good');
});
