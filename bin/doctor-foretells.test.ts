import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reference } from '../mock/behaviour.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { catalogue, knowledge } from '../suites/index.ts';
import { gapsOf } from '../suites/doctor/gaps.ts';
import { verifyMock } from './canary.ts';
import { loadFixture } from './fixture-file.ts';

const whole = await loadFixture(undefined, {});
const { apiKeys = [], users = [], deposits = [] } = whole;
const isOurs = (user_id: string) => users.find((user) => user.user_id === user_id)?.partner === 'northwind';

/** Fixtures that lack something, of a target that has it all. */
const fixtures: Readonly<Record<string, Fixture>> = {
  'nothing is missing': whole,
  'there is nothing at all': {},
  'there are keys alone': { apiKeys },
  'there are no keys': { ...whole, apiKeys: [] },
  'every key is active': { ...whole, apiKeys: apiKeys.filter(({ state }) => state === 'active') },
  'there is one partner': { ...whole, apiKeys: apiKeys.filter(({ partner }) => partner === 'northwind') },
  'no user is under the IB': {
    ...whole,
    users: users.filter(({ partner }) => partner !== 'northwind'),
    deposits: [],
  },
  'no id of a user has a letter': {
    ...whole,
    users: users.filter(({ user_id }) => /^[\d-]+$/.test(user_id)),
    deposits: [],
  },
  'every user is under the IB': {
    ...whole,
    users: users.filter(({ partner }) => partner === 'northwind'),
    deposits: deposits.filter(({ user_id }) => isOurs(user_id)),
  },
  'nothing is pending': { ...whole, deposits: deposits.filter(({ state }) => state !== 'pending') },
  'pending deposits stay so': { ...whole, deposits: deposits.filter((deposit) => !('becomes' in deposit)) },
  'nothing is executed': { ...whole, deposits: deposits.filter(({ state }) => state !== 'EXECUTED') },
};

const foretold: ReadonlySet<string> = new Set(['no-fixture', 'no-second-key', 'no-state-hook']);

for (const [what, fixture] of Object.entries(fixtures))
  test(`what no run can judge is foretold: ${what}`, async () => {
    const known = knowledge(fixture);
    const run = { fixture, seed: 1, cases: 1, hasStateHook: false };
    const { requirements } = await verifyMock(reference, run, whole);
    const open = requirements.filter(
      (row) => (row.outcome === 'inconclusive' || row.outcome === 'excluded') && foretold.has(row.reason),
    );
    const gaps = gapsOf(catalogue, known, false);
    assert.deepEqual(gaps.flatMap((gap) => gap.requirements).toSorted(), open.map(({ id }) => id).toSorted());
    assert.ok(gaps.every(({ mend }) => mend !== ''));
  });
