import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTraffic } from './traffic.ts';

const answer = (status: number, receivedAt: number, tookMs: number) =>
  ({ kind: 'answer', status, receivedAt, tookMs }) as const;

test('answers are counted by endpoint, 429s and troubles in the timeline', () => {
  const traffic = createTraffic(1000);
  traffic.see({ endpoint: 'deposit-check' }, answer(429, 1001, 2));
  traffic.see({ endpoint: 'deposit-check' }, answer(404, 1012.5, 4));
  traffic.see({ endpoint: 'deposit-check' }, { kind: 'trouble' });
  const { endpoints, timeline } = traffic.figures();
  assert.deepEqual(
    endpoints.map(({ endpoint, answers, maxMs }) => [endpoint, answers, maxMs]),
    [['deposit-check', 2, 4]],
  );
  assert.deepEqual(timeline.steps, [
    { answers: 1, limited: 1, troubles: 0 },
    { answers: 1, limited: 0, troubles: 1 },
  ]);
});

test('figures are those of the moment', () => {
  const traffic = createTraffic(0);
  const before = traffic.figures();
  traffic.see({ endpoint: 'user-status' }, answer(200, 0, 1));
  assert.deepEqual(before, { endpoints: [], timeline: { stepMs: 10, steps: [] } });
  assert.equal(traffic.figures().endpoints[0]?.answers, 1);
});
