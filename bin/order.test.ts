import { test } from 'node:test';
import { reference } from '../mock/server/handler.ts';
import type { FixtureLimits } from '../schemas/generated/types.ts';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { verifyMock, type MockRunOptions } from './dev/testing/verify-mock.ts';
import { loadFixture } from './input-files.ts';

const { limits: _, ...unstated } = await loadFixture(undefined, {});
/** One key, so that the limits below are scarce. */
const oneKey = {
  ...unstated,
  apiKeys: unstated.apiKeys!.filter(({ key }) => key !== 'northwind-spare-key'),
};
const scarce: FixtureLimits = {
  'user-status': { failedLookups: 20, windowSeconds: 300 },
  'deposit-check': { requests: 100, windowSeconds: 900 },
};
const minutes = { maxDurationMs: 300_000 };

type Bounds = Pick<MockRunOptions, 'fixture'> & Partial<MockRunOptions>;

/** Runs whose limits or bounds are scarce, with the limits of the mock. */
const runs: Readonly<Record<string, readonly [options: Bounds, limits?: FixtureLimits]>> = {
  unbounded: [{ fixture: unstated }],
  'stated limits': [{ fixture: { ...oneKey, limits: scarce }, ...minutes }, scarce],
  'limits that nobody stated': [{ fixture: oneKey, ...minutes }, scarce],
  '50 requests': [{ fixture: unstated, maxRequests: 50 }],
  '200 requests': [{ fixture: unstated, maxRequests: 200 }],
  '400 requests': [{ fixture: unstated, maxRequests: 400 }],
};

/** What a run asks for, in the order of the first request. How many requests it takes depends on draws. */
async function orderOf({ fixture, ...options }: Bounds, limits?: FixtureLimits): Promise<string> {
  const asked = new Set<string>();
  const served = limits === undefined ? fixture : { ...fixture, limits };
  await verifyMock(
    reference,
    {
      fixture,
      seed: 1,
      cases: 300,
      ...options,
      // Answers take time, so that lookups of both endpoints are in flight together.
      network: (client, clock) => ({
        ...client,
        send: async (request) => {
          const sentAt = clock.now();
          await clock.sleep(4);
          const reply = await client.send(request);
          return reply.kind === 'answer' ? { ...reply, sentAt, receivedAt: clock.now() } : reply;
        },
      }),
      onExchange: ({ request, of = 'preflight' }) => {
        asked.add(of === 'lookups' ? `${of} of ${request.endpoint}` : of);
      },
    },
    served,
  );
  return [...asked].join('\n');
}

test('what a run asks in which order, under scarce limits and small bounds', async () => {
  const texts = [];
  for (const [name, [options, limits]] of Object.entries(runs))
    texts.push(`# ${name}\n${await orderOf(options, limits)}\n`);
  matchesSnapshot(new URL('order.golden.txt', import.meta.url), texts.join('\n'));
});
