import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factsOf } from '../catalogue/facts-of-request.ts';
import type { Known, KnownKey } from '../catalogue/known.ts';
import { depositCheck, userStatus, type Request } from '../request.ts';
import { sampleKnown as known } from '../testing/samples.ts';
import { afterChange, afterUndo, executionAt, type Change } from './change.ts';

const [pending] = known.pending;
const [first, second] = known.callerKeys as [KnownKey, KnownKey];
const [stranger] = known.otherKeys as [KnownKey];
const execution = { amountInUsd: 123.45, executedAt: 1_700_000_000_123 };
const executed: Change = {
  state: 'deposit executed',
  deposit: { ...pending!, state: 'EXECUTED', ...execution },
};
const revoked: Change = { state: 'key revoked', key: second };

const kindOf = (view: Known, request: Request) => {
  const { key, entity, isBecoming } = factsOf(view, request)!;
  return `${key} ${entity}${isBecoming ? ', or EXECUTED' : ''}`;
};
const withKey = (key: KnownKey) => ({ credential: { as: 'key', key } }) as const;

test('a deposit is EXECUTED for its owner and stays hidden from others; no other deposit changes', () => {
  const after = afterChange(executed, known);
  const kind = (...of: Parameters<typeof depositCheck>) => kindOf(after, depositCheck(...of));
  assert.equal(kind(pending!.reference_id.toUpperCase()), 'accepted EXECUTED');
  assert.equal(kind(pending!.reference_id, withKey(stranger)), 'accepted foreign');
  assert.equal(kind(known.failed[0]!.reference_id), 'accepted failed');
  const undone = afterUndo(executed, known);
  assert.equal(kindOf(undone, depositCheck(pending!.reference_id)), 'accepted pending, or EXECUTED');
  assert.equal(kindOf(known, depositCheck(pending!.reference_id)), 'accepted pending');
});

test('a revoked key must be refused, other keys of its partner may be, and those of others not', () => {
  const member = known.members[0]!.user_id;
  const [after, undone] = [afterChange(revoked, known), afterUndo(revoked, known)];
  for (const [key, expected, then] of [
    [second, 'revoked unknown', 'open own user'],
    [first, 'open own user', 'open own user'],
    [stranger, 'accepted foreign', 'accepted foreign'],
  ] as const) {
    assert.equal(kindOf(after, userStatus(member, withKey(key))), expected);
    assert.equal(kindOf(undone, userStatus(member, withKey(key))), then);
  }
});

test('a key that was revoked is not used any more, unless it is the only one', () => {
  const keysOf = (of: Known) => of.callerKeys.map(({ key }) => key);
  for (const change of [afterChange, afterUndo]) {
    assert.deepEqual(keysOf(change(revoked, known)), [first.key]);
    const one = { ...known, callerKeys: [second] };
    assert.deepEqual(keysOf(change(revoked, one)), [second.key]);
  }
});

test('a state hook gets an execution time in whole milliseconds, not in whole seconds, in the past', () => {
  const startedAt = Date.UTC(2026, 0, 1);
  // Clocks have fractions of milliseconds.
  for (const step of [0, 0.3, 0.7, 1.1, 333.3, 999.9]) {
    const { executedAt } = executionAt(startedAt + step);
    assert.ok(Number.isSafeInteger(executedAt), `${executedAt}`);
    assert.ok(executedAt % 1000 !== 0 && executedAt < startedAt + step, `${executedAt}`);
  }
});
