import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reference, type Behaviour } from '../mock/behaviour.ts';
import { variants } from '../mock/variants.ts';
import type { FixtureLimits, RunRecord } from '../schemas/generated/types.ts';
import { limitsOf, verifyMock } from './canary.ts';
import { loadFixture } from './fixture-file.ts';

const { limits: _, ...unstated } = await loadFixture(undefined, {});
/** Only one key, so no other key shares the load. */
const oneKey = {
  ...unstated,
  apiKeys: unstated.apiKeys!.filter(({ key }) => key !== 'northwind-spare-key'),
};

interface Asked {
  readonly limits: FixtureLimits;
  readonly isStated?: boolean;
  readonly behaviour?: Behaviour;
  readonly fixture?: typeof unstated;
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
  const record = await verifyMock(
    behaviour,
    {
      fixture: asked.isStated === true ? served : fixture,
      seed: 7,
      cases,
      maxDurationMs: minutes * 60_000,
      hasStateHook: false,
      network: (client, clock) => ({
        ...client,
        send: async (request) => {
          const sentAt = clock.now();
          startedAt = Math.min(startedAt, sentAt);
          await clock.sleep(latency / 2);
          const reply = await client.send(request);
          await clock.sleep(latency / 2);
          endedAt = clock.now();
          return reply.kind === 'answer' ? { ...reply, sentAt, receivedAt: endedAt } : reply;
        },
      }),
    },
    served,
  );
  return { ...record, seconds: (endedAt - startedAt) / 1000 };
}

const open = ({ requirements }: RunRecord, level: string) =>
  requirements.flatMap((row) => (row.level === level && row.outcome === 'inconclusive' ? [row] : []));
const failedIds = ({ requirements }: RunRecord) =>
  requirements.flatMap(({ id, outcome }) => (outcome === 'failed' ? [id] : []));

describe('with short windows, a run takes at most 50 % longer than with stated limits', () => {
  const limits = limitsOf(60, 60, 3);
  const often = { limits, fixture: unstated, latency: 20 };
  const runs: Readonly<Record<string, Asked>> = {
    'fixed windows': often,
    'sliding windows': { ...often, behaviour: variants['sliding-window']!.change(reference) },
    'one counter for all keys': { ...often, behaviour: variants['limit-for-all']!.change(reference) },
    'no Retry-After': { ...often, behaviour: variants['retry-after-left-out']!.change(reference) },
    '12 failed lookups and 40 checks in 2 s': { limits: limitsOf(12, 40, 2) },
  };
  for (const [name, asked] of Object.entries(runs))
    test(name, async () => {
      const record = await verified(asked);
      const stated = await verified({ ...asked, isStated: true });
      assert.deepEqual(
        [failedIds(record), open(record, 'required'), open(record, 'recommended')],
        [[], [], []],
      );
      assert.ok(record.seconds <= 1.5 * stated.seconds, `${record.seconds} s, stated ${stated.seconds} s`);
    });
});

describe('100 in 15 minutes, 5 minutes allowed', () => {
  const limits = limitsOf(100, 100, 900);
  for (const [name, asked] of Object.entries({
    'not stated': { limits },
    'not stated, and no Retry-After': {
      limits,
      behaviour: variants['retry-after-left-out']!.change(reference),
    },
    stated: { limits, isStated: true },
  }))
    test(`${name}: all required rows except those on stated limits are judged, the rest has one reason`, async () => {
      const record = await verified({ ...asked, cases: 1500 });
      assert.equal(record.verdict, 'isStated' in asked ? 'incomplete' : 'conformant');
      assert.deepEqual(failedIds(record), []);
      const compared = ['rate-limit/user-status/failed-lookups', 'rate-limit/deposit-check/requests'];
      const left = open(record, 'required').map(({ id, reason }) => `${reason} ${id}`);
      assert.deepEqual(left, 'isStated' in asked ? compared.map((id) => `budget ${id}`) : []);
      const others = [...open(record, 'recommended'), ...open(record, 'observed')];
      const reasons = others.flatMap((row) =>
        row.reason === 'depends' ? [] : [`${row.reason}: ${row.words}`],
      );
      assert.ok(reasons.length > 0);
      assert.equal(new Set(reasons).size, 1, reasons.join('\n'));
      assert.match(reasons[0]!, /^rate-limited: .*--max-duration/);
    });
  test('the found limit and the fix are reported', async () => {
    const { rateLimited, notes } = await verified({ limits });
    const learned = rateLimited.learned?.at(-1);
    assert.deepEqual([learned?.endpoint, learned?.windowSeconds], ['deposit-check', 900]);
    assert.ok(Math.abs(learned!.requests - 100) <= 1, `${learned!.requests}`);
    assert.match(
      notes.join('\n'),
      new RegExp(
        `deposit-check about ${learned!.requests} in 900 s.*limits in the fixture.*keys.*--max-duration`,
      ),
    );
  });
  test('no wait is useless; with 20 minutes, the run continues in the next window', async () => {
    const [short, long] = [await verified({ limits }), await verified({ limits, minutes: 20 })];
    assert.ok(short.seconds < 30, `${short.seconds} s`);
    assert.ok(long.seconds > 900 && long.seconds < 1200, `${long.seconds} s`);
    const tried = (record: RunRecord) => record.requirements.reduce((sum, { cases }) => sum + cases, 0);
    assert.ok(tried(long) > tried(short));
  });
});

test('10 checks and 5 failed lookups per minute: 9 minutes judge every required row, 5 minutes miss levels', async () => {
  const limits = limitsOf(5, 10, 60);
  const record = await verified({ limits, minutes: 9 });
  assert.deepEqual([failedIds(record), open(record, 'required')], [[], []]);
  const cut = await verified({ limits, minutes: 5 });
  assert.deepEqual([...new Set(open(cut, 'required').map(({ reason }) => reason))], ['rate-limited']);
  assert.equal(cut.verdict, 'incomplete');
});

test('both endpoints wait at the same time', async () => {
  const { rateLimited, seconds } = await verified({ limits: limitsOf(12, 12, 10) });
  assert.ok(rateLimited.answers > 0 && rateLimited.waitedMs > 0 && rateLimited.waitedMs <= seconds * 1000);
});
