import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint, userStatus } from '../request.ts';
import { answerOf } from '../sample-answers.ts';
import { sampleKnown as known } from '../sample-known.ts';
import { createBudget } from './budget.ts';
import { virtualClock } from './clock.ts';
import { createCourier } from './courier.ts';
import { createQuota } from './quota.ts';

/** A courier to a target whose every answer has so many characters, and how many requests it got. */
function courierTo(characters: number) {
  const clock = virtualClock(0);
  const { signal } = new AbortController();
  const deadline = Number.POSITIVE_INFINITY;
  const budget = createBudget({ clock, signal, deadline, maxRequests: 1e9, keepBack: 0 });
  let sent = 0;
  const courier = createCourier({
    client: {
      send: () => {
        sent++;
        return Promise.resolve({ ...answerOf(200, {}), text: 'x'.repeat(characters) });
      },
      close: () => Promise.resolve(),
    },
    known,
    clock,
    budget,
    quota: createQuota({ clock, budget, limits: {}, deadline, random: () => 0, signal }),
    signal,
    mostTroubles: 10,
    onExchange: () => undefined,
  });
  return { courier, sent: () => sent };
}

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
