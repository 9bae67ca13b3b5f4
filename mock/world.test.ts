import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fixture, FixtureTransition } from '../schemas/generated/types.ts';
import { deposit, sendAll, builtIn, START, ids } from './testing/session.ts';
import {
  becomeExecuted,
  countPoll,
  createWorld,
  factsOf,
  lookUp,
  partnerOf,
  valuesOf,
  newWorld,
  type Deposit,
} from './world.ts';

const upperCase: Fixture = {
  users: [
    {
      user_id: 'AAAAAAAA-AAAA-4AAA-8AAA-AAAAAAAAAAAA',
      partner: 'northwind',
      date_joined: '2024-02-29T00:00:00Z',
    },
  ],
  deposits: [
    {
      reference_id: 'BBBBBBBB-BBBB-4BBB-8BBB-BBBBBBBBBBBB',
      user_id: 'aaaaaaaa-AAAA-4aaa-8AAA-aaaaaaaaaaaa',
      state: 'failed',
    },
  ],
};

test('ids are found in lower case, in whatever case the fixture has them', () => {
  const { users, deposits } = factsOf(upperCase);
  assert.equal(users.get('aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'), upperCase.users![0]);
  assert.equal(users.get('AAAAAAAA-AAAA-4AAA-8AAA-AAAAAAAAAAAA'), undefined);
  const [given] = upperCase.deposits!;
  assert.equal(deposits.get('bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'), given);
  assert.equal(partnerOf(createWorld(upperCase, START), given!), 'northwind');
});

test('changes of one world do not affect others, and keep the order of the list', () => {
  const facts = factsOf(builtIn);
  const [one, other] = [newWorld(facts, START), newWorld(facts, START)];
  const [first] = facts.deposits.values();
  assert.ok(first !== undefined);
  const id = first.reference_id.toLowerCase();
  const added = '00000000-0000-4000-8000-00000000000a';
  one.deposits.changed.set(added, { ...first, reference_id: added });
  one.deposits.changed.set(id, { ...first, since: 7 });
  assert.equal(lookUp(one.deposits, id)?.since, 7);
  assert.deepEqual(
    valuesOf(one.deposits).map(({ reference_id }) => reference_id),
    [...builtIn.deposits!.map(({ reference_id }) => reference_id), added],
  );
  assert.equal(valuesOf(one.deposits)[0]?.since, 7);
  assert.deepEqual(lookUp(other.deposits, id), first);
  assert.deepEqual(valuesOf(other.deposits), [...facts.deposits.values()]);
});

const NOT_FOUND = '{"error":"Deposit not found"}';

const bodies = (...times: readonly (readonly [id: string, atMs: number, key?: string])[]) =>
  sendAll(times.map(([id, atMs, key]) => deposit(id, { atMs, key: key ?? 'northwind-key' }))).map(
    ({ body }) => body,
  );

describe('a deposit that becomes EXECUTED after 3 polls', () => {
  const executedAt = (ms: number) => `{"status":"EXECUTED","amountInUsd":75.25,"executedAt":${START + ms}}`;

  test("polls with other partners' keys and with wrong keys do not count", () => {
    const others = (['contoso-key', 'nope', 'contoso-key'] as const).map(
      (key) => [ids.afterPolls, 0, key] as const,
    );
    const all = bodies(
      ...others,
      [ids.afterPolls, 1],
      [ids.afterPolls, 2],
      [ids.afterPolls, 3],
      [ids.afterPolls, 4],
    );
    assert.deepEqual(all.slice(3), [NOT_FOUND, NOT_FOUND, NOT_FOUND, executedAt(4)]);
  });
  test('polls in any letter case count', () => {
    const id = 'abcdefab-cdef-4bcd-8fab-cdefabcdefab';
    const world = createWorld({}, START);
    const pending = (reference_id: string): Deposit => ({
      reference_id,
      user_id: '',
      state: 'pending',
      becomes: { state: 'EXECUTED', amountInUsd: 1, afterPolls: 1 },
    });
    assert.equal(becomeExecuted(world, pending(id), START), undefined);
    countPoll(world, pending(id), START);
    assert.ok(becomeExecuted(world, pending(id.toUpperCase()), START));
  });
});

test("the fixture's executedAt is used if there is one", () => {
  for (const when of [{ afterPolls: 1 }, { afterSeconds: 0.001 }]) {
    const becomes: FixtureTransition = { state: 'EXECUTED', amountInUsd: 1, executedAt: 42, ...when };
    const one: Deposit = { reference_id: ids.afterPolls, user_id: '', state: 'pending', becomes };
    const world = createWorld({}, START);
    assert.equal(becomeExecuted(world, one, START), undefined);
    countPoll(world, one, START);
    assert.deepEqual(becomeExecuted(world, one, START + 1), { amountInUsd: 1, executedAt: 42 });
  }
});

test('executedAt is a whole number of ms even if the clock is not', () => {
  const becomes: FixtureTransition = { state: 'EXECUTED', amountInUsd: 1, afterSeconds: 0.0005 };
  const one: Deposit = { reference_id: ids.afterPolls, user_id: '', state: 'pending', becomes };
  assert.deepEqual(becomeExecuted(createWorld({}, 0.25), one, 9), { amountInUsd: 1, executedAt: 0 });
});
