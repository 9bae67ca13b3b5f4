import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { openRequests } from './open-requests.ts';

/** As much of a response as is asked for. */
const responseOf = (name: string) =>
  Object.assign(new EventEmitter(), { req: { name }, destroyed: false }) as unknown as ServerResponse;

/** The end of this turn of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what arrives in one turn is answered behind it, in its order, each knowing of those behind it', async () => {
  const answered: unknown[] = [];
  const open = openRequests((request) =>
    answered.push([(request as unknown as { name: string }).name, open.others()]),
  );
  for (const name of ['a', 'b', 'c']) open.take(responseOf(name));
  assert.deepEqual(answered, []);
  await turn();
  assert.deepEqual(answered, [
    ['a', 2],
    ['b', 1],
    ['c', 0],
  ]);
  open.take(responseOf('d'));
  await turn();
  assert.deepEqual(answered.at(-1), ['d', 0]);
});

test('what is held is open until it is closed, and no longer', async () => {
  const seen: number[] = [];
  const open = openRequests(() => seen.push(open.others()));
  const held = responseOf('held');
  open.hold(held);
  open.hold(held);
  open.take(responseOf('another'));
  assert.equal(open.all().length, 2);
  await turn();
  assert.deepEqual(open.all(), [held]);
  held.emit('close');
  open.take(responseOf('another'));
  await turn();
  assert.deepEqual([seen, open.all()], [[1, 0], []]);
});

test('what is closed already is not held: nothing would let it go', () => {
  const open = openRequests(() => undefined);
  const gone = Object.assign(responseOf('gone'), { destroyed: true });
  open.hold(gone);
  assert.deepEqual(open.all(), []);
});

test('all that arrived are open while they are answered', async () => {
  let open: ReturnType<typeof openRequests> | undefined;
  const counts: (number | undefined)[] = [];
  open = openRequests(() => counts.push(open?.all().length));
  open.take(responseOf('a'));
  open.take(responseOf('b'));
  await turn();
  assert.deepEqual(counts, [2, 2]);
});
