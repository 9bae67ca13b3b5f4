/** Tries limiters on a virtual clock: each way of counting, several limits and latencies, and what is said of them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Fixture, FixtureLimits } from '../../schemas/generated/types.ts';
import type { Reply } from '../answer.ts';
import { createBudget } from '../engine/budget.ts';
import type { WireRequest } from '../client/client.ts';
import { virtualClock } from '../engine/clock.ts';
import { createContexts } from '../engine/context.ts';
import { createSender } from '../engine/sender.ts';
import { knownFrom, presentOf } from '../known.ts';
import {
  askedBy,
  ban,
  bucket,
  failing,
  fixed,
  limiterOf,
  slidingLog,
  weighted,
  type Asked,
  type Design,
  type Kind,
  type Refusal,
} from '../testing/limiters.ts';
import { answerOf, limiterOn, sampleFixture, unjudged } from '../testing/samples.ts';
import { statedLimits } from './limit.ts';
import type { Judged } from './trial.ts';
import { trials } from './trigger.ts';

const { limits: _, ...fixture } = sampleFixture;

interface Case {
  readonly design: Design;
  readonly limits: FixtureLimits;
  /** What the fixture states, if it states anything. */
  readonly stated?: FixtureLimits | undefined;
  readonly latencyMs: number;
  /** So many times slower are the first lookups of users of other IBs. */
  readonly slower?: { readonly first: number; readonly times: number } | undefined;
  readonly endpoint?: Endpoint;
  /** Lookups of the key before the trial, one after another. */
  readonly before?: readonly Kind[];
}

const statuses: Readonly<Record<Kind, number>> = {
  member: 200,
  unknown: 200,
  foreign: 200,
  malformed: 400,
  'bad key': 401,
};

function answerTo({ endpoint, kind }: Asked): Reply {
  const isFound = kind === 'member';
  if (endpoint === 'deposit-check' && statuses[kind] === 200) return answerOf(404, { error: '' });
  const result = { is_under_ib: isFound, date_joined: isFound ? '2024-02-29T23:59:59Z' : null };
  return answerOf(statuses[kind], statuses[kind] === 200 ? result : { error: '' });
}

const refusalOf = ({ status, headers, body }: Refusal) => answerOf(status, body, headers);

/** Five minutes. */
const MOST_MS = 300_000;

/** Tries a limiter. Returns the kind and words of each verdict. */
async function tried({
  design,
  limits,
  stated,
  latencyMs,
  endpoint = 'user-status',
  before = [],
  slower,
}: Case) {
  const given: Fixture = stated === undefined ? fixture : { ...fixture, limits: stated };
  const known = knownFrom(given);
  const clock = { ...virtualClock(0), during: <Result>(work: Promise<Result>) => work };
  const { signal } = new AbortController();
  const bounds = { clock, signal, deadline: MOST_MS };
  const budget = createBudget({ ...bounds, maxRequests: 1e9, reserved: 0 });
  const decide = limiterOf(design, limits);
  let foreigners = 0;
  const send = async ({ method, target, headers }: WireRequest): Promise<Reply> => {
    const sentAt = clock.now();
    const { authorization } = headers;
    const asked = askedBy(fixture, {
      method,
      url: target,
      ...(authorization !== undefined && { authorization }),
    });
    const isSlow = asked?.kind === 'foreign' && foreigners++ < (slower?.first ?? 0);
    const halfMs = (latencyMs * (isSlow ? slower!.times : 1)) / 2;
    await clock.sleep(halfMs);
    const decision = asked && decide(asked, clock.now());
    if (decision !== undefined && 'delayMs' in decision) await clock.sleep(decision.delayMs);
    await clock.sleep(halfMs);
    const reply =
      asked === undefined || decision === undefined
        ? answerOf(404, '')
        : 'delayMs' in decision
          ? answerTo(asked)
          : refusalOf(decision);
    return { ...reply, sentAt, receivedAt: clock.now() } as Reply;
  };
  const stating = { stated: statedLimits(known), lookupsEndAt: MOST_MS };
  const sender = createSender({
    headers: {},
    ...bounds,
    client: { send, close: () => Promise.resolve() },
    known,
    budget,
    limiter: limiterOn(clock, { ...bounds, ...stating, budget }),
    maxLostInARow: 10,
    present: presentOf(known),
    onExchange: () => undefined,
    ...unjudged,
  });
  const contextOf = createContexts({
    ...bounds,
    graceMs: 0,
    verdictsOn: () => [],
    failsAnyway: () => false,
    present: presentOf(known),
    leftRequests: () => Infinity,
    ended: () => undefined,
    sender,
    sleep: ({ until }) => clock.sleep(until - clock.now()),
    untilOf: () => undefined,
  });
  const [key] = known.callerKeys;
  for (const [nth, kind] of before.entries())
    decide({ endpoint, key: key!.key, id: `before ${nth}`, kind }, clock.now());
  const trial = await contextOf(trials[endpoint]).once(trials[endpoint], known);
  const words = [...trial.verdicts.values()].map((verdict) =>
    verdict.kind === 'failed' ? verdict.actual : 'words' in verdict ? verdict.words : '',
  );
  const kinds = Object.fromEntries([...trial.verdicts].map(([row, { kind }]) => [row, kind]));
  return { kinds: kinds as Partial<Record<Judged, string>>, words: words.join('\n') };
}

const limitsOf = (most: number, windowSeconds: number): FixtureLimits => ({
  'user-status': { failedLookups: most, windowSeconds },
  'deposit-check': { requests: most, windowSeconds },
});

const designs: Readonly<Record<string, Design>> = {
  'fixed window': {},
  'window aligned to the clock': { counter: fixed(true) },
  'sliding log': { counter: slidingLog },
  'counts refused requests': { counter: slidingLog, countsRefused: true },
  'weighted window': { counter: weighted },
  bucket: { counter: bucket },
  'ban of three windows': { counter: ban(3, false) },
  'ban that doubles': { counter: ban(1, true) },
  'members pass while the key is limited': { spares: (kind) => kind === 'member' },
  'a success resets': { resets: true },
};

const countings: Readonly<Record<string, (kind: Kind) => boolean>> = {
  'what fails': failing,
  'what fails, and wrong keys': (kind) => kind !== 'member',
  'malformed ids': (kind) => kind === 'malformed',
  'users that are not found': (kind) => kind === 'unknown' || kind === 'foreign',
  'unknown users and malformed ids': (kind) => kind === 'unknown' || kind === 'malformed',
  everything: () => true,
  nothing: () => false,
};

/** The rows that a limiter may fail, by what it counts. */
const mayFail = (design: string, counting: string): readonly Judged[] => [
  ...(design === 'a success resets' ? (['not-reset'] as const) : []),
  ...(counting === 'malformed ids' ? (['counts-unknown-users'] as const) : []),
  ...(counting === 'unknown users and malformed ids' ? (['counts-foreign-users'] as const) : []),
  ...(counting === 'everything' ? (['spares-successes'] as const) : []),
  ...(counting === 'nothing' ? (['limit'] as const) : []),
];

/** Every nth case runs. `EVERY=1` runs all. */
const EVERY = Number(process.env['EVERY'] ?? 59);

const cases = Object.keys(designs).flatMap((design) =>
  Object.keys(countings).flatMap((counting) =>
    [limitsOf(60, 3), limitsOf(20, 300), limitsOf(100, 60), limitsOf(5, 1)].flatMap((limits) =>
      [true, false].flatMap((isStated) =>
        [2, 5, 30, 150].map((latencyMs) => ({ design, counting, limits, isStated, latencyMs })),
      ),
    ),
  ),
);

describe('no limiter fails a row that it keeps', () => {
  for (const { design, counting, limits, isStated, latencyMs } of cases.filter(
    (_one, nth) => nth % EVERY === 0,
  )) {
    const { failedLookups, windowSeconds } = limits['user-status']!;
    const stated = isStated ? limits : undefined;
    const name = `${design}, counts ${counting}, ${failedLookups} in ${windowSeconds} s, ${isStated ? 'stated' : 'not stated'}, ${latencyMs} ms`;
    test(name, async () => {
      const made = { ...designs[design]!, counts: countings[counting]! };
      const { kinds, words } = await tried({ design: made, limits, stated, latencyMs });
      const failed = (Object.keys(kinds) as Judged[]).filter((row) => kinds[row] === 'failed');
      const allowed = mayFail(design, counting);
      const wrong = failed.filter((row) => !allowed.includes(row));
      assert.deepEqual(wrong, [], words);
    });
  }
});

/** What a trial says of some rows, and words of one of them. */
interface Expected {
  readonly design: Design;
  readonly kinds: Partial<Record<Judged, string>>;
  readonly says?: RegExp;
  readonly isStated?: boolean;
  readonly limits?: FixtureLimits;
  readonly stated?: FixtureLimits;
  readonly endpoint?: Endpoint;
  readonly before?: readonly Kind[];
  readonly slower?: Case['slower'];
}

const usual = limitsOf(60, 3);
/** Nothing waits for its end before a trial. */
const long = limitsOf(60, 20);
const passes = { limit: 'passed', 'not-reset': 'passed', 'counts-unknown-users': 'passed' };
const sparing = { ...passes, 'spares-successes': 'passed' };
const right = { ...sparing, 'counts-foreign-users': 'passed' };
const usedUp = Array.from({ length: 60 }, (): Kind => 'unknown');

/** `bin/dev/testing/limiters.ts` has more limiters, with what a whole run says of each. */
const findings: Readonly<Record<string, Expected>> = {
  'a right one': { design: {}, kinds: right },
  'a right one, not stated': { design: {}, isStated: false, kinds: right },
  'one that was used up before': { design: {}, before: usedUp, kinds: sparing },
  'one that was used up before, and lets members pass': {
    design: { spares: (kind) => kind === 'member' },
    before: usedUp,
    kinds: sparing,
  },
  'one that a success resets, was used up before, and lets members pass': {
    design: { spares: (kind) => kind === 'member', resets: true },
    before: usedUp,
    kinds: { 'not-reset': 'failed', 'counts-unknown-users': 'passed' },
    says: /a successful lookup resets the count/,
  },
  'members count, and a part was used up before': {
    design: { counts: (kind) => kind !== 'bad key' },
    limits: long,
    stated: long,
    before: usedUp.slice(30),
    kinds: { 'spares-successes': 'failed' },
  },
  'only malformed ids count': {
    design: { counts: (kind) => kind === 'malformed' },
    kinds: { limit: 'passed', 'counts-unknown-users': 'failed', 'not-reset': 'inconclusive' },
    says: /unknown users never count: only malformed ids do/,
  },
  'only wrong keys count, at an address': {
    design: { counts: (kind) => kind === 'bad key', account: ({ endpoint }) => endpoint },
    kinds: { limit: 'passed' },
  },
  'users of other IBs do not count, and a busy machine slows their first lookups': {
    design: { counts: (kind) => kind === 'unknown' || kind === 'malformed' },
    slower: { first: 20, times: 200 },
    kinds: { ...passes, 'counts-foreign-users': 'failed' },
  },
  'nothing counts, not stated': {
    design: { isOff: true },
    isStated: false,
    kinds: { limit: 'inconclusive' },
    says: /no 429 after 1000 requests/,
  },
  'less is stated than it allows': {
    design: {},
    stated: limitsOf(18, 3),
    kinds: { limit: 'failed' },
    says: /is the statement wrong/,
  },
  'more is stated than it allows': { design: {}, stated: limitsOf(180, 3), kinds: { limit: 'passed' } },
  'deposit-check, used up before': {
    design: {},
    endpoint: 'deposit-check',
    before: usedUp,
    kinds: { limit: 'passed' },
  },
  'deposit-check, nothing counts': {
    design: { isOff: true },
    endpoint: 'deposit-check',
    kinds: { limit: 'failed' },
    says: /no 429 after 122 requests \(unknown ids\)/,
  },
};

describe('says what a limiter counts', () => {
  for (const [name, { isStated = true, stated = isStated ? usual : undefined, ...one }] of Object.entries(
    findings,
  ))
    test(name, async () => {
      const { kinds, words } = await tried({ limits: usual, ...one, stated, latencyMs: 5 });
      const seen = Object.fromEntries(Object.keys(one.kinds).map((row) => [row, kinds[row as Judged]]));
      assert.deepEqual(seen, one.kinds, words);
      if (one.says !== undefined) assert.match(words, one.says);
    });
});
