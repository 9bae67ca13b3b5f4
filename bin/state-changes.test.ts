import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reference } from '../mock/behaviour.ts';
import { verifyMock } from './canary.ts';
import { loadFixture } from './fixture-file.ts';

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

test('changes are judged within limits that the lookups of the run use up', async () => {
  const limits = {
    'user-status': { failedLookups: 20, windowSeconds: 300 },
    'deposit-check': { requests: 100, windowSeconds: 900 },
  };
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
