import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { redactorOf } from './redact.ts';
import { testAdmin } from './admin/run-admin.ts';
import { ids, userPath } from './run-session.ts';
import type { ApiKey } from './world.ts';

const keyOf = (key: string): ApiKey => ({ key, partner: 'p', state: 'active', name: '<key p/active>' });
const key = 'pk/live+1=2~%41';
const redact = redactorOf([keyOf(key)]);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const everyByte = (text: string) =>
  Array.from(text, (sign) => `%${sign.charCodeAt(0).toString(16)}`).join('');

describe('a key is in no target', () => {
  for (const [how, written] of [
    ['as it is', key],
    ['percent-encoded', encodeURIComponent(key)],
    ['with every byte encoded', everyByte(key)],
    ['encoded twice', encodeURIComponent(encodeURIComponent(key))],
    ['in Base64', base64(key)],
    ['in Base64 for URLs', Buffer.from(key).toString('base64url')],
    ['in Base64 that is encoded', encodeURIComponent(base64(key))],
    ['as a user of Basic', base64(`${key}:`)],
    ['as a password of Basic', base64(`someone:${key}`)],
  ] as const)
    test(how, () => {
      for (const [before, after] of [
        ['/x?k=', ''],
        ['/', ''],
        ['/a/', '&b=%zz'],
        ['/x?k=Basic+', '&y=%C3%28+1'],
      ] as const)
        assert.equal(redact(before + written + after).includes(written), false, before + written + after);
    });
  test('and one that nobody knows is not either', () => {
    for (const written of ['some secret'.replace(' ', '-'), base64('some-secret'), everyByte('some-secret')])
      assert.match(redact(`/x?k=${written}`, 'some-secret'), /^\/x\?k=<unknown key>/);
  });
});

test('a target without a key stays as it is, byte for byte', () => {
  const part = fc.oneof(
    fc.uuid(),
    fc.string({ unit: 'binary' }).map(encodeURIComponent),
    fc.constant('%zz+%C3'),
  );
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const target = `/api/ib/user-status?user_id=${parts.join('&u=')}`;
      assert.equal(redact(target), target);
    }),
  );
});

test('a key that was added to a world has its name in the journals of others, also when that world is gone', async () => {
  const { done, get, entries } = testAdmin();
  const added = (secret: string) => ({ key: secret, partner: 'northwind', state: 'active' });
  await done('POST', '/keys?world=one', added('first-secret'));
  get(`${userPath(ids.member)}&u=first-secret`);
  await done('POST', '/reset?world=one');
  await done('POST', '/keys?world=two', added('second-secret'));
  assert.doesNotMatch(JSON.stringify(entries()), /secret/);
});
