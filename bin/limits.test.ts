/** Limiters of many kinds on a virtual clock, compared with what was expected before the judge was written. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FixtureLimits, RunRecord } from '../schemas/generated/types.ts';
import { exitCodeOf } from './exit-codes.ts';
import { loadFixture } from './fixture-file.ts';
import { verifiedAt } from './testing/limited-server.ts';
import { assertExpected, limiters, type Expected } from './testing/limiters.ts';
import { limitsOf } from './testing/verify-mock.ts';

const fixture = await loadFixture(undefined, {});
const isSpare = ({ key }: { readonly key: string }) => key === 'northwind-spare-key';
const oneKey = { ...fixture, apiKeys: fixture.apiKeys!.filter((key) => !isSpare(key)) };

/** Limits of many public servers. */
const common: FixtureLimits = {
  'user-status': { failedLookups: 20, windowSeconds: 300 },
  'deposit-check': { requests: 100, windowSeconds: 900 },
};

/** Every nth case runs, another one each time. `EVERY=1` runs all. */
const EVERY = Number(process.env['EVERY'] ?? 9);
const first = Math.floor(Math.random() * EVERY);

const exitOf = (record: RunRecord) => exitCodeOf(record, { strict: false, allowIncomplete: false });

const cases = Object.entries(limiters).flatMap(([name, row]) =>
  [true, false].flatMap((isStated) => [
    {
      name: `${name}, 60 in 3 s`,
      row,
      isStated,
      limits: limitsOf(60, 60, 3),
      given: fixture,
      expected: isStated ? row.stated : row.unstated,
    },
    {
      name: `${name}, 20 in 5 min`,
      row,
      isStated,
      limits: common,
      given: oneKey,
      expected: (isStated ? row.long?.stated : row.long?.unstated) ?? (isStated ? row.stated : row.unstated),
    },
  ]),
);

for (const [nth, { name, given, expected, ...one }] of cases.entries())
  if (nth % EVERY === first)
    test(`${name}, ${one.isStated ? 'stated' : 'not stated'}`, async () => {
      const remarks: string[] = [];
      const record = await verifiedAt({ ...one, latencyMs: 5 }, given, {
        seed: 1,
        cases: 50,
        maxDurationMs: 300_000,
        onRemark: (words) => remarks.push(words),
      });
      assertExpected(record, exitOf(record), expected, remarks);
    });

describe('each judgement is seen on a limiter', () => {
  const seen: Readonly<Record<string, Expected>> = {
    'fixed window': limiters['fixed window']!.stated,
    'a success resets': limiters['a success resets']!.stated,
    'counts successes': limiters['counts successes']!.stated,
  };
  for (const [name, expected] of Object.entries(seen))
    test(name, async () => {
      const of = { row: limiters[name]!, limits: limitsOf(60, 60, 3), isStated: true, latencyMs: 30 };
      const record = await verifiedAt(of, fixture, { seed: 2, cases: 30, maxDurationMs: 300_000 });
      assertExpected(record, exitOf(record), expected, []);
    });
});

test('20 failed lookups in 5 minutes and one key: every requirement outside limits has a verdict', async () => {
  const of = { row: limiters['fixed window']!, limits: common, isStated: true, latencyMs: 5 };
  const { requirements } = await verifiedAt(of, oneKey, { seed: 3, cases: 1500, maxDurationMs: 300_000 });
  const open = requirements.filter(
    ({ id, level, outcome }) =>
      level === 'required' && outcome === 'inconclusive' && !id.startsWith('rate-limit/'),
  );
  assert.deepEqual(open, []);
});

test('a stated limit is crossed only on purpose', async () => {
  const asking = new Set<string | undefined>();
  const of = { row: limiters['fixed window']!, limits: limitsOf(60, 60, 3), isStated: true, latencyMs: 5 };
  await verifiedAt(of, fixture, {
    seed: 1,
    cases: 100,
    maxDurationMs: 300_000,
    onExchange: ({ of: asker, reply }) => {
      if (reply.kind === 'answer' && reply.status === 429) asking.add(asker);
    },
  });
  assert.deepEqual([...asking].map(String).toSorted(), [
    'limiter of deposit-check',
    'limiter of user-status',
  ]);
});
