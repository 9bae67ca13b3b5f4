import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  MOST,
  WINDOW_MS,
  keyOf,
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

/** The result of one requirement for a simulated target. */
async function outcome(
  name: string,
  make: () => Limiter,
  { what = stated, ...more }: Simulation & { readonly what?: typeof stated | typeof unstated } = {},
) {
  const requirement = rateLimit.find(({ id }) => id === `rate-limit/${name}`);
  assert.ok(requirement?.kind === 'scenario');
  const { context } = limitedContext(make, more);
  const { finding } = await requirement.run(context, what);
  if (finding.kind === 'failed') return `${finding.aspect}: ${finding.actual}`;
  if (finding.kind === 'inconclusive') return `${finding.reason}: ${finding.words}`;
  return finding.kind === 'passed' && finding.threshold !== undefined
    ? `passed, ${finding.threshold}: ${finding.why}`
    : finding.kind;
}

type Row = readonly [name: string, make: () => Limiter, more: Parameters<typeof outcome>[2], says: RegExp];
const rows: Readonly<Record<string, Row>> = {
  'a correct limiter': ['user-status/failed-lookups', fixed(), {}, /^passed$/],
  'one too many': [
    'user-status/failed-lookups',
    fixed(MOST + 1),
    {},
    /^threshold: 13 passed within .*then 429.* \(at most \d+ in flight\)\. .*13 requests passed instead of 12\. Does the limiter use > instead of >=\?$/,
  ],
  'one too few': [
    'deposit-check/requests',
    fixed(MOST - 1),
    {},
    /^threshold: 11 passed within .*\. Next burst after a pause: 11 passed .*\. 429 came before 12 requests had passed. A limit of 11 in 2 s would explain it$/,
  ],
  'no limiter despite a stated limit': [
    'deposit-check/requests',
    fixed(1e6),
    {},
    /^status: no 429 after 26 requests/,
  ],
  'no limiter, at a target too slow to fill a window': [
    'deposit-check/requests',
    fixed(1e6),
    { slowness: 3000 },
    /^timing-window: .*ended during the burst: the target was too slow, or this machine was busy$/,
  ],
  'no limiter without a stated limit': [
    'deposit-check/requests',
    fixed(1e6),
    { what: unstated },
    /^limit-not-reached: no 429 after 1000 requests \(known and unknown deposits in turn\) in /,
  ],
  'a limiter without a stated limit': ['deposit-check/requests', fixed(), { what: unstated }, /^passed$/],
  'a latency at which a bucket would pass as many': [
    'user-status/failed-lookups',
    fixed(),
    { slowness: 600 },
    /^passed$/,
  ],
  'a limiter that answers 500': [
    'deposit-check/requests',
    fixed(),
    { statusOf: () => 500 },
    /^status: 12 passed, then 500: /,
  ],
  'time for the first 429 only': [
    'user-status/failed-lookups',
    fixed(MOST - 8),
    { deadline: 1000 },
    /^passed, not compared: the run was too short for the rest before a burst$/,
  ],
  'time for one burst, which shows fewer': [
    'user-status/failed-lookups',
    fixed(MOST - 1),
    { deadline: 4 * WINDOW_MS },
    /^passed, not compared: 11 passed .*\. A second burst is needed to decide, but no time was left for it$/,
  ],
  'no time, and a target that contradicts the stated limit': [
    'user-status/failed-lookups',
    fixed(MOST - 8),
    { deadline: 1000, isContradicted: true },
    /^passed, not compared: the target contradicts the stated limit$/,
  ],
  'bursts that show fewer decide, although the target contradicts the stated limit': [
    'user-status/failed-lookups',
    fixed(MOST - 8),
    { isContradicted: true },
    /^threshold: 4 passed /,
  ],
  'a connection that breaks instead of 429': [
    'deposit-check/requests',
    fixed(1e6),
    { isLost: (nth) => nth % 26 >= MOST },
    /^network: \d+ passed within .*, then the connection was reset/,
  ],
  'a connection that breaks before the limit': [
    'deposit-check/requests',
    fixed(1e6),
    { isLost: (nth) => nth >= 3 },
    /^network: \d+ passed within .*, then the connection was reset/,
  ],
  'a limit that ends': ['user-status/recovers', fixed(), {}, /^passed$/],
  'a limit that never ends': ['user-status/recovers', never, {}, /^status: still 429$/],
  'a limit that never ends and is not stated': [
    'user-status/recovers',
    never,
    { what: unstated, windowMs: 0 },
    /^rate-limited: /,
  ],
  'a limit that did not end in a run too short to show whether it does': [
    'user-status/recovers',
    never,
    { deadline: 30_000 },
    /^budget: still 429; a rest of 1 min would decide whether it ever ends$/,
  ],
  'no 429 to recover from': [
    'user-status/recovers',
    fixed(),
    { account: () => undefined },
    /^limit-not-reached: /,
  ],
  'members that do not count': ['user-status/spares-successes', fixed(), {}, /^passed$/],
  'members that do not count, a few requests lost': [
    'user-status/spares-successes',
    fixed(),
    { isLost: (nth) => nth % 20 === 0 },
    /^passed$/,
  ],
  'members, most requests lost': [
    'user-status/spares-successes',
    () => () => true,
    { isLost: (nth) => nth > 89 },
    /^network: /,
  ],
  'members of a target too slow to fill a window': [
    'user-status/spares-successes',
    () => () => true,
    { slowness: 3000 },
    /^timing-window: 26 requests \(members\) in .*: too slow to reach the limit within its window$/,
  ],
  'members that count': [
    'user-status/spares-successes',
    fixed(),
    { account: keyOf },
    /^status: 429 after \d+ lookups of members$/,
  ],
  'members of a key that stays limited': [
    'user-status/spares-successes',
    never,
    {},
    /^depends: not checked because the key was still rate-limited$/,
  ],
};

describe('the report on a limiter', () => {
  for (const [name, [requirement, make, more, says]] of Object.entries(rows))
    test(`${name}: ${requirement}`, async () => assert.match(await outcome(requirement, make, more), says));
});

test('observations never fail, for any limiter', async () => {
  for (const requirement of rateLimit.filter(({ level }) => level === 'observed'))
    for (const make of [fixed(), fixed(1e6), never])
      assert.equal(await outcome(requirement.id.slice('rate-limit/'.length), make), 'observed');
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
