import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { createBudget } from '../engine/budget.ts';
import type { Client } from '../engine/client.ts';
import { virtualClock } from '../engine/clock.ts';
import { run } from '../engine/run.ts';
import { createSender } from '../engine/sender.ts';
import { unknownId } from '../inputs/uuids.ts';
import { depositCheck } from '../request.ts';
import { answerOf, sampleKnown } from '../testing/samples.ts';
import { limiters, type Limiter } from '../testing/simulated.ts';
import type { RateLimit } from './limit.ts';
import { rateLimit } from './rows.ts';
import { createWaiter, figuresOf, type Wait } from './waiter.ts';

const NOW = Date.parse('2024-02-29T12:00:00Z');
const BOUND_MS = 300_000;

const number = fc.oneof(
  fc.integer({ min: -10, max: 400 }),
  fc.constantFrom(0, 1, 60, 86_400, 2 ** 31, 2 ** 53, 1e15, 1e300),
  // Unix times in s and ms, in the past and in the future.
  fc.integer({ min: -4000, max: 4000 }).map((s) => NOW / 1000 + s),
  fc.integer({ min: -4000, max: 4000 }).map((s) => NOW + 1000 * s),
);
const text = fc.oneof(
  number.map(String),
  fc.tuple(number, number).map((some) => some.join(', ')),
  fc.constantFrom('', '-', '1.5', '1e3', '0x10', 'NaN', 'Infinity', '9'.repeat(400), ';;,,==', 'soon'),
  fc.constantFrom(
    'Fri, 31 Dec 9999 23:59:59 GMT',
    'Thu, 01 Jan 1970 00:00:00 GMT',
    'Thu, 99 Feb 2024 12:00:00 GMT',
  ),
  fc.tuple(number, number, number).map(([a, b, c]) => `limit=${a}, remaining=${b}, reset=${c}`),
  fc.tuple(number, number).map(([r, t]) => `"default";r=${r};t=${t}`),
  fc.tuple(number, number).map(([q, w]) => `"default";q=${q};w=${w}`),
  fc.tuple(number, number, number, number).map(([a, b, c, d]) => `${a};w=${b}, "daily";q=${c};w=${d}`),
  fc.string(),
);
const names = [
  'retry-after',
  'date',
  'ratelimit',
  'ratelimit-policy',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-rate-limit-reset',
] as const;

/** Headers of rate limits that no server should send. */
const headers = fc.dictionary(fc.constantFrom(...names), text, { maxKeys: 5 });
type Headers = Readonly<Record<string, string>>;

const LATENCY_MS = 10;
const stateds: readonly (RateLimit | undefined)[] = [
  undefined,
  { most: 5, windowMs: 3000 },
  { most: 20, windowMs: 300_000 },
];

/** A target with a limiter for each key on each endpoint. It adds headers to each answer, the next ones to the next. */
function lyingTarget(make: () => Limiter, lies: readonly Headers[]) {
  const clock = { ...virtualClock(NOW), during: <Result>(work: Promise<Result>) => work };
  const made = new Map<string, Limiter>();
  const count = { sent: 0, refused: 0 };
  const answerTo = (endpoint: Endpoint, target: string, authorization: string) => {
    const messages = endpoints[endpoint].messages;
    const key = sampleKnown.everyKey.find((one) => authorization === `Bearer ${one.key}`);
    if (key === undefined) return [401, { error: messages[401] }] as const;
    const isUser = endpoint === 'user-status';
    if (isUser && sampleKnown.members.some(({ user_id }) => target.includes(user_id)))
      return [200, { is_under_ib: true }] as const;
    const name = `${endpoint} ${key.key}`;
    const limiter = made.get(name) ?? make();
    made.set(name, limiter);
    if (limiter(clock.now())) return isUser ? ([200, { is_under_ib: false }] as const) : ([404, {}] as const);
    count.refused++;
    return [429, { error: messages[429] }] as const;
  };
  const client: Client = {
    send: async ({ target, headers: { authorization = '' } }) => {
      const lie = lies[count.sent++ % lies.length]!;
      const sentAt = clock.now();
      await clock.sleep(LATENCY_MS / 2);
      const endpoint = target.includes('user-status') ? 'user-status' : 'deposit-check';
      const [status, body] = answerTo(endpoint, target, authorization);
      await clock.sleep(LATENCY_MS / 2);
      const answer = answerOf(status, body, { ...lie, 'content-type': 'application/json' });
      return { ...answer, sentAt, receivedAt: clock.now() };
    },
    close: async () => {},
  };
  return { clock, client, count };
}

/** Sends 40 requests to a target that adds these headers. */
async function sendTo(make: () => Limiter, lies: readonly Headers[], stated?: RateLimit) {
  const { clock, client, count } = lyingTarget(make, lies);
  const { signal } = new AbortController();
  const deadline = NOW + BOUND_MS;
  const budget = createBudget({ clock, signal, deadline, maxRequests: 1e9, reserved: 0 });
  const waits: Wait[] = [];
  const waiter = createWaiter({
    clock,
    budget,
    signal,
    deadline,
    maxDurationMs: BOUND_MS,
    stated: stated === undefined ? {} : { 'deposit-check': stated },
    onWait: (wait) => void waits.push(wait),
  });
  const sender = createSender({
    client,
    // One key: no other shares the load.
    known: { ...sampleKnown, callerKeys: sampleKnown.callerKeys.slice(0, 1) },
    clock,
    budget,
    waiter,
    signal,
    deadline,
    maxLostInARow: 10,
    wasRevoked: () => false,
    onExchange: () => {},
  });
  const replies: string[] = [];
  const queue = Array.from({ length: 40 }, (_, nth) => depositCheck(unknownId(sampleKnown, nth)));
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { reply } = await sender.send(next);
      replies.push(reply.kind === 'trouble' ? reply.code : String(reply.status));
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  return { ...count, replies, waits, waitedMs: figuresOf(waiter).waitedMs, elapsedMs: clock.now() - NOW };
}

const lying = fc.array(headers, { minLength: 1, maxLength: 4 });

test('headers of answers that pass never make a run wait', () =>
  fc.assert(
    fc.asyncProperty(lying, async (lies) => {
      const { replies, sent, waitedMs } = await sendTo(() => () => true, lies);
      assert.deepEqual([replies.filter((one) => one === '404').length, sent, waitedMs], [40, 40, 0]);
    }),
    { numRuns: 300 },
  ));

/** Limiters of a key. */
const targets: Readonly<Record<string, () => Limiter>> = {
  'a fixed window': () => limiters['fixed']!(5, 3000, 0),
  'a sliding window': () => limiters['sliding']!(8, 10_000, 0),
  'a limit that is used up for the whole run': () => () => false,
  'a limit that never ends': () => {
    let count = 0;
    return () => count++ < 12;
  },
  'refusals at random': () => {
    let count = 0;
    return () => (count++ * 7) % 5 > 1;
  },
};

describe('a run waits within its bound and ends, whatever headers each 429 has', () => {
  for (const [name, make] of Object.entries(targets))
    test(name, () =>
      fc.assert(
        fc.asyncProperty(lying, fc.constantFrom(...stateds), async (lies, stated) => {
          const { replies, refused, waits, elapsedMs } = await sendTo(make, lies, stated);
          assert.equal(replies.length, 40);
          assert.ok(
            replies.every((one) => one === '404' || one === 'rate-limited' || one === 'budget'),
            replies.join(),
          );
          assert.ok(elapsedMs <= BOUND_MS + LATENCY_MS, `${elapsedMs} ms`);
          for (const { until } of waits) assert.ok(until <= NOW + BOUND_MS, `${until - NOW}`);
          // No burst of retries: at most a few for each wait.
          assert.ok(refused <= 4 * (waits.length + 1), `${refused} refused, ${waits.length} waits`);
        }),
        { numRuns: 150 },
      ),
    );
});

test('no policy that a target names stops a run', () => {
  const policies = fc.dictionary(
    fc.constantFrom('ratelimit-policy', 'ratelimit-limit', 'x-ratelimit-limit', 'ratelimit-remaining'),
    text,
    { maxKeys: 3 },
  );
  const some = fc.array(policies, { minLength: 1, maxLength: 4 });
  return fc.assert(
    fc.asyncProperty(some, fc.constantFrom(...stateds.slice(0, 2)), async (lies, stated) => {
      const { replies } = await sendTo(targets['a fixed window']!, lies, stated);
      assert.deepEqual(replies, Array<string>(40).fill('404'));
    }),
    // Its window ends just within the bound.
    { numRuns: 200, examples: [[[{ 'ratelimit-policy': '1;w=276' }], undefined]] },
  );
});

describe('a lying `Remaining: 0` costs one request', () => {
  for (const lie of [
    { 'ratelimit-remaining': '0', 'ratelimit-reset': '86400' },
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${NOW / 1000 + 3600}` },
    { ratelimit: '"default";r=0;t=300' },
    { ratelimit: 'limit=100, remaining=0, reset=50' },
  ])
    test(JSON.stringify(lie), async () => {
      const { replies, sent, elapsedMs } = await sendTo(() => () => true, [lie]);
      assert.deepEqual([replies.length, sent], [40, 40]);
      // Four at a time, as without the header, but for the one that tests it and those that wait for it.
      assert.ok(elapsedMs <= (10 + 2) * LATENCY_MS, `${elapsedMs} ms`);
    });
});

const limits = {
  'user-status': { failedLookups: 20, windowSeconds: 3 },
  'deposit-check': { requests: 20, windowSeconds: 3 },
};

test('no headers make a correct limiter fail', () =>
  fc.assert(
    fc.asyncProperty(lying, fc.boolean(), async (lies, isStated) => {
      const { clock, client } = lyingTarget(() => limiters['fixed']!(20, 3000, 0), lies);
      const { requirements } = await run({
        target: new URL('http://target'),
        known: { ...sampleKnown, limits: isStated ? limits : {} },
        requirements: rateLimit,
        skip: new Set(),
        seed: 1,
        cases: 10,
        concurrency: 4,
        timeoutMs: 1000,
        maxDurationMs: BOUND_MS,
        maxRequests: 5000,
        graceMs: 0,
        headers: {},
        tls: { insecure: false },
        clock,
        signal: new AbortController().signal,
        version: 'test',
        connect: () => client,
      });
      const failed = requirements.filter(({ outcome }) => outcome === 'failed' || outcome === 'broken');
      assert.deepEqual(failed, []);
    }),
    { numRuns: 20 },
  ));
