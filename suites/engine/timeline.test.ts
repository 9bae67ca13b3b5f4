import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createTimeline } from './timeline.ts';

const startedAt = 1_700_000_000_000.25;

function timelineOf(times: readonly number[]) {
  const timeline = createTimeline(startedAt);
  for (const ms of times) timeline.add(startedAt + ms, 'answers');
  return timeline.figures();
}

test('nothing happened', () => assert.deepEqual(timelineOf([]), { stepMs: 10, steps: [] }));

test('what happens is counted by its kind, in the step of its time', () => {
  const timeline = createTimeline(0);
  timeline.add(0, 'answers');
  timeline.add(0, 'limited');
  timeline.add(9.9, 'answers');
  timeline.add(25, 'troubles');
  assert.deepEqual(timeline.figures(), {
    stepMs: 10,
    steps: [
      { answers: 2, limited: 1, troubles: 0 },
      { answers: 0, limited: 0, troubles: 0 },
      { answers: 0, limited: 0, troubles: 1 },
    ],
  });
});

test('steps are made twice as long where there would be more than 120', () => {
  const counts = (times: readonly number[]) => timelineOf(times).steps.map(({ answers }) => answers);
  assert.deepEqual(timelineOf([0, 15, 1195]).stepMs, 10);
  assert.equal(counts([0, 15, 1195]).length, 120);
  assert.deepEqual(timelineOf([0, 15, 1200]).stepMs, 20);
  assert.deepEqual(counts([0, 15, 1200]), [2, ...Array.from({ length: 59 }, () => 0), 1]);
});

test('what is told of the time before the start stands in the first step', () => {
  assert.deepEqual(timelineOf([-5]).steps, [{ answers: 1, limited: 0, troubles: 0 }]);
});

test('whatever the order, nothing is lost, and each stands in its step', () => {
  const time = fc.oneof(fc.nat({ max: 5000 }), fc.nat({ max: 100_000_000 }));
  fc.assert(
    fc.property(fc.array(time, { minLength: 1 }), (times) => {
      const { stepMs, steps } = timelineOf(times);
      assert.ok(steps.length <= 120);
      assert.equal(steps.length, Math.floor(Math.max(...times) / stepMs) + 1);
      for (const [at, { answers }] of steps.entries())
        assert.equal(answers, times.filter((ms) => Math.floor(ms / stepMs) === at).length);
    }),
  );
});
