import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../engine/client.ts';
import { handClock, watched } from '../engine/hand-clock.ts';
import { userStatus } from '../request.ts';
import { answerOf } from '../sample-answers.ts';
import { createAsker } from './asker.ts';

/** An asker of 3 requests and 5 s, with what was sent. */
function asking(send: Client['send']) {
  const hand = handClock();
  const targets: string[] = [];
  const client: Client = {
    send: (request) => {
      targets.push(request.target);
      return send(request);
    },
    close: async () => undefined,
  };
  const { signal } = new AbortController();
  return {
    hand,
    targets,
    asker: createAsker({ client, clock: hand.clock, signal, mostRequests: 3, mostMs: 5000 }),
  };
}

const askFor = (id: number) => userStatus(String(id), { credential: { as: 'none' } });

test('no request is sent beyond the bound, whatever is asked', async () => {
  const { asker, targets } = asking(async () => answerOf(200, {}));
  const replies = await Promise.all([1, 2, 3, 4, 5].map((id) => asker.ask(askFor(id))));
  assert.deepEqual(
    replies.map(({ kind }) => kind),
    ['answer', 'answer', 'answer', 'trouble', 'trouble'],
  );
  assert.equal(targets.length, 3);
  assert.equal(asker.asked(), 3);
});

test('no request is sent once the time is up, and none is waited for beyond it', async () => {
  const { asker, hand, targets } = asking(() => new Promise(() => undefined));
  const first = watched(asker.ask(askFor(1)));
  await hand.pass(4999);
  assert.equal(first.isDone, false);
  await hand.pass(1);
  assert.match(JSON.stringify(first.value), /no answer before 5 s were up/);
  assert.match(JSON.stringify(await asker.ask(askFor(2))), /not asked: 5 s were up/);
  assert.equal(targets.length, 1);
});

test('equal requests are sent once, and need no room', async () => {
  const { asker, targets } = asking(async () => answerOf(200, {}));
  const [one, other] = await Promise.all([asker.ask(askFor(1)), asker.ask(askFor(1))]);
  assert.equal(one, other);
  assert.equal(targets.length, 1);
  assert.equal(asker.roomBeside([askFor(1), askFor(2)]), 1);
});
