import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fixture } from '../schemas/generated/types.ts';
import { lookIn, overlayOn } from './overlay.ts';
import { builtIn } from './testing/probes.ts';
import { storeOf } from './store.ts';
import type { Deposit } from './world.ts';

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

test('every user and deposit of a fixture is found by its id, as it is there, and nothing else is', () => {
  const { users, deposits } = storeOf(builtIn);
  for (const user of builtIn.users!) assert.deepEqual(users.get(user.user_id), user);
  for (const deposit of builtIn.deposits!) {
    const { partner, ...found } = deposits.get(deposit.reference_id)!;
    assert.deepEqual(found, deposit);
    assert.equal(partner, users.get(deposit.user_id)!.partner);
  }
  for (const id of ['', 'x', '00000000-0000-4000-8000-000000000000']) {
    assert.equal(users.get(id), undefined);
    assert.equal(deposits.has(id), false);
  }
  assert.deepEqual([users.size, deposits.size], [builtIn.users!.length, builtIn.deposits!.length]);
  assert.deepEqual([...users.values()], builtIn.users);
});

test('ids are found in lower case, however the fixture writes them', () => {
  const { users, deposits } = storeOf(upperCase);
  assert.equal(users.get('aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'), upperCase.users![0]);
  assert.equal(users.get('AAAAAAAA-AAAA-4AAA-8AAA-AAAAAAAAAAAA'), undefined);
  assert.equal(deposits.get('bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb')?.partner, 'northwind');
});

test('of two with one id the last one counts, and an empty fixture knows nobody', () => {
  const [user] = upperCase.users!;
  const later = { ...user!, user_id: user!.user_id.toLowerCase(), partner: 'contoso' };
  const { users } = storeOf({ users: [user!, later] });
  assert.deepEqual([users.size, [...users.values()]], [1, [later]]);
  assert.equal(storeOf({}).users.get(later.user_id), undefined);
});

test('what is laid over a store hides it, and does not change it', () => {
  const { deposits } = storeOf(upperCase);
  const id = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb';
  const changed = overlayOn<Deposit>(deposits);
  changed.changed.set(id, { ...deposits.get(id)!, partner: 'contoso' });
  assert.equal(lookIn(changed, id)?.partner, 'contoso');
  assert.equal(deposits.get(id)?.partner, 'northwind');
  assert.equal(lookIn(overlayOn<Deposit>(deposits), id)?.partner, 'northwind');
});
