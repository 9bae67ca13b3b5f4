import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { reference } from '../mock/server/handler.ts';
import { faults } from '../mock/deviations/faults.ts';
import { error, on, page, reset as breaks, type Change, type Edit } from '../mock/deviations/deviate.ts';
import { variants } from '../mock/deviations/variants.ts';
import { catalogue, type Client } from '../suites/index.ts';
import { partOf } from './dev/testing/part.ts';
import { delayed, failedIds, limitsOf, verifyMock } from './dev/testing/verify-mock.ts';
import { headlineOf, judgedBy } from '../reports/judgement.ts';
import { exitCodeOf } from './exit-codes.ts';
import { defaults } from './commands/flags.ts';
import { readKillMatrix } from './dev/self-test/kill-matrix.ts';
import { builtIn as fixture, unlimited } from './dev/testing/fixtures.ts';

/** Number of runs per network. Example for more: `LOSSY_RUNS=30`. */
const RUNS = Number(process.env['LOSSY_RUNS'] ?? 2);

const legal =
  'sliding-window aligned-window weighted-window token-bucket token-bucket-at-intervals limit-with-ban ' +
  'limit-counts-refusals limit-per-partner';

const busyAbove = (most: number, edit: Edit): Change =>
  on(({ request }) => (request.alongside ?? 0) >= most, edit);

type Reply = Awaited<ReturnType<Client['send']>>;
const reset: Reply = { kind: 'trouble', code: 'network', words: 'the connection was reset' };
const late: Reply = { kind: 'trouble', code: 'timeout', words: 'no complete answer within 10000 ms' };

const randomOf = (seed: number) => {
  const generator = xoroshiro128plus(seed);
  return () => uniformFloat64(generator);
};

/** Adds latency and loses a share of the requests, half of them before they reach the mock. */
function lossy(latencyMs: number, loss: number, seed: number) {
  const random = randomOf(seed);
  return delayed(0, 0, async (request, client, clock) => {
    const travel = async () => {
      await clock.sleep(latencyMs * (0.4 + 0.2 * random()));
      return random() >= loss / 2;
    };
    if (!(await travel())) return reset;
    const reply = await client.send(request);
    return (await travel()) ? reply : reset;
  });
}

describe('limiters behind a network with latency', () => {
  const requirements = catalogue.filter(({ id }) => id.startsWith('rate-limit/'));
  const verified = (change: Change) => {
    const network = lossy(2, 0, 1);
    const options = { fixture, seed: 0, cases: 1, hasStateHook: false, network, requirements };
    return verifyMock(change(reference), options);
  };
  for (const id of partOf(legal.split(' '), 3))
    test(`${id} is conformant`, async () => {
      const record = await verified(variants[id]!.change);
      assert.deepEqual([record.verdict, failedIds(record)], ['conformant', []]);
    });
  const ofLimits = Object.entries(readKillMatrix()).filter(([, [owner = '']]) =>
    /^rate-limit\/.*\/(?:failed-lookups|requests)$/.test(owner),
  );
  for (const [id, [owner, ...others]] of partOf(ofLimits, 3))
    test(`${id} is nonconformant`, async () => {
      const failed = failedIds(await verified(faults[id]!.change));
      const own = failed.filter((name) => !others.includes(name));
      assert.deepEqual(own, [owner]);
    });
});

describe('the mock behind a network with latency and loss', () => {
  for (const [loss, share] of Object.entries({ 0.01: 28 / 30, 0.05: 20 / 30 }))
    test(`is mostly conformant and never nonconformant at a loss of ${loss}`, async () => {
      const found: Record<string, number> = { conformant: 0 };
      const seeds = partOf([...Array(RUNS).keys()], 2);
      for (const seed of seeds) {
        const network = lossy(100, Number(loss), seed + 1);
        const options = { fixture, seed, cases: defaults.cases, hasStateHook: false, network };
        const { verdict, requirements } = await verifyMock(reference, options);
        const failed = requirements.filter(({ outcome }) => outcome === 'failed');
        assert.deepEqual(failed, [], `seed ${seed}`);
        found[verdict] = (found[verdict] ?? 0) + 1;
      }
      assert.ok(found['conformant']! >= Math.ceil(share * seeds.length), JSON.stringify(found));
    });
});

/** What a target sends after it has died, and after how many requests it does. The last one comes in a trial. */
const deaths = Object.entries({ reset, late }).flatMap(([how, reply]) =>
  [40, 259, 700, 1205, 1255].map((after) => ({ how, reply, after })),
);

for (const { how, reply, after } of partOf(deaths, 2))
  test(`a target that dies after ${after} requests (${how}) is never green, whatever --allow-incomplete`, async () => {
    let requests = 0;
    const record = await verifyMock(reference, {
      fixture: { ...fixture, limits: limitsOf(60, 60, 3) },
      seed: 1,
      cases: 100,
      hasStateHook: false,
      maxDurationMs: 300_000,
      network: delayed(0, 0, async (request, client, clock) => {
        await clock.sleep(requests < after ? 1 : 5000);
        return requests++ < after ? client.send(request) : reply;
      }),
    });
    assert.ok(requests > after);
    const codes = [false, true].map((allowIncomplete) =>
      exitCodeOf(judgedBy(record, { strict: false, allowIncomplete })),
    );
    assert.deepEqual([codes, failedIds(record)], [[3, 3], []]);
    assert.match(headlineOf(record), /^incomplete \(the target stopped answering/);
  });

test('a target that is sometimes too slow fails nothing; one that hangs on unusual requests fails', async () => {
  const hostile = ['invalid-uuid/user-status/hostile', 'invalid-uuid/deposit-check/hostile'];
  for (const [share, isSlowFor, expected] of [
    [0.3, () => true, []],
    [1, (target: string) => /%zz|\[|.{2000}/.test(target), hostile],
  ] as const) {
    const random = randomOf(1);
    const record = await verifyMock(reference, {
      fixture: unlimited,
      seed: 1,
      cases: 200,
      hasStateHook: false,
      network: delayed(0, 0, async (request, client, clock) => {
        if (!isSlowFor(request.target) || random() >= share) return client.send(request);
        await clock.sleep(10_000);
        return late;
      }),
    });
    assert.deepEqual(failedIds(record), expected);
  }
});

for (const [how, reply] of Object.entries({ reset, late }))
  test(`no answer to other paths and methods than those of the interface is no failure: ${how}`, async () => {
    const requirements = catalogue.filter(({ id }) => /^auth\/.*\/no-way-around$/.test(id));
    const isPlain = /^\/api\/ib\/(?:user-status|deposit-check)\?/;
    const network = delayed(0, 0, async (request, client) =>
      request.method === 'GET' && isPlain.test(request.target) ? client.send(request) : reply,
    );
    const options = { fixture: unlimited, seed: 1, cases: 3, requirements, network };
    assert.equal((await verifyMock(reference, options)).verdict, 'conformant');
  });

test('answers mixed up under load are also found at a low rate', async () => {
  const behaviour = faults['answers-mixed-up']!.change(reference);
  const requirements = catalogue.filter(({ id }) => id === 'robustness/service/concurrency');
  for (const rate of [30, 100]) {
    const record = await verifyMock(behaviour, { fixture, seed: 1, cases: 1, rate, requirements });
    assert.equal(record.verdict, 'nonconformant', `${rate} a second`);
  }
});

/** Servers that refuse load in front of the service, or serve few connections at once. */
const busy: Readonly<Record<string, Change>> = {
  'with JSON': busyAbove(8, error(503, 'Service Unavailable')),
  'with a page': busyAbove(6, page('busy', 503)),
  'with a broken connection': busyAbove(6, breaks),
};

describe('a target that serves few requests at once fails nothing', () => {
  for (const [name, change] of partOf(Object.entries(busy), 3))
    test(name, async () => {
      const options = { fixture, seed: 1, cases: 400, isBrief: true };
      const record = await verifyMock(change(reference), options);
      const required = record.requirements.filter(({ level }) => level === 'required');
      const open = required.filter(({ outcome }) => outcome !== 'passed' && outcome !== 'excluded');
      assert.deepEqual(open, []);
      assert.ok(record.requests < 3000, `${record.requests} requests`);
    });
});
