import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ids } from '../testing/session.ts';
import { PAGE, partOf } from './listing.ts';
import { testAdmin } from './run-admin.ts';

describe('a part of a list', () => {
  const all = Array.from({ length: 2500 }, (_, index) => ({ id: `user-${index}`, partner: null }));
  const part = (query: string) =>
    partOf(
      all,
      new URLSearchParams(query),
      (holds) =>
        ({ id, partner }) =>
          holds(id) || holds(partner),
    );
  test('is never the whole of a large one', () => {
    assert.deepEqual([part('').items.length, part('').total], [PAGE, 2500]);
  });
  test('begins and ends where it is asked to', () => {
    const { items, total } = part('offset=2498&limit=5');
    assert.deepEqual([items.map(({ id }) => id), total], [['user-2498', 'user-2499'], 2500]);
  });
  test('is looked for by a text, not by a pattern', () => {
    assert.deepEqual(
      ['user.24', '.*', '[', '\\d', 'a/b-c'].map(
        (text) => part(`contains=${encodeURIComponent(text)}`).total,
      ),
      [0, 0, 0, 0, 0],
    );
  });
  test('holds what fits, and says how much of it there is', () => {
    const { items, total } = part('contains=+USER-24&limit=2');
    assert.deepEqual([items.map(({ id }) => id), total], [['user-24', 'user-240'], 111]);
  });
});

test('deposits, users and keys are found by what stands in them', async () => {
  const { done } = testAdmin();
  const found = async (list: string, text: string) => {
    const { [list]: items, meta } = await done('GET', `/${list}?contains=${encodeURIComponent(text)}`);
    assert.equal((items as unknown[]).length, (meta as { total: number }).total);
    return (meta as { total: number }).total;
  };
  assert.equal(await found('deposits', ids.pending), 1);
  assert.equal(await found('deposits', 'PENDING'), 4);
  assert.equal(await found('deposits', 'contoso'), 2);
  assert.equal(await found('users', ids.member.slice(0, 9)), 1);
  assert.equal(await found('keys', 'northwind/active'), 2);
  assert.equal(await found('keys', 'revoked'), 1);
});

test('keys are found by their values only where these are no secrets', async () => {
  const found = async (arePublicKeys: boolean) =>
    (await testAdmin({ arePublicKeys }).done('GET', '/keys?contains=-spare-'))['keys'].length as number;
  assert.deepEqual([await found(false), await found(true)], [0, 1]);
});
