import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queuedChaos, takeNext, type ChaosQueue } from './chaos-queue.ts';
import { chaosName } from './chaos.ts';

function drain(queue: ChaosQueue): readonly string[] {
  const [action, rest] = takeNext(queue);
  return action === undefined ? [] : [chaosName(action), ...drain(rest)];
}

test('each entry befalls as many requests as it says, in order', () => {
  const queue = [queuedChaos('503', 2), queuedChaos('slow:1.5s', 1), queuedChaos('reset', 1)];
  assert.deepEqual(drain(queue), ['503', '503', 'slow:1500ms', 'reset']);
});

test('an empty queue has nothing and stays empty', () => assert.deepEqual(takeNext([]), [undefined, []]));

test('taking changes no queue', () => {
  const queue = Object.freeze([
    Object.freeze(queuedChaos('timeout', 2)),
    Object.freeze(queuedChaos('429', 1)),
  ]);
  takeNext(queue);
  assert.deepEqual(drain(queue), ['timeout', 'timeout', '429']);
});

test('what is no entry is refused in words to mend it by', () => {
  const refused = (kind: string, count: number, message: string) =>
    assert.throws(() => queuedChaos(kind, count), { name: 'Problem', code: 'usage', message });
  refused('503:0.5', 1, 'chaos 503:0.5: the next requests take no rate; leave it out');
  refused('slow:1s..2s', 1, 'chaos slow:1s..2s: the next requests take one time, such as slow:2s');
  for (const count of [0, -1, 1.5, Number.NaN, 1e9])
    refused('503', count, `chaos 503: count has to be a whole number from 1 to 1000000: ${count}`);
  refused(
    'resett',
    1,
    'chaos resett: there is no such kind; did you mean reset? (kinds: 429, 500 to 599, reset, timeout, slow, truncate)',
  );
});
