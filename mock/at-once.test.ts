import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { builtIn, START } from './testing/probes.ts';
import { depositPath, ids, userPath } from './testing/session.ts';
import { startMock, type MockOptions } from './server.ts';

/** Keys of one partner: what is counted for one is not counted for the other. */
const [mine, spare] = ['northwind-key', 'northwind-spare-key'] as const;

interface Asked {
  readonly path: string;
  readonly key?: string;
  readonly method?: string;
}

/** A mock on a clock that goes on by a ms with each look at it, and a way to ask it many things at once. */
async function started(options: Partial<MockOptions> = {}) {
  let now = START;
  const mock = await startMock({ fixture: builtIn, clock: { now: () => (now += 1) }, ...options });
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const ask = async ({ path, key = mine, method = 'GET' }: Asked) => {
    const headers = { authorization: `Bearer ${key}` };
    const outgoing = request({ port: mock.port, method, path, agent, headers }).end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    return { status: incoming.statusCode!, body: await text(incoming) };
  };
  return {
    mock,
    pass: (ms: number) => void (now += ms),
    atOnce: (asked: readonly Asked[]) => Promise.all(asked.map(ask)),
    [Symbol.asyncDispose]: async () => {
      agent.destroy();
      await mock.close();
    },
  };
}

const times = <Value>(count: number, value: (index: number) => Value) =>
  Array.from({ length: count }, (_, index) => value(index));

const countOf = (answers: readonly { readonly status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

const withLimits = (most: number) => ({
  ...builtIn,
  limits: {
    'user-status': { failedLookups: most, windowSeconds: 60 },
    'deposit-check': { requests: most, windowSeconds: 60 },
  },
});

describe('of lookups at once so many pass as the limiter lets, and not one more or less', () => {
  const failed = [ids.foreignUser, ids.nobody, 'x', ''].map(userPath);
  const checks = [ids.executed, ids.pending, ids.foreign, ids.nobody, 'x', ''].map(depositPath);
  const limiters = fc.constantFrom(
    { paths: failed, error: 'Too many failed lookups. Please try again later.' },
    { paths: checks, error: 'TOO_MANY_REQUESTS' },
  );
  test('for each key, world and endpoint by itself, in one window and in the next', async () => {
    const most = fc.integer({ min: 1, max: 40 });
    const beyond = fc.integer({ min: 0, max: 40 });
    await fc.assert(
      fc.asyncProperty(limiters, most, beyond, async ({ paths, error }, limit, more) => {
        await using server = await started({ fixture: withLimits(limit) });
        const { atOnce, pass } = server;
        const keys = [mine, spare, `${mine}~other`];
        for (const window of ['a window', 'the next']) {
          const asked = times((limit + more) * keys.length, (index) => ({
            key: keys[index % keys.length]!,
            path: paths[index % paths.length]!,
          }));
          const answers = await atOnce(asked);
          for (const key of keys) {
            const own = answers.filter((_, index) => asked[index]!.key === key);
            assert.equal(countOf(own, 429), more, `${key}, ${window}`);
            for (const { status, body } of own)
              if (status === 429) assert.equal(body, JSON.stringify({ error }));
          }
          pass(60_000);
        }
      }),
      { numRuns: 8 },
    );
  });
});

const unlimited = { ...builtIn, limits: {} };

describe('a pending deposit becomes EXECUTED once, for all who see it', () => {
  const pollsUntil = (afterPolls: number) => ({
    ...unlimited,
    deposits: unlimited.deposits!.map((deposit) =>
      deposit.reference_id === ids.afterPolls && 'becomes' in deposit
        ? { ...deposit, becomes: { state: 'EXECUTED' as const, amountInUsd: 7.5, afterPolls } }
        : deposit,
    ),
  });
  test('behind exactly so many polls, by whichever key of its partner, in each world by itself', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 40 }),
        async (polls, more) => {
          await using server = await started({ fixture: pollsUntil(polls) });
          const path = depositPath(ids.afterPolls);
          for (const world of ['', '~other']) {
            const own = times(polls + more, (index) => ({
              path,
              key: `${index % 2 === 0 ? mine : spare}${world}`,
            }));
            const foreign = times(10, () => ({ path, key: `contoso-key${world}` }));
            const answers = await server.atOnce([...foreign, ...own]);
            assert.equal(countOf(answers.slice(0, 10), 404), 10);
            const seen = answers.slice(10);
            assert.equal(countOf(seen, 404), polls);
            const executed = seen.filter(({ status }) => status === 200).map(({ body }) => body);
            assert.equal(executed.length, more);
            assert.equal(new Set(executed).size, 1);
            assert.equal((JSON.parse(executed[0]!) as { amountInUsd: number }).amountInUsd, 7.5);
          }
        },
      ),
      { numRuns: 15 },
    );
  });
});
