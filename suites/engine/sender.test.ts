import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fingerprint, userStatus } from '../request.ts';
import type { Answer } from '../answer.ts';
import { answerOf } from '../sample-answers.ts';
import { sampleKnown as known } from '../sample-known.ts';
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

/** Every answer of the target has so many characters. */
const senderWith = (characters: number) =>
  senderOf(() => ({ ...answerOf(200, {}), text: 'x'.repeat(characters) }));

const ids = Array.from({ length: 2000 }, (_, at) => userStatus(`n${at}`));

test('who asks the same again gets the same answer', async () => {
  const { sender, sent } = senderWith(100);
  for (const request of [...ids, ...ids]) await sender.sendShared(request, fingerprint(request));
  assert.equal(sent(), 2000);
});

test('who asks the same at the same time gets the same answer, however long', async () => {
  const { sender, sent } = senderWith(10_000_000);
  await Promise.all([1, 2, 3].map(() => sender.sendShared(ids[0]!, fingerprint(ids[0]!))));
  assert.equal(sent(), 1);
});

test('long answers are kept up to a bound, and asked for again beyond it', async () => {
  const { sender, sent } = senderWith(16_000);
  for (const request of [...ids, ...ids]) await sender.sendShared(request, fingerprint(request));
  const kept = 4000 - sent();
  assert.ok(kept > 100 && kept * 16_000 < 16 * 1024 * 1024, `${kept} were kept`);
});

const broken: TransportError = {
  kind: 'trouble',
  code: 'network',
  words: 'the connection broke',
  unreachable: false,
};
const fine = answerOf(200, {});
const [lookup] = ids;

describe('a connection that breaks', () => {
  test('is tried three times in all, and each is seen', async () => {
    const { sender, sent, seen } = senderOf(() => broken);
    assert.equal((await sender.send(lookup!)).reply, broken);
    assert.deepEqual([sent(), seen()], [3, 3]);
  });

  test('is forgotten once an answer comes', async () => {
    const { sender, sent, seen } = senderOf((nth) => (nth < 2 ? broken : fine));
    assert.equal((await sender.send(lookup!)).reply.kind, 'answer');
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
    const { reply } = await sender.send(lookup!);
    assert.deepEqual([reply.kind === 'trouble' && reply.code, sent()], ['interrupted', 1]);
  });

  test('is not tried again where no request is left', async () => {
    const { sender, sent } = senderOf(() => broken, { maxRequests: 2 });
    const { reply } = await sender.send(lookup!);
    assert.deepEqual([reply.kind === 'trouble' && reply.code, sent()], ['budget', 2]);
  });

  test('is not tried again, nor is anything else, where the target is gone', async () => {
    let breakOff!: (trouble: TransportError) => void;
    const slow = new Promise<TransportError>((resolve) => (breakOff = resolve));
    const { sender, sent } = senderOf((nth) => (nth === 0 ? slow : broken), { maxLostInARow: 1 });
    const underWay = sender.send(lookup!);
    await sender.send(lookup!);
    assert.equal(sent(), 4);
    breakOff(broken);
    assert.equal((await underWay).reply, broken);
    const { reply } = await sender.send(lookup!);
    assert.match(reply.kind === 'trouble' ? reply.words : '', /nothing more was sent/);
    assert.equal(sent(), 4);
  });

  test('which times out, is not tried again', async () => {
    const { sender, sent } = senderOf(() => ({ ...broken, code: 'timeout' }));
    await sender.send(lookup!);
    assert.equal(sent(), 1);
  });
});

test('what had no request left is asked for again by who has', async () => {
  const { sender, sent } = senderOf(() => fine, { maxRequests: 2, keepBack: 2 });
  const name = fingerprint(lookup!);
  const { reply } = await sender.sendShared(lookup!, name, { until: 1 });
  assert.deepEqual([reply.kind === 'trouble' && reply.code, sent()], ['budget', 0]);
  assert.equal((await sender.sendShared(lookup!, name)).reply.kind, 'answer');
});
