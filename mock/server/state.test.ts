import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StateChange } from '../../schemas/generated/types.ts';
import { ids, testSession } from '../testing/session.ts';
import { lookUp } from './world.ts';

const FOUND = '{"status":"EXECUTED","amountInUsd":123.45,"executedAt":1767225599123}';
const execution = { amountInUsd: 123.45, executedAt: 1_767_225_599_123 };

type Action = NonNullable<StateChange['action']>;

const revoked = (key: string, action: Action = 'setup') => {
  return { state: 'key revoked', params: { key }, action } as const;
};
const executed = (reference_id: string, action: Action = 'setup', details: object = execution) => {
  return { state: 'deposit executed', params: { reference_id, ...details }, action } as const;
};

function newWorld() {
  const { session, user, deposit, state } = testSession();
  return {
    world: session.main.world,
    user: (key?: string) => user(ids.member, key).status,
    deposit,
    change: (...changes: readonly StateChange[]) => changes.forEach((one) => state(one)),
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
      change(revoked(key), revoked(key, 'teardown'));
      assert.deepEqual(lookUp(world.keys, key), world.keys.base.get(key));
      assert.equal(user(key), 401);
    }
  });
});

describe('deposit executed', () => {
  for (const id of [ids.pending, ids.failed, ids.afterPolls])
    test(`shows the deposit ${id} with its amount and time, and hides it again`, () => {
      const { world, deposit, change } = newWorld();
      change(executed(id.toUpperCase()));
      assert.equal(deposit(id).body, FOUND);
      change(executed(id, 'teardown', {}));
      assert.equal(deposit(id).status, 404);
      assert.deepEqual(lookUp(world.deposits, id), world.deposits.base.get(id));
    });
  test('does not change the partner of the deposit', () => {
    const { deposit, change } = newWorld();
    change(executed(ids.foreign));
    assert.equal(deposit(ids.foreign).status, 404);
    assert.equal(deposit(ids.foreign, 'contoso-key').body, FOUND);
  });
});
