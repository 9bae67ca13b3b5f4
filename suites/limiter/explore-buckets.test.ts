import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Answer } from '../answer.ts';
import type { Request } from '../request.ts';
import type { Doors } from '../requirement.ts';
import { answerOf } from '../sample-answers.ts';
import { sampleKnown } from '../sample-known.ts';
import { explore } from './explore.ts';

const WINDOW = 2000;

/** The way of an answer, in ms. */
const BACK = 10;

/** Whether a counted request passes at an instant. */
type Limiter = (instant: number) => boolean;

/** When the first request of a lot meets the target and how long each one after it takes, in ms. */
type Latency = (lot: number) => { readonly there: number; readonly each?: number };

const known = {
  ...sampleKnown,
  limits: {
    'user-status': { failedLookups: 12, windowSeconds: WINDOW / 1000 },
    'deposit-check': { requests: 12, windowSeconds: WINDOW / 1000 },
  },
};

const isUnderTest = ({ credential }: Request) =>
  credential.as === 'caller' || (credential.as === 'key' && credential.key === known.callerKeys[0]);

/** Doors to a target that limits the key under test, in a time that passes only while one waits. */
function doorsTo(limiter: Limiter, latency: Latency): Doors {
  let now = 10_000;
  let lots = 0;
  const burst = (requests: readonly Request[]): readonly Answer[] => {
    const { there, each = 0 } = latency(lots++);
    const sentAt = now;
    return requests.map((request, nth) => {
      const instant = sentAt + there + nth * each;
      const passes = !isUnderTest(request) || limiter(instant);
      now = instant + BACK;
      return { ...answerOf(passes ? 404 : 429, {}), sentAt, receivedAt: now };
    });
  };
  const patiently: Doors['patiently'] = (request, onRefused) => {
    for (;;) {
      const answer = burst([request])[0]!;
      if (answer.status !== 429) return Promise.resolve(answer);
      onRefused(answer);
      now += 500;
    }
  };
  const wait = (ms: number) => {
    now += ms;
    return Promise.resolve();
  };
  return {
    send: (...requests) => Promise.resolve(requests.flatMap((request) => burst([request]))),
    sendAtOnce: (...requests) => Promise.resolve(burst(requests)),
    patiently,
    burst: (...requests) => Promise.resolve(burst(requests)),
    first: (request) => Promise.resolve(burst([request])[0]!),
    settle: () => wait(WINDOW),
    once: (_, make) => make(),
    wait,
    now: () => now,
    leftMs: () => 300_000 - now,
    cases: 20,
    keyWorks: () => true,
  };
}

const refilled = (holds: number, perMs: number): Limiter => {
  let level = holds;
  let last = 0;
  return (instant) => {
    level = Math.min(holds, level + (instant - last) * perMs);
    last = instant;
    if (level < 1) return false;
    level--;
    return true;
  };
};

describe('what is asked while a key is limited', () => {
  test('may count without failing a bucket, which won one back and spent it on that', async () => {
    // The second lot finds one in the bucket.
    const latency: Latency = (lot) => ({ there: lot === 1 ? 330 : 10 });
    const { limited } = await explore('deposit-check', doorsTo(refilled(6, 6 / WINDOW), latency), known);
    assert.notEqual(limited?.judgement?.kind, 'broken', JSON.stringify(limited?.judgement));
  });
});

test('a bucket that grows while it is emptied is told from windows that let one more through', async () => {
  for (const each of [1, 3, 5]) {
    const target = doorsTo(refilled(40, 40 / WINDOW), () => ({ there: 10, each }));
    const { limited } = await explore('deposit-check', target, {
      ...known,
      limits: { 'deposit-check': { requests: 40, windowSeconds: WINDOW / 1000 } },
    });
    assert.equal(limited?.judgement?.kind, 'kept', JSON.stringify(limited?.judgement));
  }
});

test('a burst that took longer than a window is tried once more', async () => {
  const latency: Latency = (lot) => ({ there: 10, each: lot < 2 ? 90 : 5 });
  const { bursts } = await explore(
    'deposit-check',
    doorsTo(() => true, latency),
    known,
  );
  assert.ok(bursts.length === 1 && bursts[0]!.elapsedMs < WINDOW, `${bursts[0]!.elapsedMs} ms`);
});
