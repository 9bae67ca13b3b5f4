import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { reference } from '../mock/server/handler.ts';
import * as d from '../mock/deviations/deviate.ts';
import { startMock } from '../mock/index.ts';
import type { Exchange } from '../mock/server/exchange.ts';
import type { ApiKey, World } from '../mock/server/world.ts';
import { catalogue } from '../suites/index.ts';
import { serverFor } from '../suites/testing/against.ts';
import { failedIds, limitsOf, verifyMock } from './dev/testing/verify-mock.ts';
import { builtInFixture } from './dev/paths.ts';
import { builtIn as fixture } from './dev/testing/fixtures.ts';
import { runCli } from './dev/testing/run-cli.ts';

/** The deposits, of which those that become EXECUTED have these fields too. */
const becoming = (fields: { afterSeconds?: number; executedAt?: number }, all = fixture.deposits!) =>
  all.map((one) =>
    one.state === 'pending' && one.becomes !== undefined
      ? { ...one, becomes: { ...one.becomes, ...fields } }
      : one,
  );

/** The verdict of a run with a state hook, and its required results without a decision. */
async function verdictOf(changes: Partial<Parameters<typeof verifyMock>[1]>) {
  const { verdict, requirements } = await verifyMock(reference, { fixture, seed: 1, cases: 300, ...changes });
  const open = requirements.filter((one) => one.level === 'required' && one.outcome === 'inconclusive');
  return [verdict, ...open.map(({ id }) => id)];
}

const notStaying = fixture.deposits!.filter((one) => one.state !== 'pending' || one.becomes !== undefined);

const limits = limitsOf(20, 100, 300, 900);

test('a deposit that becomes EXECUTED after 4 s is seen before and after, whatever the limits', async () => {
  const byTime = fixture.deposits!.filter((one) => one.state !== 'pending' || !one.becomes?.afterPolls);
  const deposits = becoming({ afterSeconds: 4 }, byTime);
  for (const some of [limits, limitsOf(12, 12, 3)]) {
    const options = { fixture: { ...fixture, deposits, limits: some }, maxDurationMs: 300_000 };
    assert.deepEqual(await verdictOf({ ...options, hasStateHook: false }), ['conformant']);
  }
});

test('changes are judged within limits that lookups use up, and polls may use what they leave', async () => {
  const becomes = { state: 'EXECUTED', amountInUsd: 1.5, afterSeconds: 20 } as const;
  const late = notStaying.map((one) => (one.state === 'pending' ? { ...one, becomes } : one));
  for (const [deposits, hasStateHook] of [
    [fixture.deposits!, true],
    [late, true],
    [late, false],
  ] as const) {
    const options = { fixture: { ...fixture, deposits, limits }, maxDurationMs: 300_000, hasStateHook };
    assert.deepEqual(await verdictOf(options), ['conformant']);
  }
});

test('the first look at a deposit is judged as pending, and any execution time that is stated is right', async () => {
  for (const [deposits, hasStateHook] of [
    [notStaying, true],
    [becoming({ executedAt: 17 }), true],
    [becoming({ executedAt: 17 }), false],
  ] as const)
    assert.deepEqual(await verdictOf({ fixture: { ...fixture, deposits }, hasStateHook }), ['conformant']);
});

test('a change does not pass if the run ends before it is due', async () => {
  const deposits = fixture.deposits!.filter((one) => one.state !== 'pending' || one.becomes === undefined);
  for (const id of ['pending/deposit-check/becomes-executed', 'auth/user-status/revocation']) {
    const requirements = catalogue.filter((one) => one.id === id);
    const options = { fixture: { ...fixture, deposits }, cases: 10, maxDurationMs: 4000, requirements };
    assert.deepEqual(await verdictOf(options), ['incomplete', id]);
  }
});

test('lookups leave requests of --max-requests for changes', async () => {
  const [, ...open] = await verdictOf({ fixture, maxRequests: 500, cases: 1900 });
  assert.ok(!open.some((id) => /becomes-executed|revocation/.test(id)), open.join());
});

const seen = (of: 'key' | 'deposit', isSeen: Parameters<typeof d.sees>[0]) =>
  d.sees((change) => change.of !== of || isSeen(change));
const hasRevoked = ({ keys }: World) => [...keys.changed.values()].some(({ state }) => state === 'revoked');
const isWhileRevoked = ({ world }: Exchange) => hasRevoked(world);
const isNow = ({ finding }: Parameters<ReturnType<typeof d.counter>>[0]) =>
  finding.kind === 'executed' && finding.amountInUsd === 123.45;
const hasBecomeByPolls = ({ finding }: Exchange) =>
  finding.kind === 'executed' &&
  finding.deposit.state === 'pending' &&
  finding.deposit.becomes?.afterPolls === 3;
const ofKey =
  (name: string, change: d.Change): d.Change =>
  (from) => ({
    ...from,
    around: (serve) => {
      const [plain, changed] = [from.around(serve), change(from).around(serve)];
      return (world, request, now) =>
        (request.headers.authorization?.includes(name) ? changed : plain)(world, request, now);
    },
  });
const ofSecondKey = (change: d.Change) => ofKey('spare', change);
/** A key that was revoked stays so for a while after that is undone, on so many of three machines. */
const undoneAfter =
  (ms: number, machines = 3): d.Change =>
  (from) => ({
    ...from,
    around: (serve) => {
      const next = from.around(serve);
      let [last, at, nth] = [undefined as ReadonlyMap<string, ApiKey> | undefined, -Infinity, 0];
      return (world, request, now) => {
        const isRevoked = hasRevoked(world);
        if (isRevoked) [last, at] = [new Map(world.keys.changed), now];
        const isKept = !isRevoked && last !== undefined && now < at + ms && nth++ % 3 < machines;
        const keys = isKept ? { base: world.keys.base, changed: new Map(last) } : world.keys;
        return next({ ...world, keys }, request, now);
      };
    },
  });

const revoked = ['auth/deposit-check/revocation', 'auth/user-status/revocation'];
const becomes = ['pending/deposit-check/becomes-executed'];

describe('what is wrong after a change', () => {
  const kept = d.cached(Infinity, ['notYet'], ['executed']);
  const wrong: Readonly<Record<string, readonly [change: d.Change, failed: readonly string[]]>> = {
    'a revocation that takes 8 s': [seen('key', ({ ageMs }) => ageMs >= 8000), revoked],
    'answers of 60 s in a cache that a revoked key still gets': [
      d.cached(60_000, ['member', 'executed'], ['unauthorized']),
      revoked,
    ],
    'a deposit that shows after 8 s': [seen('deposit', ({ ageMs }) => ageMs >= 8000), becomes],
    'a deposit that shows, and is gone after 3 s': [seen('deposit', ({ ageMs }) => ageMs < 3000), becomes],
    'another key that gets 403 meanwhile': [ofKey('contoso', d.on(isWhileRevoked, d.status(403))), revoked],
    'another amount than that of the hook': [d.on(isNow, d.fields({ amountInUsd: 123.46 })), becomes],
    'a 404 that is kept for ever': [kept, becomes],
    'a 404 that is kept for ever for the second key': [ofSecondKey(kept), becomes],
  };
  const ids = new Set([...revoked, ...becomes, 'pending/deposit-check/pending']);
  const requirements = catalogue.filter(({ id }) => ids.has(id) || id.endsWith('/revoked'));
  const run = (change: d.Change, more = {}) =>
    verifyMock(change(reference), { fixture, seed: 1, cases: 30, requirements, ...more });
  for (const [what, [change, failed]] of Object.entries(wrong))
    test(what, async () => {
      const record = await run(change);
      assert.deepEqual(failedIds(record).toSorted(), failed);
    });

  const byItself = (change: d.Change) => run(change, { hasStateHook: false });
  test('by itself: a 404 that is kept for the second key, one that is gone again, and one that other partners see', async () => {
    assert.deepEqual(failedIds(await byItself(ofSecondKey(kept))), becomes);
    const isGone = (one: Exchange) => hasBecomeByPolls(one) && one.now > one.world.createdAt + 3000;
    const gone = d.on(isGone, d.error(404, 'Deposit not found'));
    for (const hasStateHook of [true, false])
      assert.deepEqual(failedIds(await run(gone, { hasStateHook })), becomes);
    const shown = d.on('foreign', (_, { finding, now, world }) => {
      const own = 'deposit' in finding && finding.deposit.state === 'pending' && finding.deposit.becomes;
      return own && now > world.createdAt + 4000
        ? { status: 200, body: JSON.stringify({ status: 'EXECUTED', amountInUsd: 1, executedAt: now }) }
        : {};
    });
    const follows = 'foreign-ib/deposit-check/follows-key';
    const more = [...requirements, ...catalogue.filter(({ id }) => id === follows)];
    const record = await run(shown, { hasStateHook: false, requirements: more });
    assert.deepEqual(failedIds(record), [follows]);
  });
});

describe('the only key is revoked before the limits are tried', () => {
  const apiKeys = fixture.apiKeys!.filter(({ key }) => !['northwind-spare-key', 'contoso-key'].includes(key));
  const ofLimits = ['rate-limit/user-status/failed-lookups', 'rate-limit/deposit-check/requests'];
  for (const [what, ms, machines, expected] of [
    ['they wait until it works again', 3000, 3, 'passed'],
    ['they cannot be tried if it does not', Infinity, 3, 'inconclusive'],
    ['they cannot be tried if it works on one machine only', Infinity, 2, 'inconclusive'],
  ] as const)
    test(what, async () => {
      const order: string[] = [];
      const record = await verifyMock(undoneAfter(ms, machines)(reference), {
        fixture: { ...fixture, apiKeys, limits: limitsOf(12, 12, 3) },
        seed: 1,
        cases: 100,
        onExchange: ({ of = '' }) => void (order.at(-1) === of || order.push(of)),
      });
      assert.ok(order.indexOf('key revoked') < order.indexOf('limiter of user-status'));
      assert.deepEqual(failedIds(record), []);
      const outcomeOf = (id: string) => record.requirements.find((one) => one.id === id)?.outcome;
      assert.deepEqual(revoked.map(outcomeOf), ['passed', 'passed']);
      assert.deepEqual(ofLimits.map(outcomeOf), [expected, expected]);
    });
});

const hooks: readonly (readonly [what: string, status: number, pattern: RegExp])[] = [
  ['does nothing', 200, /actual .*, [\d.]+ s after the state hook was asked for "key revoked" of <key /],
  ['fails', 500, /HOOK answered 500 to "key revoked" \(setup\) \(asked for "key revoked" of <.*waited \d/],
];
for (const [what, status, pattern] of hooks)
  test(`a state hook that ${what}: the report names the hook, what it was asked, and the wait`, async (t) => {
    await using mock = await startMock();
    const server = createServer((_, response) => response.writeHead(status).end());
    const hook = await serverFor(t, server);
    const target = `${mock.url} --fixture ${builtInFixture} --state-url ${hook} --grace 100ms`;
    const line = `verify ${target} --only auth/user-status/revocation`;
    const { output } = await runCli(line, { terminal: { color: false, width: 200 } });
    assert.match(output.replaceAll(/\n +/g, ' ').replaceAll(new RegExp(`${hook}/?`, 'g'), 'HOOK'), pattern);
    assert.match(output, new RegExp(`^next: .* --state-url ${hook}`, 'm'));
  });
