import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { reference, type Behaviour } from '../mock/server/handler.ts';
import { on, set } from '../mock/deviations/deviate.ts';
import { variants } from '../mock/deviations/variants.ts';
import { endpoints } from '../schemas/endpoints.ts';
import type { Fixture, FixtureLimits, RunRecord } from '../schemas/generated/types.ts';
import type { Exchange } from '../suites/rules/scenario-context.ts';
import { partOf } from './dev/testing/part.ts';
import { oneKey, unlimited } from './dev/testing/fixtures.ts';
import { delayed, failedIds, limitsOf, verifyMock } from './dev/testing/verify-mock.ts';

interface Asked {
  readonly limits: FixtureLimits;
  readonly isStated?: boolean;
  readonly behaviour?: Behaviour;
  readonly fixture?: Fixture;
  /** Latency in ms of the virtual clock. */
  readonly latency?: number;
  readonly minutes?: number;
  readonly cases?: number;
}

/** Verifies a mock. Returns the record and the seconds by the virtual clock. */
async function verified(asked: Asked): Promise<RunRecord & { readonly seconds: number }> {
  const { limits, behaviour = reference, fixture = oneKey, latency = 2, minutes = 5, cases = 50 } = asked;
  const served = { ...fixture, limits };
  let [startedAt, endedAt] = [Number.POSITIVE_INFINITY, 0];
  const options = {
    fixture: asked.isStated === true ? served : fixture,
    seed: 7,
    cases,
    maxDurationMs: minutes * 60_000,
    hasStateHook: false,
    network: delayed(latency / 2, latency / 2),
    onExchange: ({ reply }: Exchange) => {
      if (reply.kind !== 'answer') return;
      startedAt = Math.min(startedAt, reply.sentAt);
      endedAt = Math.max(endedAt, reply.receivedAt);
    },
  };
  const record = await verifyMock(behaviour, options, served);
  return { ...record, seconds: (endedAt - startedAt) / 1000 };
}

const open = ({ requirements }: RunRecord, level: string) =>
  requirements.flatMap((row) => (row.level === level && row.outcome === 'inconclusive' ? [row] : []));
/** But for comparisons for which there is no time. */
const openRequired = (record: RunRecord, level = 'required') =>
  open(record, level).filter(({ reason }) => reason !== 'not-compared');

const variant = (id: string) => variants[id]!.change(reference);

describe('with short windows, a run takes at most 50 % longer than with stated limits', () => {
  const limits = limitsOf(60, 60, 3);
  const often = { limits, fixture: unlimited, latency: 20, cases: 100 };
  const runs: Readonly<Record<string, Asked>> = {
    'fixed windows': often,
    'sliding windows': { ...often, behaviour: variant('sliding-window') },
    'one counter for all keys of a partner': { ...often, behaviour: variant('limit-per-partner') },
    'no Retry-After': { ...often, behaviour: variant('retry-after-left-out') },
    '12 failed lookups and 40 checks in 2 s': { limits: limitsOf(12, 40, 2), cases: 100 },
  };
  for (const [name, asked] of partOf(Object.entries(runs), 3))
    test(name, async () => {
      const record = await verified(asked);
      const stated = await verified({ ...asked, isStated: true });
      const advice = openRequired(record, 'recommended');
      assert.deepEqual([failedIds(record), openRequired(record), advice], [[], [], []]);
      assert.ok(record.seconds <= 1.5 * stated.seconds, `${record.seconds} s, stated ${stated.seconds} s`);
    });
});

describe('100 in 15 minutes, 5 minutes allowed', () => {
  const limits = limitsOf(100, 100, 900);
  for (const [name, asked] of Object.entries({
    'not stated': { limits },
    'not stated, and no Retry-After': { limits, behaviour: variant('retry-after-left-out') },
    stated: { limits, isStated: true },
  }))
    test(`${name}: required rows are judged, the rest has the limiter as its reason`, async () => {
      const record = await verified({ ...asked, cases: 1500 });
      assert.deepEqual([failedIds(record), openRequired(record), record.strength], [[], [], 1]);
      const others = [...open(record, 'recommended'), ...open(record, 'observed')];
      assert.ok(others.length > 0);
      const isOfLimiter = /^(depends|not-compared|(rate-limited|budget): .*--max-duration)/;
      for (const { id, reason, words } of others) assert.match(`${reason}: ${words}`, isOfLimiter, id);
    });
  test('with 20 minutes, the run continues in the next window', async () => {
    const [short, long] = [await verified({ limits }), await verified({ limits, minutes: 20 })];
    assert.ok(long.seconds > 900 && long.seconds < 1200, `${long.seconds} s`);
    const tried = (record: RunRecord) => record.requirements.reduce((sum, { cases }) => sum + cases, 0);
    assert.ok(tried(long) > tried(short));
  });
});

test('10 checks and 5 failed lookups per minute: 5 minutes, the default, judge every required row, 2 minutes miss some', async () => {
  const limits = limitsOf(5, 10, 60);
  const record = await verified({ limits, minutes: 5 });
  assert.deepEqual([failedIds(record), openRequired(record)], [[], []]);
  const cut = await verified({ limits, minutes: 2 });
  assert.deepEqual(new Set(openRequired(cut).map(({ reason }) => reason)), new Set(['rate-limited']));
  assert.equal(cut.verdict, 'incomplete');
});

test('both endpoints wait at the same time', async () => {
  const { rateLimited, seconds } = await verified({ limits: limitsOf(12, 12, 10) });
  assert.ok(rateLimited.answers > 0);
  for (const { waitedMs } of rateLimited.endpoints) assert.ok(waitedMs > 0 && waitedMs <= seconds * 1000);
  assert.ok(rateLimited.waitedMs > seconds * 1000, `${rateLimited.waitedMs} ms in ${seconds} s`);
});

/** Refuses all requests for a while after so many with wrong keys. */
function banning(most: number, ms: number): Behaviour {
  let at: readonly number[] = [];
  let until = 0;
  return on((_response, { call, finding, now }) => {
    if (call === undefined) return {};
    if (now < until) {
      const body = JSON.stringify({ error: endpoints[call.endpoint].messages[429] });
      return { status: 429, headers: { 'Content-Type': 'application/json' }, body };
    }
    if (finding.kind === 'unauthorized') at = [...at.filter((one) => one > now - ms), now];
    if (at.length >= most) [at, until] = [[], now + ms];
    return {};
  })(reference);
}

test('a server that refuses all requests after 50 wrong keys conforms', async () => {
  const asked = { limits: limitsOf(60, 250, 3), fixture: unlimited, minutes: 30, cases: 200 };
  const record = await verified({ ...asked, behaviour: banning(50, 10_000) });
  assert.deepEqual([record.verdict, failedIds(record)], ['conformant', []]);
});

/** Three machines, each with a limiter of its own. A balancer sends requests to them at random. */
const threeMachines = set(({ limiterKey }) => {
  const machines = new WeakMap<object, number>();
  const generator = xoroshiro128plus(1);
  const random = () => uniformFloat64(generator);
  return {
    limiterKey: (call, world) => {
      const machine = machines.get(call.request) ?? Math.floor(3 * random());
      machines.set(call.request, machine);
      return `${limiterKey(call, world)} ${machine}`;
    },
  };
})(reference);

test('lookups of members that meet a machine which still limits the key are tried again after its wait', async () => {
  const asked = { limits: limitsOf(60, 250, 3), behaviour: threeMachines, fixture: unlimited };
  for (const latency of partOf([1, 2, 4, 8], 4))
    assert.deepEqual(failedIds(await verified({ ...asked, latency })), []);
});
