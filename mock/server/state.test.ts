import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StateChange } from '../../schemas/generated/types.ts';
import { ids, testSession } from '../testing/session.ts';
import { lookUp } from './world.ts';

const FOUND = '{"status":"EXECUTED","amountInUsd":123.45,"executedAt":1767225599123}';
const execution = { amountInUsd: 123.45, executedAt: 1_767_225_599_123 };

const revoked = (key: unknown, action?: unknown) => ({
  state: 'key revoked',
  params: { key },
  ...(action !== undefined && { action }),
});
const executed = (reference_id: unknown, action?: unknown, details: object = execution) => {
  return {
    state: 'deposit executed',
    params: { reference_id, ...details },
    ...(action !== undefined && { action }),
  };
};

function newWorld() {
  const { session, user, deposit, state } = testSession();
  const { world } = session.main;
  return {
    world,
    state,
    user: (key?: string) => user(ids.member, key).status,
    deposit,
    /** Applies changes without problems. */
    change: (...bodies: readonly unknown[]) => {
      for (const body of bodies) state(body as StateChange);
    },
  };
}

describe('key revoked', () => {
  test('revokes only that key, on both endpoints, until its teardown, which may be repeated', () => {
    const { user, deposit, change } = newWorld();
    change(revoked('northwind-key'));
    assert.deepEqual([user(), deposit(ids.executed).status, user('northwind-spare-key')], [401, 401, 200]);
    change(revoked('northwind-key', 'teardown'), revoked('northwind-key', 'teardown'));
    assert.equal(user(), 200);
  });
  test('teardown does not activate a key that the fixture refuses', () => {
    const { world, user, change } = newWorld();
    for (const key of ['northwind-revoked-key', 'northwind-expired-key', 'jane-personal-key']) {
      change(revoked(key, 'setup'), revoked(key, 'teardown'));
      assert.deepEqual(lookUp(world.keys, key), world.keys.base.get(key));
      assert.equal(user(key), 401);
    }
  });
});

describe('deposit executed', () => {
  for (const id of [ids.pending, ids.failed, ids.afterPolls])
    test(`shows the deposit ${id} with its amount and time, and hides it again`, () => {
      const { world, deposit, change } = newWorld();
      change(executed(id.toUpperCase(), 'setup'));
      assert.equal(deposit(id).body, FOUND);
      change(executed(id, 'teardown', {}));
      assert.equal(deposit(id).status, 404);
      assert.deepEqual(lookUp(world.deposits, id), world.deposits.base.get(id));
    });
  test('does not change the partner of the deposit', () => {
    const { deposit, change } = newWorld();
    change(executed(ids.foreign, 'setup'));
    assert.equal(deposit(ids.foreign).status, 404);
    assert.equal(deposit(ids.foreign, 'contoso-key').body, FOUND);
  });
});

/** Wrong bodies with their errors. */
const wrong: readonly (readonly [body: unknown, error: RegExp])[] = [
  [{}, /^the body lacks "state"$/],
  [
    { ...revoked('northwind-key'), state: 'constructor' },
    /^state is not one of "key revoked", "deposit executed"/,
  ],
  [revoked('northwind-key', 'reset'), /^action is not one of "setup", "teardown"/],
  [{ ...revoked('northwind-key'), world: 'a' }, /^the body has an unknown key "world"/],
  [{ state: 'key revoked' }, /^params need a key/],
  [revoked('nope'), /^params need a key/],
  [revoked(['northwind-key']), /^params.key is not a key/],
  [executed(ids.member), /^params need the reference_id/],
  [executed(ids.pending, 'setup', { executedAt: 1 }), /^params need amountInUsd/],
  [
    executed(ids.pending, 'setup', { ...execution, amountInUsd: '1' }),
    /^params.amountInUsd is not an amount/,
  ],
];

for (const [body, error] of wrong)
  test(`${JSON.stringify(body)} is refused and changes nothing`, () => {
    const { world, state } = newWorld();
    assert.throws(() => state(body as StateChange), { status: 400, message: error });
    for (const { changed } of [world.keys, world.users, world.deposits]) assert.equal(changed.size, 0);
  });
