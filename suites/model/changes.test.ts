import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factsOf } from '../facts-of-request.ts';
import type { KnownKey } from '../known.ts';
import { depositCheck, userStatus, type Request } from '../request.ts';
import { answerOf, sampleKnown } from '../testing/samples.ts';
import { createChanges, type Change } from './changes.ts';

const [begun, due, ended] = [1000, 6000, 9000];
const [pending] = sampleKnown.pending;
const execution = { amountInUsd: 123.45, executedAt: 1_700_000_000_123 };
const executed: Change = {
  state: 'deposit executed',
  deposit: { ...pending!, state: 'EXECUTED', ...execution },
};

/** A change with these times (ms). */
function changed(change: Change) {
  const changes = createChanges(sampleKnown);
  changes.take(0, { step: 'begins', at: begun, change });
  changes.take(0, { step: 'is due', at: due });
  changes.take(0, { step: 'ends', at: ended });
  return changes;
}

/** The states that are right for an answer from `sentAt` to `receivedAt`. */
function statesAt(change: Change, request: Request, sentAt: number, receivedAt: number) {
  return changed(change)
    .viewsAt(request, { sentAt, receivedAt })
    ?.map((view) => {
      const { key, entity } = factsOf(view, request)!;
      return `${key} ${entity}`;
    });
}

const own = depositCheck(pending!.reference_id.toUpperCase());

for (const [sentAt, receivedAt, expected] of [
  [900, 999, ['accepted pending']],
  [900, 1000, ['accepted EXECUTED', 'accepted pending']],
  [5999, 7000, ['accepted EXECUTED', 'accepted pending']],
  [6000, 7000, ['accepted EXECUTED']],
  [8000, 8999, ['accepted EXECUTED']],
  [8000, 9000, undefined],
] as const)
  test(`a deposit that becomes EXECUTED, from ${sentAt} to ${receivedAt} ms: ${expected?.join(' or ')}`, () =>
    assert.deepEqual(statesAt(executed, own, sentAt, receivedAt), expected));

test('the deposit stays foreign for another partner, and other deposits do not change', () => {
  const key = sampleKnown.otherKeys[0]!;
  const foreign = depositCheck(pending!.reference_id, { credential: { as: 'key', key } });
  assert.deepEqual(statesAt(executed, foreign, 7000, 7000), ['accepted foreign']);
  const other = depositCheck(sampleKnown.failed[0]!.reference_id);
  assert.deepEqual(statesAt(executed, other, 9500, 9500), ['accepted failed']);
});

test('a revoked key must be refused, other keys of its partner may be, and those of others not', () => {
  const [first, second] = [sampleKnown.callerKeys[0]!, sampleKnown.callerKeys[1]!];
  const stranger = sampleKnown.otherKeys[0]!;
  const member = sampleKnown.members[0]!.user_id;
  const keyAt = (key: KnownKey, at: number) =>
    statesAt(
      { state: 'key revoked', key: second },
      userStatus(member, { credential: { as: 'key', key } }),
      at,
      at,
    );
  assert.deepEqual(keyAt(second, 7000), ['revoked unknown']);
  assert.deepEqual(keyAt(second, 5000), ['revoked unknown', 'accepted own user']);
  assert.deepEqual(keyAt(second, 9500), undefined);
  assert.deepEqual(keyAt(first, 7000), ['open own user']);
  assert.deepEqual(keyAt(stranger, 7000), ['accepted foreign']);
});

test('a revoked key concerns the other keys of its partner only as long as it lasts', () => {
  const [first, second] = [sampleKnown.callerKeys[0]!, sampleKnown.callerKeys[1]!];
  const changes = changed({ state: 'key revoked', key: second });
  const beside = userStatus(sampleKnown.members[0]!.user_id, { credential: { as: 'key', key: first } });
  const at = (receivedAt: number) => changes.concerns(beside, { ...answerOf(200, {}), receivedAt });
  assert.deepEqual([changes.concerns(beside), at(999), at(7000), at(9500)], [false, false, true, false]);
});
