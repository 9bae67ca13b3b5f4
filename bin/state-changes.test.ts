import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { reference } from '../mock/behaviour.ts';
import { startMock } from '../mock/index.ts';
import { serverFor } from '../suites/testing/against.ts';
import { limitsOf, verifyMock } from './testing/verify-mock.ts';
import { builtInFixture, loadFixture } from './fixture-file.ts';
import { runCli } from './testing/run-cli.ts';

const fixture = await loadFixture(undefined, {});

/** The verdict of a run with a state hook, and its required results without a decision. */
async function verdictOf(changes: Partial<Parameters<typeof verifyMock>[1]>) {
  const { verdict, requirements } = await verifyMock(reference, { fixture, seed: 1, cases: 300, ...changes });
  const open = requirements.filter(
    ({ level, outcome }) => level === 'required' && outcome === 'inconclusive',
  );
  return [verdict, ...open.map(({ id }) => id)];
}

test('if every pending deposit becomes EXECUTED, the first look at one is judged as pending', async () => {
  const { deposits: all = [] } = fixture;
  const deposits = all.filter((one) => one.state !== 'pending' || one.becomes !== undefined);
  assert.deepEqual(await verdictOf({ fixture: { ...fixture, deposits } }), ['conformant']);
});

const limits = {
  'user-status': { failedLookups: 20, windowSeconds: 300 },
  'deposit-check': { requests: 100, windowSeconds: 900 },
};

test('a deposit that becomes EXECUTED after 4 s is seen before and after, whatever the limits', async () => {
  const deposits = (fixture.deposits ?? [])
    .filter((one) => one.state !== 'pending' || one.becomes?.afterPolls === undefined)
    .map((one) =>
      one.state === 'pending' && one.becomes !== undefined
        ? { ...one, becomes: { ...one.becomes, afterSeconds: 4 } }
        : one,
    );
  for (const some of [limits, limitsOf(12, 12, 3)]) {
    const options = { fixture: { ...fixture, deposits, limits: some }, maxDurationMs: 300_000 };
    assert.deepEqual(await verdictOf({ ...options, hasStateHook: false }), ['conformant']);
  }
});

test('changes are judged within limits that the lookups of the run use up', async () => {
  const options = { fixture: { ...fixture, limits }, maxDurationMs: 300_000 };
  assert.deepEqual(await verdictOf(options), ['conformant']);
});

test('an execution time that the fixture states for a deposit with becomes is right, whatever it is', async () => {
  const deposits = (fixture.deposits ?? []).map((one) =>
    one.state === 'pending' && one.becomes !== undefined
      ? { ...one, becomes: { ...one.becomes, executedAt: 17 } }
      : one,
  );
  for (const hasStateHook of [true, false])
    assert.deepEqual(await verdictOf({ fixture: { ...fixture, deposits }, hasStateHook }), ['conformant']);
});

const hooks: readonly (readonly [what: string, status: number, pattern: RegExp])[] = [
  ['does nothing', 200, /actual .*, [\d.]+ s after the state hook was asked for "key revoked" of <key /],
  [
    'fails',
    500,
    /HOOK answered 500 to "key revoked" \(setup\) \(asked for "key revoked" of <key .*waited \d/,
  ],
];
for (const [what, status, pattern] of hooks)
  test(`a state hook that ${what}: the report names the hook, what it was asked, and the wait`, async (t) => {
    await using mock = await startMock();
    const hook = await serverFor(
      t,
      createServer((_, response) => response.writeHead(status).end()),
    );
    const target = `${mock.url} --fixture ${builtInFixture.pathname} --state-url ${hook} --grace 100ms`;
    const line = `verify ${target} --only auth/user-status/revocation`;
    const { output } = await runCli(line, { terminal: { color: false, width: 200 } });
    assert.match(
      output.replaceAll(/\n +/g, ' ').replaceAll(hook, 'HOOK').replaceAll('HOOK/', 'HOOK'),
      pattern,
    );
    assert.match(output, new RegExp(`^next: .* --state-url ${hook}`, 'm'));
  });
