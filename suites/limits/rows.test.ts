import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  MOST,
  WINDOW_MS,
  keyOf,
  lateCounting,
  limitedContext,
  limiters,
  never,
  stated,
  type Simulation,
  type Limiter,
  unstated,
} from '../testing/simulated.ts';
import { rateLimit } from './rows.ts';
import { depositCheck, userStatus } from '../request.ts';
import { answerOf, sampleKnown } from '../testing/samples.ts';

const fixed =
  (most = MOST) =>
  () =>
    limiters['fixed']!(most, WINDOW_MS, 0);

interface Simulated extends Simulation {
  /** By default a correct limiter. */
  readonly make?: () => Limiter;
  readonly what?: typeof stated | typeof unstated;
}

/** The result of one requirement for a simulated target. */
async function findingOf(name: string, { make = fixed(), what = stated, ...more }: Simulated) {
  const requirement = rateLimit.find(({ id }) => id === `rate-limit/${name}`);
  assert.ok(requirement?.kind === 'scenario');
  return (await requirement.run(limitedContext(make, more).context, what)).finding;
}

async function outcome(name: string, simulated: Simulated) {
  const finding = await findingOf(name, simulated);
  if (finding.kind === 'failed') return `${finding.aspect}: ${finding.actual}`;
  if (finding.kind === 'inconclusive') return `${finding.reason}: ${finding.words}`;
  if (finding.kind === 'observed') return finding.words;
  return finding.kind === 'passed' && finding.threshold !== undefined
    ? `passed, ${finding.threshold}: ${finding.why}`
    : finding.kind;
}

const noLimiter = () => () => true;
const late = () => lateCounting(MOST, WINDOW_MS, 8);

/** What each requirement says about a target. */
const rows: Readonly<Record<string, Readonly<Record<string, readonly [Simulated, RegExp]>>>> = {
  'user-status/failed-lookups': {
    'a correct limiter': [{}, /^passed$/],
    'one too many': [
      { make: fixed(MOST + 1) },
      /^threshold: 13 passed within .*then 429.* \(at most \d+ in flight\)\. .*13 requests passed instead of 12\. Does the limiter use > instead of >=\?$/,
    ],
    'time for the first 429 only': [
      { make: fixed(MOST - 8), deadline: 1000 },
      /^passed, not compared: the run was too short for the rest before a burst$/,
    ],
    'time for one burst, which shows fewer': [
      { make: fixed(MOST - 1), deadline: 4 * WINDOW_MS },
      /^passed, not compared: 11 passed .*\. A second burst is needed to decide, but no time was left for it$/,
    ],
    'no time, and a target that contradicts the stated limit': [
      { make: fixed(MOST - 8), deadline: 1000, isContradicted: true },
      /^passed, not compared: the target contradicts the stated limit$/,
    ],
    'bursts that show fewer decide, although the target contradicts the stated limit': [
      { make: fixed(MOST - 8), isContradicted: true },
      /^threshold: 4 passed /,
    ],
  },
  'deposit-check/requests': {
    'one too few': [
      { make: fixed(MOST - 1) },
      /^threshold: 11 passed within .*\. Next burst after a pause: 11 passed .*\. 429 came before 12 requests had passed. A limit of 11 in 2 s would explain it$/,
    ],
    'twice as many': [
      { make: fixed(2 * MOST) },
      /^threshold: 24 passed .* 2 times as many passed as stated\./,
    ],
    'no limiter despite a stated limit': [{ make: noLimiter }, /^status: no 429 after 26 requests/],
    'no limiter, at a target too slow to fill a window': [
      { make: noLimiter, slowness: 3000 },
      /^timing-window: .*ended during the burst: the target was too slow, or this machine was busy$/,
    ],
    'no limiter without a stated limit': [
      { make: noLimiter, what: unstated },
      /^limit-not-reached: no 429 after 1000 requests \(known and unknown deposits in turn\) in /,
    ],
    'a limiter without a stated limit': [{ what: unstated }, /^passed$/],
    'a limiter that answers 500': [{ statusOf: () => 500 }, /^status: 12 passed, then 500: /],
    'a connection that breaks before the limit': [
      { make: noLimiter, isLost: (nth) => nth >= 3 },
      /^network: \d+ passed within .*, then the connection was reset/,
    ],
  },
  'user-status/recovers': {
    'a limit that ends': [{}, /^passed$/],
    'a limit that never ends': [{ make: never }, /^status: still 429$/],
    'a limit that never ends and is not stated': [
      { make: never, what: unstated, windowMs: 0 },
      /^rate-limited: /,
    ],
    'a limit that did not end in a run too short to show whether it does': [
      { make: never, deadline: 30_000 },
      /^budget: still 429; a rest of 1 min would decide whether it ever ends$/,
    ],
    'no 429': [{ account: () => undefined }, /^limit-not-reached: /],
  },
  'user-status/spares-successes': {
    'members that do not count': [{}, /^passed$/],
    'a few requests lost': [{ isLost: (nth) => nth % 20 === 0 }, /^passed$/],
    'most requests lost': [{ make: noLimiter, isLost: (nth) => nth > 89 }, /^network: /],
    'a target too slow to fill a window': [
      { make: noLimiter, slowness: 3000 },
      /^timing-window: 26 requests \(members\) in .*: too slow to reach the limit within its window$/,
    ],
    'members that count': [{ account: keyOf }, /^status: 429 after \d+ lookups of members$/],
    'a key that stays limited': [
      { make: never },
      /^depends: not checked because the key was still rate-limited$/,
    ],
  },
  'deposit-check/counts-at-once': {
    'a correct limiter': [{}, /^passed$/],
    'one that counts late': [
      { make: late, slowness: 2 },
      /^threshold: \d+ passed .*12 passed .*with pauses at the limit/,
    ],
    'another limit': [{ make: fixed(MOST - 1) }, /^depends: .*bursts do not fit the stated limit$/],
    'no stated limit': [{ what: unstated }, /^depends: .*no stated limit was compared$/],
  },
  'deposit-check/threshold': {
    'a correct limiter': [{}, /^after 12 requests \(known and unknown deposits in turn\)$/],
    'one that counts late': [{ make: late, slowness: 2 }, /; .*: the limiter counts them late$/],
    'no window to rest for': [{ what: unstated, windowMs: 0 }, /^at least 12 passed /],
    'no 429': [{ make: noLimiter, what: unstated }, /^no 429 came$/],
  },
};

describe('the report on a limiter', () => {
  for (const [requirement, some] of Object.entries(rows))
    for (const [name, [simulated, says]] of Object.entries(some))
      test(`${requirement}: ${name}`, async () => assert.match(await outcome(requirement, simulated), says));
});

test('observations never fail, for any limiter', async () => {
  for (const { id } of rateLimit.filter(({ level }) => level === 'observed'))
    for (const make of [fixed(), noLimiter, never])
      assert.equal((await findingOf(id.slice('rate-limit/'.length), { make })).kind, 'observed');
});

const id = '1a000000-0000-4000-8000-00000000000a';

test('a 429 to HEAD has no body to check', () => {
  for (const ask of [userStatus, depositCheck])
    for (const [method, verdict] of [
      ['HEAD', undefined],
      ['GET', 'failed'],
    ] as const) {
      const exchange = { request: ask(id, { method }), answer: answerOf(429, '') };
      const verdicts = rateLimit.flatMap((requirement) =>
        requirement.kind === 'monitor'
          ? [requirement.watch(sampleKnown)(exchange.request, exchange.answer)?.verdict.kind]
          : [],
      );
      assert.ok(
        verdicts.includes(verdict) && (method === 'GET' || verdicts.every((kind) => kind === undefined)),
      );
    }
});
