import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { priceOf } from '../engine/price.ts';
import { fingerprint, userStatus, type Request } from '../request.ts';
import { sampleKnown } from '../sample-known.ts';
import { explore, type Limited } from './explore.ts';
import { limiters, refilled, type Limiter } from './simulated.ts';
import { countedBy, keyOf, simulatedDoors, type Simulation } from './simulated-doors.ts';

const MOST = 12;
const WINDOW = 2000;
const known = {
  ...sampleKnown,
  limits: {
    'user-status': { failedLookups: MOST, windowSeconds: WINDOW / 1000 },
    'deposit-check': { requests: MOST, windowSeconds: WINDOW / 1000 },
  },
};
const unstated = { ...known, limits: {} };

const laid =
  (manner: string, most = MOST, windowMs = WINDOW) =>
  () =>
    limiters[manner]!(most, windowMs, 700);
const never = (): Limiter => {
  let count = 0;
  return () => count++ < MOST;
};
/** By key, and only what may count. */
const failedLookups = (request: Request) => (priceOf(request, known) === 0 ? undefined : keyOf(request));

const exploring = async (
  make: () => Limiter,
  {
    account = failedLookups,
    endpoint = 'user-status',
    what = known,
    ...more
  }: Partial<Simulation> & {
    account?: (request: Request) => string | undefined;
    endpoint?: 'user-status' | 'deposit-check';
    what?: typeof known | typeof unstated;
  } = {},
) => {
  const limiterOf = countedBy(account, make);
  const simulated = simulatedDoors({ limiterOf, forgetsAfter: WINDOW + 20, ...more });
  return { ...simulated, ...(await explore(endpoint, simulated.doors, what)) };
};
const summed = ({ judgement }: Limited) =>
  judgement?.kind === 'broken' ? `broken: ${/.*; (.*) would$/.exec(judgement.proof)?.[1]}` : judgement?.kind;

/** What is said of a limiter, at any latency. */
const judgements: Readonly<Record<string, readonly [make: () => Limiter, says: string, window?: string]>> = {
  'a fixed window': [laid('fixed'), 'kept', 'fixed'],
  'aligned windows': [laid('aligned'), 'kept', 'aligned'],
  'a sliding window': [laid('sliding'), 'kept', 'sliding'],
  'a window that counts refusals': [laid('sliding, refusals counted'), 'kept', 'sliding'],
  'a lock of one window': [laid('locked until a window without a try'), 'kept', 'sliding'],
  'a fixed window, one too many': [laid('fixed', MOST + 1), `broken: ${MOST + 1}`],
  'a fixed window, one too few': [laid('fixed', MOST - 1), `broken: ${MOST - 1}`],
  'a sliding window, one too many': [laid('sliding', MOST + 1), `broken: ${MOST + 1}`],
  'a sliding window, one too few': [laid('sliding', MOST - 1), `broken: ${MOST - 1}`],
};

describe('a limit that is stated', () => {
  for (const [name, [make, says, window]] of Object.entries(judgements))
    for (const endpoint of ['user-status', 'deposit-check'] as const)
      test(`${name}, ${endpoint}: ${says}`, async () => {
        for (const slowness of [0, 2, 40])
          for (const seed of [1, 2, 3]) {
            const { limited } = await exploring(make, { endpoint, slowness, seed });
            assert.equal(summed(limited!), says, JSON.stringify(limited!.judgement));
            if (window !== undefined && limited!.judgement?.kind === 'kept')
              assert.ok(limited!.judgement.manners.some((manner) => manner === window));
          }
      });
  test('a bucket that wins back what is stated is not held against it', async () => {
    const { limited } = await exploring(() => refilled(MOST, MOST / WINDOW));
    assert.notEqual(limited!.judgement?.kind, 'broken');
  });
  test('a bucket that wins back thrice as much breaks it', async () => {
    // Where a burst is over within the rounding of clocks, aligned windows that part just there would explain it.
    const { limited } = await exploring(() => refilled(MOST, (3 * MOST) / WINDOW), { slowness: 80 });
    assert.equal(limited!.judgement?.kind, 'broken');
  });
  test('one that never lets go: no more pass than is stated, and no recovery', async () => {
    const { limited } = await exploring(never);
    const { recovery, judgement, members } = limited!;
    assert.equal(recovery.kind === 'trouble' && recovery.code, 'rate-limited');
    assert.ok(judgement?.kind === 'open' && judgement.isStrictEnough);
    assert.equal(members, undefined, 'a key that is limited tells nothing of members');
  });
  test('what was sent before is forgotten first', async () => {
    const limiterOf = countedBy(() => 'all', laid('sliding'));
    const { doors } = simulatedDoors({ limiterOf, forgetsAfter: WINDOW + 20 });
    await doors.burst(...Array.from({ length: 5 }, () => userStatus('x')));
    const { limited } = await explore('user-status', doors, known);
    assert.deepEqual([limited!.passed, summed(limited!)], [MOST, 'kept']);
  });
  test('without time to let all be forgotten nothing is judged', async () => {
    const { limited, elapsedMs } = await exploring(laid('fixed'), { deadline: WINDOW });
    assert.equal(limited!.judgement, undefined);
    assert.ok(elapsedMs() <= WINDOW);
  });
});

test('where none is stated, what passed and when it let go is recorded, and nothing is judged', async () => {
  const { limited } = await exploring(laid('fixed'), { what: unstated, slowness: 10 });
  const { passed, judgement, recovery, refusedMs, recoveryMs } = limited!;
  assert.deepEqual([passed, judgement, recovery.kind], [MOST, undefined, 'answer']);
  assert.ok(refusedMs < WINDOW && recoveryMs >= WINDOW, `${refusedMs} to ${recoveryMs}`);
});

describe('a limiter that does not set in', () => {
  test('is sought with every kind of request, twice the threshold and more of each', async () => {
    const { bursts, limited, log } = await exploring(laid('fixed'), { account: () => undefined });
    assert.equal(limited, undefined);
    assert.deepEqual(
      bursts.map(({ kind, sent, passed }) => [kind, sent, passed]),
      ['unknown users', 'invalid ids', 'bad keys'].map((kind) => [kind, 26, 26]),
    );
    assert.equal(new Set(log.map(fingerprint)).size, 78, 'each another');
  });
  test('is sought no further once the target is in trouble', async () => {
    const { bursts } = await exploring(laid('fixed'), { account: () => undefined, isLost: (nth) => nth > 3 });
    assert.deepEqual(
      bursts.map(({ passed, trouble }) => [passed, trouble?.code]),
      [[4, 'network']],
    );
  });
  for (const [kind, counts] of [
    ['invalid ids', ({ target }: Request) => target.includes('invalid')],
    ['bad keys', ({ credential }: Request) => credential.as === 'header'],
  ] as const)
    test(`but for ${kind} is found by them`, async () => {
      const { limited } = await exploring(laid('fixed'), {
        account: (request) => (counts(request) ? 'all' : undefined),
      });
      assert.deepEqual([limited!.kind, summed(limited!)], [kind, 'kept']);
    });
});

describe('members', () => {
  test('are looked up more often than anything that counts, and spared', async () => {
    const { limited } = await exploring(laid('fixed'));
    const { sent, refusal } = limited!.members!;
    assert.deepEqual([sent, refusal], [2 * MOST + 2, undefined]);
  });
  test('that count are found out, and the key is left usable', async () => {
    const { limited, log, doors } = await exploring(laid('fixed'), { account: keyOf });
    const { passed, refusal } = limited!.members!;
    assert.equal(refusal?.answer.status, 429);
    assert.ok(passed <= MOST);
    const [reply] = await doors.burst(log.at(-1)!);
    assert.equal(reply!.kind === 'answer' && reply!.status, 404);
  });
  test('are no affair of deposit-check', async () => {
    const { limited } = await exploring(laid('fixed'), { endpoint: 'deposit-check' });
    assert.equal(limited!.members, undefined);
  });
});

describe('whom else the limiter limits', () => {
  const [, sibling] = known.callerKeys;
  const [stranger] = known.otherKeys;
  for (const [scope, account, expected] of [
    ['a key', keyOf, [false, false]],
    ['a partner', (request: Request) => partnerOf(request), [true, false]],
    ['everybody', () => 'all', [true, true]],
  ] as const)
    test(scope, async () => {
      const { limited } = await exploring(laid('fixed'), { account });
      assert.deepEqual(limited!.others, { [sibling!.name]: expected[0], [stranger!.name]: expected[1] });
    });
  const partnerOf = ({ credential }: Request) =>
    credential.as === 'key' ? (credential.key.partner ?? undefined) : undefined;
});

test('what a limited key and an unknown one are told meanwhile', async () => {
  const { limited } = await exploring(laid('fixed'));
  assert.deepEqual(limited!.meanwhile, {
    'a lookup that finds': 404,
    'an invalid id': 429,
    'an unknown key': 404,
  });
});

test('a limiter is driven to its limit once a run', async () => {
  const { log, doors } = await exploring(laid('fixed'));
  const { length } = log;
  await explore('user-status', doors, known);
  assert.equal(log.length, length);
});

describe('a target that takes its time', () => {
  const isUnderTest = (request: Request) => (keyOf(request) === known.callerKeys[0]!.key ? 'key' : undefined);
  const exploringDeposits = (make: () => Limiter, meets: NonNullable<Simulation['meets']>, most = MOST) =>
    exploring(make, {
      endpoint: 'deposit-check',
      account: isUnderTest,
      meets,
      what: {
        ...known,
        limits: { ...known.limits, 'deposit-check': { requests: most, windowSeconds: WINDOW / 1000 } },
      },
    });

  test('what is asked while a key is limited may spend what a bucket won back, and fails it not', async () => {
    // The second lot finds one in the bucket.
    const { limited } = await exploringDeposits(
      () => refilled(6, 6 / WINDOW),
      (lot) => (lot === 1 ? 330 : 10),
    );
    assert.notEqual(limited?.judgement?.kind, 'broken', JSON.stringify(limited?.judgement));
  });
  test('a bucket that grows while it is emptied is told from windows that let one more through', async () => {
    for (const each of [1, 3, 5, 10]) {
      const { limited } = await exploringDeposits(
        () => refilled(40, 40 / WINDOW),
        (_, place) => 10 + place * each,
        40,
      );
      assert.equal(limited?.judgement?.kind, 'kept', JSON.stringify(limited?.judgement));
    }
  });
  test('a burst that took longer than a window is tried once more', async () => {
    const { bursts } = await exploringDeposits(
      () => () => true,
      (lot, place) => 10 + place * (lot < 2 ? 90 : 5),
    );
    assert.deepEqual([bursts.length, bursts[0]!.elapsedMs < WINDOW], [1, true]);
  });
});
