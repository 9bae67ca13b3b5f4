import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inFlightOf } from '../engine/context.ts';
import type { Known } from '../known.ts';
import { askedBy } from './costs.ts';
import { fingerprint, userStatus, type Request } from '../request.ts';
import { explore } from './explore.ts';
import { describeBursts } from './history.ts';
import { burstSize } from './limit.ts';
import {
  MOST,
  WINDOW_MS,
  keyOf,
  lateCounting,
  limitedContext,
  limiters,
  never,
  stated as known,
  type Simulation,
  type Limiter,
  unstated,
} from '../testing/simulated.ts';

const laid =
  (manner: string, most = MOST, windowMs = WINDOW_MS) =>
  () =>
    limiters[manner]!(most, windowMs, 700);

const exploring = async (
  make: () => Limiter,
  {
    endpoint = 'user-status',
    what = known,
    ...more
  }: Simulation & {
    endpoint?: 'user-status' | 'deposit-check';
    what?: Known;
  } = {},
) => {
  const simulated = limitedContext(make, more);
  return { ...simulated, ...(await explore(endpoint, simulated.context, what)) };
};

describe('a stated limit', () => {
  test('one that never ends: the first burst fits, and there is no recovery', async () => {
    const { limited, judgement } = await exploring(never);
    const { recovery, members } = limited!;
    assert.equal(recovery.kind === 'trouble' && recovery.code, 'rate-limited');
    assert.deepEqual(judgement, { kind: 'kept' });
    assert.equal(members, undefined, 'a key that is limited tells nothing of members');
  });
  for (const [what, lostUntil, says, count] of [
    ['restarts', burstSize({ most: MOST, windowMs: WINDOW_MS }), 'kept', 2],
    ['is gone', Infinity, 'open', 1],
  ] as const)
    test(`a target that ${what} during a burst: ${says}`, async () => {
      const isLost = (nth: number) => nth >= 5 && nth < lostUntil;
      const { bursts, judgement } = await exploring(laid('fixed'), { isLost });
      assert.deepEqual([judgement?.kind, bursts.length], [says, count]);
    });
  for (const most of [MOST, 20, 250])
    test(`${most} requests, of which each is counted 10 ms late: seen twice, and no break`, async () => {
      const what = { ...known, limits: { 'deposit-check': { requests: most, windowSeconds: 3 } } };
      // At equal latencies, 4 requests would be answered at once each time.
      for (const latency of [{}, { slowness: 2 }, { meets: () => 0 }, { meets: () => 3 }]) {
        const { judgement } = await exploring(() => lateCounting(most, 3000, 10), {
          endpoint: 'deposit-check',
          what,
          ...latency,
        });
        assert.deepEqual(judgement, { kind: 'kept', countsLater: 2 });
      }
    });
  test('a target that restarts while an unstated limit is sought', async () => {
    const isLost = (nth: number) => nth >= 5 && nth < 1000;
    const { limited } = await exploring(laid('fixed'), { what: unstated, isLost, isLostBefore: () => true });
    assert.ok(limited !== undefined);
  });
  test('one that may not have ended gets no second burst', async () => {
    let [count, first, last, lost] = [0, 0, 0, 0];
    const { bursts, limited, judgement } = await exploring(
      () => (instant) => {
        first ||= instant;
        last = instant;
        return count++ < MOST - 1;
      },
      { isLost: () => last >= first + 0.9 * WINDOW_MS && lost++ < 3 },
    );
    const { recovery } = limited!;
    assert.equal(recovery.kind === 'trouble' && recovery.code, 'network');
    assert.deepEqual([bursts.length, judgement?.kind], [1, 'again']);
  });
  test('one burst identifies a bucket with even refill', async () => {
    for (const slowness of [0, 2, 15]) {
      const { bursts, judgement } = await exploring(laid('bucket'), { slowness });
      assert.deepEqual([bursts.length, judgement], [1, { kind: 'kept' }]);
    }
  });
  test('a burst that is too slow is tried three times', async () => {
    const { bursts } = await exploring(() => () => true, { slowness: 3000, endpoint: 'deposit-check' });
    assert.equal(bursts.length, 3);
  });
  test('--concurrency 1 keeps one request in flight', async () => {
    const { streams, bursts } = await exploring(laid('fixed'), { slowness: 100, inFlight: 1 });
    assert.equal(streams[0]!.sent, MOST + 1, 'the first 429 ends a stream');
    const history = bursts[0]!.history.filter(({ result }) => result !== 'other');
    for (const [at, { sentAt }] of history.entries())
      assert.ok(at === 0 || sentAt >= history[at - 1]!.receivedAt);
    assert.match(
      describeBursts([{ ...bursts[0]!, isPaused: true }], { most: MOST, windowMs: WINDOW_MS }),
      / \(with pauses at the limit\)/,
    );
  });
  test('a slow target gets as many requests in flight as the limit needs', async () => {
    const { streams, judgement } = await exploring(laid('fixed', 60, 3000), {
      endpoint: 'deposit-check',
      slowness: 250,
      what: { ...known, limits: { ...known.limits, 'deposit-check': { requests: 60, windowSeconds: 3 } } },
    });
    assert.equal(judgement?.kind, 'kept');
    assert.ok(streams[0]!.elapsedMs < 2500, `${streams[0]!.elapsedMs} ms`);
  });
  const pace = { most: 500, withinMs: 750 };
  const latencies = (count: number, ms: number, among: number) =>
    Array.from({ length: count }, () => ({ ms, among }));
  test('a target that queues requests does not get more and more at once', () => {
    const first = latencies(8, 15, 4);
    assert.equal(inFlightOf(pace, first), 10);
    assert.equal(inFlightOf(pace, [...first, ...latencies(100, 15 * (10 / 4), 10)]), 10);
    assert.equal(inFlightOf(pace, [...first, ...latencies(100, 3000, 10)]), 40, 'nor if it is overloaded');
  });
  test('a target that answers only the first requests fast gets more at once', () => {
    const slower = [...latencies(8, 4, 4), ...latencies(8, 20, 4)];
    assert.equal(inFlightOf(pace, slower), 14);
    assert.equal(inFlightOf(pace, [...slower, ...latencies(800, 20, 14)]), 14);
  });
  test('without time for a pause, nothing is judged or waited for', async () => {
    const { judgement, streams, context, elapsedMs } = await exploring(laid('fixed'), {
      deadline: WINDOW_MS,
    });
    assert.equal(judgement, undefined);
    assert.ok(elapsedMs() <= WINDOW_MS);
    assert.equal(streams[0]!.history[0]!.sentAt, context.now() - elapsedMs());
  });
});

test('earlier requests leave the window first, stated or not', async () => {
  for (const what of [known, unstated]) {
    const { context } = limitedContext(laid('sliding'), { account: () => 'all' });
    await context.burst(...Array.from({ length: 5 }, () => userStatus('x')));
    const { limited } = await explore('user-status', context, what);
    assert.equal(limited!.first.passed, MOST);
  }
});

test('a limit that is not stated is recorded and not judged', async () => {
  const { limited, judgement } = await exploring(laid('fixed'), { what: unstated, slowness: 2 });
  const {
    first: { passed },
    recovery,
    refusedMs,
    recoveryMs,
  } = limited!;
  assert.deepEqual([passed, judgement, recovery.kind], [MOST, undefined, 'answer']);
  assert.ok(refusedMs < WINDOW_MS && recoveryMs >= WINDOW_MS, `${refusedMs} to ${recoveryMs}`);
});

describe('a limiter that never answers 429', () => {
  test('is searched with every kind of request, more than twice the threshold of each', async () => {
    const { streams, limited, log } = await exploring(laid('fixed'), { account: () => undefined });
    assert.equal(limited, undefined);
    assert.deepEqual(
      streams.map(({ kind, sent, passed }) => [kind, sent, passed]),
      ['unknown users', 'invalid ids', 'bad keys'].map((kind) => [kind, 26, 26]),
    );
    assert.equal(new Set(log.map(fingerprint)).size, 78, 'each another');
  });
  test('is not searched further after an error of the target', async () => {
    const { streams } = await exploring(laid('fixed'), {
      account: () => undefined,
      isLost: (nth) => nth > 3,
    });
    assert.deepEqual(
      streams.map(({ passed, trouble }) => [passed, trouble?.code]),
      [[4, 'network']],
    );
  });
  for (const [kind, counts] of [
    ['invalid ids', ({ target }: Request) => target.includes('invalid')],
    ['bad keys', ({ credential }: Request) => credential.as === 'header'],
  ] as const)
    test(`except for ${kind} is found by them`, async () => {
      const { limited, judgement } = await exploring(laid('fixed'), {
        account: (request) => (counts(request) ? 'all' : undefined),
      });
      assert.deepEqual([limited!.first.kind, judgement?.kind], [kind, 'kept']);
    });
});

describe('members', () => {
  test('are looked up more often than the limit, and do not count', async () => {
    const { limited } = await exploring(laid('fixed'));
    const { sent, refusal } = limited!.members!;
    assert.deepEqual([sent, refusal], [2 * MOST + 2, undefined]);
  });
  test('that count are detected, and the key stays usable', async () => {
    const { limited, log, context } = await exploring(laid('fixed'), { account: keyOf });
    const { passed, refusal } = limited!.members!;
    assert.equal(refusal?.reply.status, 429);
    assert.ok(passed <= MOST);
    const [reply] = await context.burst(log.at(-1)!);
    assert.equal(reply!.kind === 'answer' && reply!.status, 404);
  });
  test('are not looked up on deposit-check', async () => {
    const { limited } = await exploring(laid('fixed'), { endpoint: 'deposit-check' });
    assert.equal(limited!.members, undefined);
  });
});

describe('which kinds of requests count', () => {
  const isBadKey = ({ credential }: Request) => credential.as === 'header';
  test('is unknown without time for another window', async () => {
    const { limited } = await exploring(laid('fixed'), { deadline: 4.5 * WINDOW_MS });
    assert.deepEqual([limited?.members?.refusal, limited?.counting], [undefined, undefined]);
    assert.equal(limited?.recovery.kind, 'answer');
  });
  for (const [invalid, badKeys] of [
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ] as const)
    for (const manner of ['fixed', 'sliding'])
      test(`${manner}: invalid ids ${invalid ? '' : 'do not '}count, bad keys ${badKeys ? '' : 'do not '}count`, async () => {
        const counts = (request: Request) => {
          if (isBadKey(request)) return badKeys;
          return request.target.includes('invalid') ? invalid : askedBy(known, request).cost > 0;
        };
        const account = (request: Request) => (counts(request) ? 'all' : undefined);
        const { limited } = await exploring(laid(manner), { account, slowness: 5 });
        assert.deepEqual(limited?.counting, { 'invalid ids': invalid, 'bad keys': badKeys });
      });
});

describe('which other keys are limited', () => {
  const [, sibling] = known.callerKeys;
  const [unknownId] = known.otherKeys;
  for (const [scope, account, expected] of [
    ['a key', keyOf, [false, false]],
    ['a partner', (request: Request) => partnerOf(request), [true, false]],
    ['everybody', () => 'all', [true, true]],
  ] as const)
    test(scope, async () => {
      const { limited } = await exploring(laid('fixed'), { account });
      assert.deepEqual(limited!.others, {
        [sibling!.name]: expected[0],
        [unknownId!.name]: expected[1],
      });
    });
  const partnerOf = ({ credential }: Request) =>
    credential.as === 'key' ? (credential.key.partner ?? undefined) : undefined;
});

test('how a limited key and an unknown key are answered during a limit', async () => {
  const { limited } = await exploring(laid('fixed'));
  assert.deepEqual(limited!.statuses, {
    'a known id': 404,
    'an invalid id': 429,
    'an unknown key': 404,
  });
});

test('a key whose request is lost is not reported', async () => {
  let isLimited = false;
  const limiter = laid('fixed');
  const { limited } = await exploring(
    () => {
      const passes = limiter();
      return (instant) => {
        isLimited ||= !passes(instant);
        return !isLimited;
      };
    },
    { isLost: () => isLimited, deadline: WINDOW_MS },
  );
  assert.deepEqual([limited!.others, limited!.statuses], [{}, {}]);
});

test('a limiter is explored once per run', async () => {
  const { log, context } = await exploring(laid('fixed'));
  const { length } = log;
  await explore('user-status', context, known);
  assert.equal(log.length, length);
});
