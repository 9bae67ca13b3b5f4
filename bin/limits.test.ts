/** Limiters of many kinds on a virtual clock, compared with what was expected before the judge was written. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reference } from '../mock/server/handler.ts';
import { answer, on } from '../mock/deviations/deviate.ts';
import { faults } from '../mock/deviations/faults.ts';
import { endpointNames } from '../schemas/endpoints.ts';
import type { FixtureLimits } from '../schemas/generated/types.ts';
import { catalogue } from '../suites/index.ts';
import { defaults } from './commands/flags.ts';
import { exitCodeOf } from './exit-codes.ts';
import { builtIn as fixture, oneKey } from './dev/testing/fixtures.ts';
import { verifiedAt } from './dev/testing/limited-server.ts';
import { assertExpected, limiters } from './dev/testing/limiters.ts';
import { partOf } from './dev/testing/part.ts';
import { delayed, failedIds, limitsOf, verifyMock } from './dev/testing/verify-mock.ts';

/** Limits of many public servers. */
const common = limitsOf(20, 100, 300, 900);

const cases = Object.entries(limiters).flatMap(([name, row]) =>
  (['stated', 'unstated'] as const).flatMap((says) => {
    const of = { row, isStated: says === 'stated' };
    const long = row.long?.[says] ?? row[says];
    const short = limitsOf(60, 60, 3);
    return [
      { ...of, name: `${name}, 60 in 3 s, ${says}`, limits: short, given: fixture, expected: row[says] },
      { ...of, name: `${name}, 20 in 5 min, ${says}`, limits: common, given: oneKey, expected: long },
    ];
  }),
);

for (const { name, given, expected, ...one } of partOf(cases, 9))
  test(name, async () => {
    const remarks: string[] = [];
    const onRemark = (words: string) => remarks.push(words);
    const options = { seed: 1, cases: 50, maxDurationMs: 300_000, onRemark };
    const record = await verifiedAt({ ...one, latencyMs: 5 }, given, options);
    assertExpected(record, exitCodeOf(record), expected, remarks);
  });

const fixedWindow = { row: limiters['fixed window']!, latencyMs: 5 };
test('members that count are found by their number, where few in flight are too slow for the limit', async () => {
  const of = { row: limiters['counts successes']!, limits: limitsOf(100, 100, 1), isStated: false };
  const options = { seed: 1, cases: 50, maxDurationMs: 300_000 };
  const record = await verifiedAt({ ...of, latencyMs: 50 }, fixture, options);
  const row = record.requirements.find(({ id }) => id === 'rate-limit/user-status/spares-successes');
  assert.equal(row?.outcome, 'failed');
});

test('a wrong limiter that is stated is found by slow answers, too', async () => {
  for (const [name, latencyMs] of [
    ['counts successes', 300],
    ['429 once, then passes', 300],
    ['one of four passes', 150],
  ] as const) {
    const row = limiters[name]!;
    const options = { seed: 1, cases: 50, maxDurationMs: 300_000 };
    const of = { row, limits: limitsOf(60, 250, 3), isStated: true, latencyMs };
    assert.deepEqual(failedIds(await verifiedAt(of, fixture, options)), row.stated.failed, name);
  }
});

test('with both limits used up, the text of each 429 is compared, also if answers are slow', async () => {
  const swapped = faults['texts-swapped-if-both-limited']!.change(reference);
  for (const latencyMs of [1, 40, 100]) {
    const given = { fixture: { ...fixture, limits: { ...limitsOf(60, 250, 3), scope: 'key' as const } } };
    const only = catalogue.filter(({ id }) => id.startsWith('rate-limit/'));
    const options = { seed: 1, cases: 50, requirements: only, network: delayed(latencyMs, latencyMs) };
    const record = await verifyMock(swapped, { ...given, ...options });
    assert.deepEqual(failedIds(record), ['rate-limit/deposit-check/message'], `${latencyMs} ms each way`);
  }
});

const minutes = (count: number) => count * 60_000;
const byDefault = { seed: 3, cases: defaults.cases, maxDurationMs: defaults.maxDurationMs };

describe('20 failed lookups in 5 minutes, with the default flags', () => {
  for (const isStated of [true, false])
    test(`one key, ${isStated ? 'stated' : 'not stated'}: every required requirement outside limits is judged`, async () => {
      const record = await verifiedAt({ ...fixedWindow, limits: common, isStated }, oneKey, byDefault);
      const open = record.requirements.flatMap((row) =>
        row.outcome === 'inconclusive' && !row.id.startsWith('rate-limit/') ? [row] : [],
      );
      const required = open.filter(({ level }) => level === 'required');
      assert.deepEqual([exitCodeOf(record), required], [0, []]);
      assert.deepEqual(new Set(open.map(({ reason }) => reason)), new Set(['rate-limited']));
    });

  test('two keys with a limit each try every level, or all but two', async () => {
    const of = { ...fixedWindow, limits: { ...common, scope: 'key' as const }, isStated: true };
    const { coverage, verdict } = await verifiedAt(of, fixture, byDefault);
    const [tried, all] = coverage!.levels;
    // With some seeds, a level or two take a lookup more than two keys have.
    assert.ok(verdict === 'conformant' && tried >= all - 2, `${verdict}, ${tried} of ${all}`);
  });

  test('one key tries every level in the time that the record names', async () => {
    const of = { ...fixedWindow, limits: common, isStated: true };
    const { strength, needs } = await verifiedAt(of, oneKey, byDefault);
    assert.equal(strength, 0);
    const { seconds } = needs!.find(({ reaches }) => reaches === 'strength 1')!;
    const longer = await verifiedAt(of, oneKey, { ...byDefault, maxDurationMs: seconds * 1000 });
    assert.equal(longer.strength, 1);
  });

  test('a long wait comes with the requirements that have failed so far', async () => {
    const named: (readonly string[])[] = [];
    const { requirements } = await verifyMock(faults['foreign-user-is-member']!.change(reference), {
      fixture: { ...oneKey, limits: common },
      seed: 1,
      cases: 100,
      maxDurationMs: minutes(15),
      onWait: ({ waitMs }, failing) => void (waitMs > 5000 && named.push(failing)),
    });
    const failed = requirements.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);
    assert.equal(named[0]![0], 'foreign-ib/user-status/other-ib');
    assert.deepEqual(named.at(-1), failed);
  });
});

describe('in a minute, with 20 failed lookups in 30 s and 100 checks in 90 s', () => {
  const times = (part: number) => ({ ...limitsOf(20 * part, 100 * part, 30, 90), scope: 'key' as const });
  const limits = times(1);
  const runOf = (stated: FixtureLimits | undefined) =>
    verifiedAt({ ...fixedWindow, limits, isStated: stated !== undefined, stated }, fixture, {
      ...byDefault,
      maxDurationMs: minutes(1),
    });

  test('the truth, nothing and a lie try about as many pairs', async () => {
    const runs = [];
    for (const stated of [limits, undefined, times(3), times(0.7)]) runs.push(await runOf(stated));
    assert.deepEqual(runs.map(exitCodeOf), [0, 0, 0, 0]);
    const pairs = runs.map(({ coverage }) => coverage!.pairs[0]);
    const fewer = pairs.pop()!;
    assert.ok(Math.min(...pairs) >= 0.9 * Math.max(...pairs), pairs.join(', '));
    // A run keeps below what is stated.
    assert.ok(fewer >= 0.9 * pairs[0]!, `${fewer}, with the truth ${pairs[0]}`);
  });

  test('less than half of the limit fails: the statement may be wrong', async () => {
    const record = await runOf(times(0.3));
    assert.equal(exitCodeOf(record), 1);
    const failed = record.requirements.find(({ id }) => id === 'rate-limit/user-status/failed-lookups');
    assert.match(JSON.stringify(failed), /is the statement wrong/);
  });
});

describe('whose limit it is', () => {
  const rows = ([60, 20] as const).flatMap((most) =>
    (['key', 'partner', 'address'] as const).flatMap((scope) =>
      [scope, undefined].map((stated) => ({ most, scope, stated })),
    ),
  );
  for (const { most, scope, stated } of partOf(rows, 4))
    test(`${most}, for each ${scope}, ${stated === undefined ? 'not stated' : 'stated'}`, async () => {
      const limits = most === 60 ? limitsOf(60, 60, 3) : common;
      const given = { ...fixture, limits: { ...limits, ...(stated && { scope: stated }) } };
      const run = { fixture: given, ...byDefault };
      const record = await verifyMock(reference, run, { ...fixture, limits: { ...limits, scope } });
      // In the only window, the keys of the partner are spared, not those of others.
      const isTooLate = most === 20 && scope === 'address' && stated === undefined;
      assert.equal(exitCodeOf(record), isTooLate ? 3 : 0);
      const { endpoints: found } = record.rateLimited;
      assert.deepEqual(
        found.map(({ contradiction }) => contradiction),
        [undefined, undefined],
      );
      const isSeen = stated === undefined && scope !== 'key' && (most === 60 || isTooLate);
      assert.equal(
        found.some((one) => one.scope === scope),
        isSeen,
        JSON.stringify(found),
      );
    });
});

test('a stated limit is crossed only on purpose', async () => {
  const asking = new Set<string | undefined>();
  const of = { ...fixedWindow, limits: limitsOf(60, 60, 3), isStated: true };
  await verifiedAt(of, fixture, {
    seed: 1,
    cases: 100,
    maxDurationMs: 300_000,
    onExchange: ({ of: asker, reply }) => {
      if (reply.kind === 'answer' && reply.status === 429) asking.add(asker);
    },
  });
  assert.deepEqual(asking, new Set(endpointNames.map((endpoint) => `limiter of ${endpoint}`)));
});

test('no contradiction is claimed of a limiter that counts what the fixture says, whatever it answers', async () => {
  const member = answer(200, { is_under_ib: true, date_joined: '2024-01-01T00:00:00.000Z' });
  const limits = limitsOf(12, 12, 3);
  const remarks: string[] = [];
  await verifyMock(on('user-status', ['foreign', 'unknown'], member)(reference), {
    fixture: { ...oneKey, limits },
    seed: 1,
    cases: 200,
    onRemark: (words) => remarks.push(words),
    skip: ['rate-limit'],
  });
  assert.deepEqual(remarks, []);
});

test('a run that a bound or a person ends claims nothing of what it did not try', async () => {
  for (const bound of [
    { maxRequests: 60 },
    { maxRequests: 1500 },
    { maxRequests: 5600 },
    { maxDurationMs: 40_000 },
  ]) {
    const options = { fixture, seed: 1, cases: defaults.cases, hasStateHook: false };
    const { requirements } = await verifyMock(reference, { ...options, ...bound });
    const reasons = requirements.flatMap((row) => (row.outcome === 'inconclusive' ? [row.reason] : []));
    assert.ok(reasons.length > 0);
    const claims = new Set(['limit-not-reached', 'timing-window', 'not-seen', 'depends']);
    assert.deepEqual(
      reasons.filter((one) => claims.has(one)),
      [],
      JSON.stringify(bound),
    );
  }
});
