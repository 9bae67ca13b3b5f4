import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FixtureTransition } from '../../schemas/generated/types.ts';
import { deposit, sendAll, builtIn, START, ids } from '../testing/session.ts';
import {
  becomeExecuted,
  countPoll,
  createWorld,
  lookUp,
  partnerOf,
  valuesOf,
  type Deposit,
} from './world.ts';

test('ids are found in lower case, in whatever case the fixture has them', () => {
  const user_id = 'AAAAAAAA-AAAA-4AAA-8AAA-AAAAAAAAAAAA';
  const reference_id = 'BBBBBBBB-BBBB-4BBB-8BBB-BBBBBBBBBBBB';
  const user = { user_id, partner: 'northwind', date_joined: '2024-02-29T00:00:00Z' };
  const given = { reference_id, user_id: 'aaaaaaaa-AAAA-4aaa-8AAA-aaaaaaaaaaaa', state: 'failed' } as const;
  const fixture = { users: [user], deposits: [given] };
  const world = createWorld(fixture, START);
  assert.equal(lookUp(world.users, user_id.toLowerCase()), user);
  assert.equal(lookUp(world.users, user_id), undefined);
  assert.equal(lookUp(world.deposits, reference_id.toLowerCase()), given);
  assert.equal(partnerOf(world, given), 'northwind');
});

test('changes of one world do not affect others, and keep the order of the list', () => {
  const [one, other] = [createWorld(builtIn, START), createWorld(builtIn, START)];
  const all = builtIn.deposits!;
  const first = all[0]!;
  const id = first.reference_id.toLowerCase();
  const added = '00000000-0000-4000-8000-00000000000a';
  one.deposits.changed.set(added, { ...first, reference_id: added });
  one.deposits.changed.set(id, { ...first, since: 7 });
  assert.equal(lookUp(one.deposits, id)?.since, 7);
  const idsOf = (deposits: readonly Deposit[]) => deposits.map(({ reference_id }) => reference_id);
  assert.deepEqual(idsOf(valuesOf(one.deposits)), [...idsOf(builtIn.deposits!), added]);
  assert.equal(valuesOf(one.deposits)[0]?.since, 7);
  assert.deepEqual(lookUp(other.deposits, id), first);
  assert.deepEqual(valuesOf(other.deposits), all);
});

const NOT_FOUND = '{"error":"Deposit not found"}';

/** Creates a deposit that becomes EXECUTED. */
const pending = (when: Partial<FixtureTransition>, reference_id: string = ids.afterPolls): Deposit => {
  const becomes: FixtureTransition = { state: 'EXECUTED', amountInUsd: 1, ...when };
  return { reference_id, user_id: '', state: 'pending', becomes };
};

describe('a deposit that becomes EXECUTED after 3 polls', () => {
  test("polls with other partners' keys and with wrong keys do not count", () => {
    const others = ['contoso-key', 'nope', 'contoso-key'].map((key) => deposit(ids.afterPolls, { key }));
    const own = [1, 2, 3, 4].map((atMs) => deposit(ids.afterPolls, { atMs }));
    const bodies = sendAll([...others, ...own]).map(({ body }) => body);
    const executed = `{"status":"EXECUTED","amountInUsd":75.25,"executedAt":${START + 4}}`;
    assert.deepEqual(bodies.slice(3), [NOT_FOUND, NOT_FOUND, NOT_FOUND, executed]);
  });
  test('polls in any letter case count', () => {
    const id = 'abcdefab-cdef-4bcd-8fab-cdefabcdefab';
    const world = createWorld({}, START);
    assert.equal(becomeExecuted(world, pending({ afterPolls: 1 }, id), START), undefined);
    countPoll(world, pending({ afterPolls: 1 }, id), START);
    assert.ok(becomeExecuted(world, pending({ afterPolls: 1 }, id.toUpperCase()), START));
  });
});

test('executedAt is a whole number of ms even if the clock is not', () => {
  const one = pending({ afterSeconds: 0.0005 });
  assert.deepEqual(becomeExecuted(createWorld({}, 0.25), one, 9), { amountInUsd: 1, executedAt: 0 });
});
