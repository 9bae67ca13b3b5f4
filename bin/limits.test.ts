/** Runs against simulated limiters of many kinds, compared with their plans. The clock is virtual. */
import assert from 'node:assert/strict';
import { Console } from 'node:console';
import { after, describe, test } from 'node:test';
import { reference } from '../mock/behaviour.ts';
import { faults } from '../mock/faults.ts';
import { all, headerFields, on, set, type Change } from '../mock/deviate.ts';
import { variants } from '../mock/variants.ts';
import type { Fixture, FixtureLimits, RunRecord } from '../schemas/generated/types.ts';
import { BURST_WINDOWS, REST_WINDOWS } from '../suites/limits/limit.ts';
import type { Plan } from '../schemas/plan.ts';
import { limitsOf, verifyMock } from './testing/verify-mock.ts';
import { defaults } from './commands/flags.ts';
import { exitCodeOf } from './exit-codes.ts';
import { loadFixture } from './fixture-file.ts';

const { limits: _, ...unstated } = await loadFixture(undefined, {});
const isSpare = ({ key }: { readonly key: string }) => key === 'northwind-spare-key';
const oneKey: Fixture = { ...unstated, apiKeys: unstated.apiKeys!.filter((key) => !isSpare(key)) };

/** When the virtual clock of `verifyMock` starts. */
const START = Date.UTC(2026, 0, 1);

const MINUTE_MS = 60_000;

/** Limits of many public servers. */
const common: FixtureLimits = {
  'user-status': { failedLookups: 20, windowSeconds: 300 },
  'deposit-check': { requests: 100, windowSeconds: 900 },
};

/** A simulated target. */
interface Target {
  readonly change: Change;
  /** The limits that it enforces, `common` by default. */
  readonly enforced?: FixtureLimits;
  /** The limits that the fixture of the run states, by default those that it enforces. */
  readonly stated?: FixtureLimits | 'nothing';
  readonly fixture?: Fixture;
  /** Whether at least as many requests pass in each window as stated: the first plan is right. */
  readonly isAsStated?: true;
  /** Whether it refuses one request at a time: then only the strength can be planned. */
  readonly isUneven?: true;
  /** Bursts that it may take to compare its threshold, if a window ends in the first. A plan counts one. */
  readonly bursts?: number;
}

const variant = (id: string): Change => variants[id]!.change;

/** Both endpoints count in one place. */
const sharedByEndpoints = set((from) => ({
  limit: (world, endpoint, key, call) => {
    Object.assign(world.hits, { 'user-status': world.hits['deposit-check'] });
    return from.limit(world, endpoint, key, call);
  },
}));

/** Another client used each key up, just before the first request. */
const usedUp = set((from) => {
  const seen = new Set<string>();
  return {
    limit: (world, endpoint, key, call) => {
      const limit = from.limit(world, endpoint, key, call);
      const name = `${endpoint} ${key?.key}`;
      if (limit === undefined || key === undefined || seen.has(name)) return limit;
      seen.add(name);
      const until = START + limit.windowMs;
      world.hits[endpoint].set(
        key.key,
        Array.from({ length: limit.most }, () => until),
      );
      return limit;
    },
  };
});

/** Never accepts a key again after a 429, although it names the window. */
const neverRecovering = all(
  set((from) => ({
    limit: (world, endpoint, key, call) => {
      const limit = from.limit(world, endpoint, key, call);
      return limit && { ...limit, windowMs: limit.windowMs * 1e9 };
    },
  })),
  on(
    429,
    headerFields(({ call, world }) => {
      const limit = call && reference.limit(world, call.endpoint, call.caller);
      return limit === undefined ? {} : { 'Retry-After': `${limit.windowMs / 1000}` };
    }),
  ),
);

/** Says what it allows in header fields. */
const advertised = headerFields(({ call, world, finding }) => {
  const limit = call && reference.limit(world, call.endpoint, call.caller);
  if (call === undefined || limit === undefined) return {};
  const { most, windowMs } = limit;
  const used = world.hits[call.endpoint].get(reference.limiterKey(call))?.length ?? 0;
  const left = Math.max(0, most - used);
  return {
    'RateLimit-Policy': `"default";q=${most};w=${windowMs / 1000}`,
    ...(finding.kind === 'limited' ? {} : { 'X-RateLimit-Remaining': `${left}` }),
  };
});

const targets: Readonly<Record<string, Target>> = {
  fixed: { change: (from) => from, isAsStated: true },
  sliding: { change: variant('sliding-window'), isAsStated: true },
  'clock-aligned': { change: variant('aligned-window'), isAsStated: true, bursts: 2 },
  weighted: { change: variant('weighted-window'), isUneven: true },
  bucket: { change: variant('token-bucket'), isAsStated: true },
  'shared by endpoints': {
    change: sharedByEndpoints,
    enforced: limitsOf(100, 100, 900),
  },
  'shared by keys': { change: variant('limit-for-all'), fixture: unstated },
  'advertised only': { change: on(advertised), stated: 'nothing' },
  'ban longer than the window': { change: variant('limit-with-ban'), isAsStated: true },
  'used up at the start': { change: usedUp },
  'never recovering': { change: neverRecovering },
  'contradicting the fixture': { change: (from) => from, stated: limitsOf(60, 250, 3) },
};

const bounds: readonly number[] = [1, 5, 15, Number.POSITIVE_INFINITY];

/** A plan, and how far the run was when it was made. */
interface Planned {
  readonly plan: Plan;
  readonly atRequests: number;
  readonly atMs: number;
}

/** The minutes that a run may take, and suites to skip. */
interface Asked {
  readonly minutes: number;
  readonly skip?: readonly string[];
}

/** Verifies a target with the default strength, and listens to its requests and plans. */
async function verified(
  { change, enforced = common, stated = enforced, fixture = oneKey }: Target,
  { minutes, skip = [] }: Asked,
) {
  const plans: Planned[] = [];
  let startedAt: number | undefined;
  let [at, requests, refusals] = [0, 0, 0];
  /** Who asked for a lookup that got 429. */
  const refused = new Set<string>();
  const record = await verifyMock(
    change(reference),
    {
      fixture: stated === 'nothing' ? fixture : { ...fixture, limits: stated },
      seed: 1,
      cases: defaults.cases,
      maxDurationMs: minutes * MINUTE_MS,
      hasStateHook: false,
      skip,
      onPlan: (plan) => plans.push({ plan, atRequests: requests, atMs: at - (startedAt ?? at) }),
      onExchange: ({ reply, of }) => {
        requests++;
        if (reply.kind !== 'answer') return;
        startedAt ??= reply.sentAt;
        at = reply.receivedAt;
        if (reply.status !== 429) return;
        refusals++;
        refused.add(of ?? 'the first lookup');
      },
    },
    { ...fixture, limits: enforced },
  );
  const exitCode = exitCodeOf(record, { strict: false, allowIncomplete: false });
  return { record, plans, ms: durationOf(record), exitCode, refusals, refused: [...refused] };
}

type Verified = Awaited<ReturnType<typeof verified>>;

/** Time by the virtual clock, in ms. */
const durationOf = ({ phases }: RunRecord): number =>
  phases.reduce((sum, { endpoint, durationMs }) => sum + (endpoint === undefined ? durationMs : 0), 0);

const passedIn = ({ requirements }: RunRecord): number =>
  requirements.filter(({ outcome }) => outcome === 'passed').length;

const requiredOpen = ({ requirements }: RunRecord): readonly string[] =>
  requirements.flatMap((row) =>
    row.level === 'required' && row.outcome !== 'passed'
      ? [`${'reason' in row ? row.reason : row.outcome} ${row.id}`]
      : [],
  );

/** Planned and real figures as a row of the table. */
function rowOf(name: string, minutes: number, { record, plans, ms, exitCode, refusals }: Verified) {
  const [first, last] = [plans[0], plans.at(-1)];
  const of = (one: Planned | undefined) =>
    one === undefined
      ? '-'
      : `${one.plan.requests}, ${Math.round(one.plan.durationMs / 1000)} s, ${one.plan.strength}`;
  return {
    target: name,
    minutes,
    planned: of(first),
    'planned anew': first === last ? '' : `${of(last)} (after ${last!.atRequests})`,
    real: `${record.requests}, ${Math.round(ms / 1000)} s, ${record.strength}`,
    passed: passedIn(record),
    pairs: record.coverage?.pairs[0],
    exit: exitCode,
    '429s': refusals,
  };
}

const rows: ReturnType<typeof rowOf>[] = [];

/** Every nth combination of target and bound runs. `EVERY=1` runs all, also without their limits stated. */
const EVERY = Number(process.env['EVERY'] ?? 7);

/** Time (ms) that a run may take longer than its bound: the last answer may come a little later. */
const SLACK_MS = 1000;

/** Time (ms) that changes of data may take. No plan knows how long. */
const GRACE_MS = 10_000;

/** Time (ms) of a rest and a burst at both endpoints. */
const BURSTS_MS = (REST_WINDOWS + BURST_WINDOWS) * (300 + 900) * 1000;

/** A run that keeps to a stated limit leaves a request of each window, and what a bucket refills. */
const PART_OF_PAIRS = 0.95;

const isClose = (planned: number, real: number, slack: number) =>
  Math.abs(planned - real) <= Math.max(slack, 0.2 * real);

describe('20 failed lookups in 5 minutes and 100 checks in 15 minutes', () => {
  after(() => new Console(process.stdout).table(rows));
  for (const [nth, [name, target]] of Object.entries(targets).entries())
    for (const [at, minutes] of bounds.entries()) {
      if ((nth * bounds.length + at) % EVERY > 0) continue;
      test(`${name}, ${minutes} min`, async () => {
        const run = await verified(target, { minutes });
        rows.push(rowOf(name, minutes, run));
        const failed = run.record.requirements.filter(
          ({ outcome, level }) => outcome === 'failed' && level === 'required',
        );
        const isFalse = name === 'contradicting the fixture';
        if (!isFalse) assert.deepEqual(failed, []);
        assert.ok(run.ms <= minutes * MINUTE_MS + SLACK_MS, `${run.ms} ms`);
        // Other targets teach a limit, or that the key stays limited: then the last plan is right.
        const { plan } = run.plans.at(target.isAsStated ? 0 : -1)!;
        assert.equal(plan.strength, run.record.strength);
        if (target.isUneven === undefined) {
          assert.ok(isClose(plan.requests, run.record.requests, 0), `requests: ${plan.requests}`);
          const further = minutes === Infinity ? (target.bursts ?? 1) - 1 : 0;
          const planned = [0, further].map((bursts) => plan.durationMs + bursts * BURSTS_MS);
          const isTrue = planned.some((ms) => isClose(ms, run.ms, GRACE_MS));
          assert.ok(isTrue, `time: ${planned.join(' or ')} ms, ${run.ms} ms`);
        }
        if (EVERY > 1 || isFalse || target.stated === 'nothing') return;
        const other = await verified({ ...target, stated: 'nothing' }, { minutes });
        rows.push(rowOf(`${name}, not stated`, minutes, other));
        assert.ok(passedIn(run.record) >= passedIn(other.record), 'passed');
        assert.ok(run.exitCode <= other.exitCode, 'exit code');
        const [everyLevel, otherLevels] = [run, other].map(({ record }) => Math.min(1, record.strength!));
        assert.ok(everyLevel! >= otherLevels!, 'every level');
        const [pairs, otherPairs] = [run, other].map(({ record }) => record.coverage!.pairs[0]);
        assert.ok(pairs! >= PART_OF_PAIRS * otherPairs!, `${pairs} pairs, ${otherPairs}`);
      });
    }
});

describe('a stated limit is crossed only on purpose', () => {
  for (const minutes of [5, 15]) {
    test(`the limiters' rows alone get 429 in ${minutes} min`, async () => {
      const { refused } = await verified(targets['fixed']!, { minutes });
      assert.deepEqual(refused.toSorted(), ['limiter of deposit-check', 'limiter of user-status']);
    });
    test(`without them, nothing does in ${minutes} min`, async () => {
      const { record, refused } = await verified(targets['fixed']!, { minutes, skip: ['rate-limit'] });
      assert.deepEqual(refused, []);
      assert.ok(record.requests > 300, `${record.requests}`);
    });
  }
});

test('a long wait comes with the requirements that have failed so far', async () => {
  const named: (readonly string[])[] = [];
  const { requirements } = await verifyMock(faults['foreign-user-is-member']!.change(reference), {
    fixture: { ...oneKey, limits: common },
    seed: 1,
    cases: 100,
    maxDurationMs: 15 * MINUTE_MS,
    onWait: ({ waitMs }, failing) => waitMs > 5000 && named.push(failing),
  });
  const failed = requirements.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);
  assert.equal(named[0]![0], 'foreign-ib/user-status/other-ib');
  assert.deepEqual(named.at(-1), failed);
});

describe('default flags', () => {
  const minutes = defaults.maxDurationMs / MINUTE_MS;
  const needHook = ['user-status', 'deposit-check'].map((name) => `no-state-hook auth/${name}/revocation`);

  test('two keys reach strength 1', async () => {
    const { record, exitCode } = await verified({ ...targets['fixed']!, fixture: unstated }, { minutes });
    assert.deepEqual([record.verdict, record.strength, exitCode], ['conformant', 1, 0]);
    assert.deepEqual(requiredOpen(record), needHook);
  });

  test('one key verifies every required requirement, and the record names the time for strength 1', async () => {
    const { record, exitCode } = await verified(targets['fixed']!, { minutes });
    assert.deepEqual([record.verdict, record.strength, exitCode], ['conformant', 0, 0]);
    assert.equal(exitCodeOf(record, { strict: true, allowIncomplete: false }), 3);
    assert.deepEqual(requiredOpen(record), needHook);
    const seconds = record.needs?.find(({ reaches }) => reaches === 'strength 1')?.seconds;
    assert.ok(seconds !== undefined, 'needs');
    const longer = await verified(targets['fixed']!, { minutes: seconds / 60 });
    assert.deepEqual([longer.record.verdict, longer.record.strength], ['conformant', 1]);
  });
});
