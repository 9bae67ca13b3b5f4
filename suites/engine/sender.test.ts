import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { userStatus } from '../request.ts';
import type { Answer } from '../answer.ts';
import { answerOf, sampleKnown as known } from '../testing/samples.ts';
import { createBudget } from './budget.ts';
import { virtualClock } from './clock.ts';
import { createSender } from './sender.ts';
import { createQuota } from './quota.ts';
import type { TransportError } from './transport-error.ts';

/** A sender to a target, how many requests that got, and how many exchanges were seen. */
function senderOf(
  respond: (nth: number) => Answer | TransportError | Promise<TransportError>,
  { signal = new AbortController().signal, maxRequests = 1e9, keepBack = 0, maxLostInARow = 10 } = {},
) {
  const clock = virtualClock(0);
  const deadline = Number.POSITIVE_INFINITY;
  const budget = createBudget({ clock, signal, deadline, maxRequests, keepBack });
  let sent = 0;
  let seen = 0;
  const sender = createSender({
    client: {
      send: async () => respond(sent++),
      close: () => Promise.resolve(),
    },
    known,
    clock,
    budget,
    quota: createQuota({ clock, budget, limits: {}, deadline, random: () => 0, signal }),
    signal,
    maxLostInARow,
    onExchange: () => void seen++,
  });
  return { sender, sent: () => sent, seen: () => seen };
}

const broken: TransportError = {
  kind: 'trouble',
  code: 'network',
  words: 'the connection broke',
  unreachable: false,
};
const fine = answerOf(200, {});
const lookup = userStatus('x');

describe('a connection that breaks', () => {
  test('is tried three times in all, and each is seen', async () => {
    const { sender, sent, seen } = senderOf(() => broken);
    assert.equal((await sender.send(lookup)).reply, broken);
    assert.deepEqual([sent(), seen()], [3, 3]);
  });

  test('is forgotten once an answer comes', async () => {
    const { sender, sent, seen } = senderOf((nth) => (nth < 2 ? broken : fine));
    assert.equal((await sender.send(lookup)).reply.kind, 'answer');
    assert.deepEqual([sent(), seen()], [3, 3]);
  });

  test('is not tried again once the run is to end', async () => {
    const ending = new AbortController();
    const { sender, sent } = senderOf(
      () => {
        ending.abort();
        return broken;
      },
      { signal: ending.signal },
    );
    const { reply } = await sender.send(lookup);
    assert.deepEqual([reply.kind === 'trouble' && reply.code, sent()], ['interrupted', 1]);
  });

  test('is not tried again where no request is left', async () => {
    const { sender, sent } = senderOf(() => broken, { maxRequests: 2 });
    const { reply } = await sender.send(lookup);
    assert.deepEqual([reply.kind === 'trouble' && reply.code, sent()], ['budget', 2]);
  });

  test('is not tried again, nor is anything else, where the target is gone', async () => {
    let breakOff!: (trouble: TransportError) => void;
    const slow = new Promise<TransportError>((resolve) => (breakOff = resolve));
    const { sender, sent } = senderOf((nth) => (nth === 0 ? slow : broken), { maxLostInARow: 1 });
    const underWay = sender.send(lookup);
    await sender.send(lookup);
    assert.equal(sent(), 4);
    breakOff(broken);
    assert.equal((await underWay).reply, broken);
    const { reply } = await sender.send(lookup);
    assert.match(reply.kind === 'trouble' ? reply.words : '', /nothing more was sent/);
    assert.equal(sent(), 4);
  });

  test('which times out, is not tried again', async () => {
    const { sender, sent } = senderOf(() => ({ ...broken, code: 'timeout' }));
    await sender.send(lookup);
    assert.equal(sent(), 1);
  });
});
