import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fingerprint, userStatus } from '../request.ts';
import type { Answer } from '../answer.ts';
import { answerOf } from '../sample-answers.ts';
import { sampleKnown as known } from '../sample-known.ts';
import { createBudget } from './budget.ts';
import { virtualClock } from './clock.ts';
import { createCourier } from './courier.ts';
import { createQuota } from './quota.ts';
import type { WireTrouble } from './wire-trouble.ts';

/** A courier to a target, how many requests that got, and how many exchanges were seen. */
function courierOf(
  respond: (nth: number) => Answer | WireTrouble | Promise<WireTrouble>,
  { signal = new AbortController().signal, maxRequests = 1e9, keepBack = 0, mostTroubles = 10 } = {},
) {
  const clock = virtualClock(0);
  const deadline = Number.POSITIVE_INFINITY;
  const budget = createBudget({ clock, signal, deadline, maxRequests, keepBack });
  let sent = 0;
  let seen = 0;
  const courier = createCourier({
    client: {
      send: async () => respond(sent++),
      close: () => Promise.resolve(),
    },
    known,
    clock,
    budget,
    quota: createQuota({ clock, budget, limits: {}, deadline, random: () => 0, signal }),
    signal,
    mostTroubles,
    onExchange: () => void seen++,
  });
  return { courier, sent: () => sent, seen: () => seen };
}

/** Every answer of the target has so many characters. */
const courierTo = (characters: number) =>
  courierOf(() => ({ ...answerOf(200, {}), text: 'x'.repeat(characters) }));

const ids = Array.from({ length: 2000 }, (_, at) => userStatus(`n${at}`));

test('who asks the same again gets the same answer', async () => {
  const { courier, sent } = courierTo(100);
  for (const request of [...ids, ...ids]) await courier.share(request, fingerprint(request));
  assert.equal(sent(), 2000);
});

test('who asks the same at the same time gets the same answer, however long', async () => {
  const { courier, sent } = courierTo(10_000_000);
  await Promise.all([1, 2, 3].map(() => courier.share(ids[0]!, fingerprint(ids[0]!))));
  assert.equal(sent(), 1);
});

test('long answers are kept up to a bound, and asked for again beyond it', async () => {
  const { courier, sent } = courierTo(16_000);
  for (const request of [...ids, ...ids]) await courier.share(request, fingerprint(request));
  const kept = 4000 - sent();
  assert.ok(kept > 100 && kept * 16_000 < 16 * 1024 * 1024, `${kept} were kept`);
});

const broken: WireTrouble = {
  kind: 'trouble',
  code: 'network',
  words: 'the connection broke',
  unreachable: false,
};
const fine = answerOf(200, {});
const [lookup] = ids;

describe('a connection that breaks', () => {
  test('is tried three times in all, and each is seen', async () => {
    const { courier, sent, seen } = courierOf(() => broken);
    assert.equal((await courier.deliver(lookup!)).reply, broken);
    assert.deepEqual([sent(), seen()], [3, 3]);
  });

  test('is forgotten once an answer comes', async () => {
    const { courier, sent, seen } = courierOf((nth) => (nth < 2 ? broken : fine));
    assert.equal((await courier.deliver(lookup!)).reply.kind, 'answer');
    assert.deepEqual([sent(), seen()], [3, 3]);
  });

  test('is not tried again once the run is to end', async () => {
    const ending = new AbortController();
    const { courier, sent } = courierOf(
      () => {
        ending.abort();
        return broken;
      },
      { signal: ending.signal },
    );
    const { reply } = await courier.deliver(lookup!);
    assert.deepEqual([reply.kind === 'trouble' && reply.code, sent()], ['interrupted', 1]);
  });

  test('is not tried again where no request is left', async () => {
    const { courier, sent } = courierOf(() => broken, { maxRequests: 2 });
    const { reply } = await courier.deliver(lookup!);
    assert.deepEqual([reply.kind === 'trouble' && reply.code, sent()], ['budget', 2]);
  });

  test('is not tried again, nor is anything else, where the target is gone', async () => {
    let breakOff!: (trouble: WireTrouble) => void;
    const slow = new Promise<WireTrouble>((resolve) => (breakOff = resolve));
    const { courier, sent } = courierOf((nth) => (nth === 0 ? slow : broken), { mostTroubles: 1 });
    const underWay = courier.deliver(lookup!);
    await courier.deliver(lookup!);
    assert.equal(sent(), 4);
    breakOff(broken);
    assert.equal((await underWay).reply, broken);
    const { reply } = await courier.deliver(lookup!);
    assert.match(reply.kind === 'trouble' ? reply.words : '', /nothing more was sent/);
    assert.equal(sent(), 4);
  });

  test('which times out, is not tried again', async () => {
    const { courier, sent } = courierOf(() => ({ ...broken, code: 'timeout' }));
    await courier.deliver(lookup!);
    assert.equal(sent(), 1);
  });
});

test('what had no request left is asked for again by who has', async () => {
  const { courier, sent } = courierOf(() => fine, { maxRequests: 2, keepBack: 2 });
  const name = fingerprint(lookup!);
  const { reply } = await courier.share(lookup!, name, { until: 1 });
  assert.deepEqual([reply.kind === 'trouble' && reply.code, sent()], ['budget', 0]);
  assert.equal((await courier.share(lookup!, name)).reply.kind, 'answer');
});
