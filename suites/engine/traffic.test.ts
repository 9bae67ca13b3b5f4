import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../answer.ts';
import { answerOf } from '../testing/samples.ts';
import { createTraffic } from './traffic.ts';

const START = 1_700_000_000_000.25;

const answer = (tookMs: number, afterMs = 0, status = 404): Reply => ({
  ...answerOf(status, {}),
  receivedAt: Math.floor(START) + afterMs,
  tookMs,
});

function figuresOf(...replies: readonly Reply[]) {
  const traffic = createTraffic(START);
  for (const reply of replies) traffic.add({ endpoint: 'deposit-check' }, reply);
  return traffic.figures();
}

const latenciesOf = (times: readonly number[]) => figuresOf(...times.map((ms) => answer(ms))).endpoints[0]!;
const stepsOf = (...times: readonly number[]) => figuresOf(...times.map((ms) => answer(1, ms))).timeline;

test('without an answer there are no figures', () =>
  assert.deepEqual(figuresOf(), { endpoints: [], timeline: { stepMs: 10, steps: [] } }));

test('answers are counted by endpoint, 429s and troubles in the timeline', () => {
  const lost: Reply = { kind: 'trouble', code: 'timeout', words: '' };
  const { endpoints, timeline } = figuresOf(answer(2, 1, 429), answer(4, 12.5), lost);
  assert.deepEqual(
    endpoints.map(({ endpoint, answers, maxMs }) => [endpoint, answers, maxMs]),
    [['deposit-check', 2, 4]],
  );
  assert.deepEqual(timeline.steps, [
    { answers: 1, limited: 1, troubles: 0 },
    { answers: 1, limited: 0, troubles: 1 },
  ]);
});

test('a hundred latencies, 1 to 100 ms', () => {
  const { medianMs, p95Ms, p99Ms, maxMs } = latenciesOf(Array.from({ length: 100 }, (_, at) => 100 - at));
  assert.deepEqual([medianMs, p95Ms, p99Ms, maxMs], [50, 95, 99, 100]);
});

test('for any latencies, the histogram has at most 192 buckets, in order', () => {
  assert.deepEqual(latenciesOf([3]).histogram, [{ fromMs: 2.828, toMs: 3.084, answers: 1 }]);
  const all = Array.from({ length: 4000 }, (_, at) => 2 ** (30 - at / 40));
  const { histogram } = latenciesOf([0, ...all]);
  assert.equal(histogram.length, 192);
  assert.deepEqual([histogram[0]?.fromMs, histogram.at(-1)?.fromMs], [0.0625, 961_500]);
  assert.equal(
    histogram.reduce((sum, { answers }) => sum + answers, 0),
    4001,
  );
});

test('steps become twice as long if there would be more than 120', () => {
  const counts = (...times: readonly number[]) => stepsOf(...times).steps.map(({ answers }) => answers);
  assert.equal(stepsOf(0, 15, 1195).stepMs, 10);
  assert.equal(counts(0, 15, 1195).length, 120);
  assert.equal(stepsOf(0, 15, 1200).stepMs, 20);
  assert.deepEqual(counts(0, 15, 1200), [2, ...Array.from({ length: 59 }, () => 0), 1]);
});

test('events before the start belong to the first step', () =>
  assert.deepEqual(stepsOf(-5).steps, [{ answers: 1, limited: 0, troubles: 0 }]));
