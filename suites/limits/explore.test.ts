import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inFlightOf } from '../engine/context.ts';
import { fingerprint, userStatus, type Request } from '../request.ts';
import {
  MOST,
  WINDOW_MS,
  keyOf,
  lateCounting,
  limitedContext,
  limiters,
  stated as known,
  unstated,
  type Limiter,
  type Simulation,
} from '../testing/simulated.ts';
import { askedBy } from './costs.ts';
import { explore } from './explore.ts';
import { burstSize } from './limit.ts';

const laid =
  (manner: string, most = MOST, windowMs = WINDOW_MS) =>
  () =>
    limiters[manner]!(most, windowMs, 700);
const fixed = laid('fixed');
const none = () => undefined;

interface Exploring extends Simulation {
  readonly make?: () => Limiter;
  readonly endpoint?: 'user-status' | 'deposit-check';
  readonly what?: typeof known | typeof unstated;
}

async function exploring({ make = fixed, endpoint = 'user-status', what = known, ...more }: Exploring = {}) {
  const simulated = limitedContext(make, more);
  return { ...simulated, ...(await explore(endpoint, simulated.context, what)) };
}

type Explored = Awaited<ReturnType<typeof exploring>>;

const isBadKey = ({ credential }: Request) => credential.as === 'header';
const isInvalid = ({ target }: Request) => target.includes('invalid');
/** Counts members and strangers as usual, and other kinds if it says so. */
const counting = (invalid: boolean, badKeys: boolean) => (request: Request) => {
  const counts = isBadKey(request)
    ? badKeys
    : isInvalid(request)
      ? invalid
      : askedBy(known, request).cost > 0;
  return counts ? 'all' : undefined;
};
/** Refuses everything after the first refusal, and then answers nothing. */
function silentOnceLimited(): Exploring {
  let isLimited = false;
  return {
    make: () => {
      const passes = fixed();
      return (instant) => {
        isLimited ||= !passes(instant);
        return !isLimited;
      };
    },
    isLost: () => isLimited,
    deadline: WINDOW_MS,
  };
}
/** Loses three requests near the end of the window, after one too few have passed. */
function lostAtEnd(): Exploring {
  let [count, first, last, lost] = [0, 0, 0, 0];
  return {
    make: () => (instant) => {
      first ||= instant;
      last = instant;
      return count++ < MOST - 1;
    },
    isLost: () => last >= first + 0.9 * WINDOW_MS && lost++ < 3,
  };
}
const partnerOf = ({ credential }: Request) =>
  credential.as === 'key' ? (credential.key.partner ?? undefined) : undefined;
const sibling = known.callerKeys[1]!.name;
const stranger = known.otherKeys[0]!.name;

const kindOf = ({ judgement }: Explored) => judgement?.kind;
const bursts = (found: Explored) => [kindOf(found), found.bursts.length];
const streams = ({ streams: some }: Explored) =>
  some.map(({ kind, passed, trouble }) => [kind, passed, trouble?.code]);
const others = ({ limited }: Explored) => limited?.others;
const countingOf = ({ limited }: Explored) => limited?.counting;
const members = ({ limited }: Explored) =>
  limited?.members && [limited.members.sent, limited.members.refusal?.reply.status];

type Case = readonly [what: () => Exploring, show: (found: Explored) => unknown, expected: unknown];

const restarts = {
  isLost: (nth: number) => nth >= 5 && nth < burstSize({ most: MOST, windowMs: WINDOW_MS }),
};

const cases: Readonly<Record<string, Case>> = {
  'a target that restarts during a burst': [() => restarts, bursts, ['kept', 2]],
  'a target that is gone': [() => ({ isLost: (nth) => nth >= 5 }), bursts, ['open', 1]],
  'a target that restarts while an unstated limit is sought': [
    () => ({ what: unstated, isLost: (nth) => nth >= 5 && nth < 1000, isLostBefore: () => true }),
    ({ limited }) => limited !== undefined,
    true,
  ],
  'a limit that may not have ended gets no second burst': [lostAtEnd, bursts, ['again', 1]],
  'a bucket with even refill needs one burst': [
    () => ({ make: laid('bucket'), slowness: 15 }),
    bursts,
    ['kept', 1],
  ],
  'a burst that is too slow is tried three times': [
    () => ({ make: () => () => true, slowness: 3000, endpoint: 'deposit-check' }),
    bursts,
    ['open', 3],
  ],
  'without time for a pause, nothing is judged or waited for': [
    () => ({ deadline: WINDOW_MS }),
    (found) => [kindOf(found), found.elapsedMs() <= WINDOW_MS, found.streams[0]!.history[0]!.sentAt],
    [undefined, true, 10_000],
  ],
  'a limit that is not stated is recorded and not judged': [
    () => ({ what: unstated, slowness: 2 }),
    ({ limited, judgement }) => [
      limited!.first.passed,
      judgement,
      limited!.recovery.kind,
      limited!.refusedMs < WINDOW_MS && limited!.recoveryMs >= WINDOW_MS,
    ],
    [MOST, undefined, 'answer', true],
  ],
  'no limiter is searched with every kind, each time with other requests, more than twice the threshold': [
    () => ({ account: none }),
    (found) => [streams(found), new Set(found.log.map(fingerprint)).size],
    [['unknown users', 'invalid ids', 'bad keys'].map((kind) => [kind, 26, undefined]), 78],
  ],
  'but not further after an error of the target': [
    () => ({ account: none, isLost: (nth) => nth > 3 }),
    streams,
    [['unknown users', 4, 'network']],
  ],
  'a limiter of invalid ids alone is found': [
    () => ({ account: (request) => (isInvalid(request) ? 'all' : undefined) }),
    (found) => [found.limited!.first.kind, kindOf(found)],
    ['invalid ids', 'kept'],
  ],
  'a limiter of bad keys alone is found': [
    () => ({ account: (request) => (isBadKey(request) ? 'all' : undefined) }),
    (found) => [found.limited!.first.kind, kindOf(found)],
    ['bad keys', 'kept'],
  ],
  'members are looked up more often than the limit': [() => ({}), members, [2 * MOST + 2, undefined]],
  'members are not looked up on deposit-check': [() => ({ endpoint: 'deposit-check' }), members, undefined],
  'what counts is unknown without time for another window': [
    () => ({ deadline: 4.5 * WINDOW_MS }),
    (found) => [countingOf(found), found.limited!.recovery.kind],
    [undefined, 'answer'],
  ],
  ...Object.fromEntries(
    [true, false].flatMap((invalid) =>
      [true, false].flatMap((badKeys) =>
        ['fixed', 'sliding'].map((manner): [string, Case] => [
          `${manner}, invalid ids count: ${invalid}, bad keys count: ${badKeys}`,
          [
            () => ({ make: laid(manner), account: counting(invalid, badKeys), slowness: 5 }),
            countingOf,
            { 'invalid ids': invalid, 'bad keys': badKeys },
          ],
        ]),
      ),
    ),
  ),
  'a limiter of a key': [() => ({ account: keyOf }), others, { [sibling]: false, [stranger]: false }],
  'a limiter of a partner': [() => ({ account: partnerOf }), others, { [sibling]: true, [stranger]: false }],
  'a limiter of everybody': [() => ({ account: () => 'all' }), others, { [sibling]: true, [stranger]: true }],
  'how a limited key and an unknown key are answered': [
    () => ({}),
    ({ limited }) => limited!.statuses,
    { 'a known id': 404, 'an invalid id': 429, 'an unknown key': 404 },
  ],
  'a key whose request is lost is not reported': [
    silentOnceLimited,
    ({ limited }) => [limited!.others, limited!.statuses],
    [{}, {}],
  ],
};

describe('a limiter is explored', () => {
  for (const [name, [what, show, expected]] of Object.entries(cases))
    test(name, async () => assert.deepEqual(show(await exploring(what())), expected));

  for (const most of [MOST, 20, 250])
    test(`${most} requests, of which each is counted 10 ms late: seen twice, and no break`, async () => {
      const what = { ...known, limits: { 'deposit-check': { requests: most, windowSeconds: 3 } } };
      const make = () => lateCounting(most, 3000, 10);
      // At equal latencies, 4 requests would be answered at once each time.
      for (const latency of [{}, { slowness: 2 }, { meets: () => 0 }, { meets: () => 3 }]) {
        const { judgement } = await exploring({ make, endpoint: 'deposit-check', what, ...latency });
        assert.deepEqual(judgement, { kind: 'kept', countsLater: 2 });
      }
    });

  test('--concurrency 1 keeps one request in flight, and the first 429 ends a stream', async () => {
    const found = await exploring({ slowness: 100, inFlight: 1 });
    assert.equal(found.streams[0]!.sent, MOST + 1);
    const history = found.bursts[0]!.history.filter(({ result }) => result !== 'other');
    for (const [at, { sentAt }] of history.entries())
      assert.ok(at === 0 || sentAt >= history[at - 1]!.receivedAt);
  });

  test('earlier requests leave the window first, stated or not', async () => {
    for (const what of [known, unstated]) {
      const { context } = limitedContext(laid('sliding'), { account: () => 'all' });
      await context.burst(...Array.from({ length: 5 }, () => userStatus('x')));
      assert.equal((await explore('user-status', context, what)).limited!.first.passed, MOST);
    }
  });

  test('once per run, and the key stays usable', async () => {
    const { log, context } = await exploring({ account: keyOf });
    const { length } = log;
    await explore('user-status', context, known);
    assert.equal(log.length, length);
    const [reply] = await context.burst(log.at(-1)!);
    assert.equal(reply!.kind === 'answer' && reply!.status, 404);
  });
});

describe('requests in flight, for 500 in 750 ms', () => {
  const latencies = (count: number, ms: number, among: number) =>
    Array.from({ length: count }, () => ({ ms, among }));
  const first = latencies(8, 15, 4);
  const slower = [...latencies(8, 4, 4), ...latencies(8, 20, 4)];
  for (const [what, some, expected] of [
    ['a target that queues requests', first, 10],
    ['still', [...first, ...latencies(100, 15 * (10 / 4), 10)], 10],
    ['overloaded', [...first, ...latencies(100, 3000, 10)], 40],
    ['a target that answers only the first requests fast', slower, 14],
    ['still so', [...slower, ...latencies(800, 20, 14)], 14],
  ] as const)
    test(`${what}: ${expected}`, () =>
      assert.equal(inFlightOf({ most: 500, withinMs: 750 }, some), expected));
});
