import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { redactorOf } from './journal.ts';
import { testAdmin } from './admin/run-admin.ts';
import { ids, userPath } from './testing/session.ts';
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

describe('a long credential that nobody knows', () => {
  const long = `some-secret.${'0123456789abcdef'.repeat(20)}`;
  test('is in no target, nor is what stands behind it', () => {
    for (const written of [long, long.toUpperCase(), long.slice(0, 200)])
      assert.equal(redact(`/x?k=${written}&y=1`, long), '/x?k=<unknown key>');
    for (const written of [everyByte(long), encodeURIComponent(everyByte(long)), `${everyByte(long)}%zz`])
      assert.equal(redact(`/x?k=${written}&y=1`, long), '<unknown key>');
  });
  test('is not shown behind a known key that it begins with', () => {
    const beginning = `${key}${long}`;
    for (const written of [beginning, everyByte(beginning)])
      assert.doesNotMatch(redact(`/x?k=${written}&y=1`, beginning), /some-secret|0123456789abcdef/);
  });
  test('leaves a target without it as it is', () => {
    for (const target of ['/x?k=some-secret', '/x?k=0123456789abcdef', userPath(ids.member)])
      assert.equal(redact(target, long), target);
  });
  test('is looked for in a moment, whatever the two are', () => {
    const look = () => {
      for (const sign of ['x', 'xy', '%78'])
        redact(`/x?k=${sign.repeat(60_000 / sign.length)}`, 'x'.repeat(60_000));
    };
    // A search for every part would take minutes; this ends it.
    runInNewContext('look()', { look }, { timeout: 20_000 });
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
