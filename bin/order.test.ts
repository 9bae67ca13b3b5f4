import { test } from 'node:test';
import { reference } from '../mock/server/handler.ts';
import type { FixtureLimits } from '../schemas/generated/types.ts';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { oneKey, unlimited } from './dev/testing/fixtures.ts';
import { delayed, limitsOf, verifyMock, type MockRunOptions } from './dev/testing/verify-mock.ts';

const scarce = limitsOf(20, 100, 300, 900);
const minutes = { maxDurationMs: 300_000 };

type Bounds = Pick<MockRunOptions, 'fixture'> & Partial<MockRunOptions>;

/** Runs whose limits or bounds are scarce, with the limits of the mock. */
const runs: Readonly<Record<string, readonly [options: Bounds, limits?: FixtureLimits]>> = {
  unbounded: [{ fixture: unlimited }],
  'stated limits': [{ fixture: { ...oneKey, limits: scarce }, ...minutes }, scarce],
  'limits that nobody stated': [{ fixture: oneKey, ...minutes }, scarce],
  '50 requests': [{ fixture: unlimited, maxRequests: 50 }],
  '200 requests': [{ fixture: unlimited, maxRequests: 200 }],
  '400 requests': [{ fixture: unlimited, maxRequests: 400 }],
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
      network: delayed(4, 0),
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
