import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { malformations } from './inputs/malformations.ts';
import { depositCheck, fingerprint, lookup, userStatus, writtenName } from './request.ts';

const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';

test('a lookup may have no query, or an empty one', () => {
  assert.equal(lookup('user-status', undefined).target, '/api/ib/user-status');
  assert.equal(lookup('user-status', '').target, '/api/ib/user-status?');
});

/** Any character. Lone surrogates have no UTF-8. */
const character = fc
  .nat(0x10ffff)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

test('any value reaches the target unchanged, in characters that a URL may contain', () => {
  fc.assert(
    fc.property(fc.string({ unit: character }), (value) => {
      const { target } = userStatus(value);
      assert.match(target, /^\/api\/ib\/user-status\?user_id=(?:[\w.~-]|%[\dA-F]{2})*$/);
      assert.equal(new URL(target, 'http://x').searchParams.get('user_id'), value);
    }),
  );
});

test('malformed queries are visible ASCII and can be sent', () => {
  for (const [name, { examples }] of Object.entries(malformations))
    for (const query of examples('user_id', id)) assert.match(query ?? '', /^[!-~]*$/, name);
});

test('fingerprints depend on method, target, credential, headers and body', () => {
  const key = { key: 'k', partner: 'p', state: 'active', name: '<key p/active>' } as const;
  const different = [
    userStatus(id),
    depositCheck(id),
    userStatus(id.toUpperCase()),
    userStatus(id, { method: 'HEAD' }),
    userStatus(id, { credential: { as: 'none' } }),
    userStatus(id, { credential: { as: 'key', key } }),
    userStatus(id, { headers: { origin: 'x' } }),
    userStatus(id, { body: 'x' }),
  ];
  assert.equal(new Set(different.map(fingerprint)).size, different.length);
  assert.equal(fingerprint(userStatus(id)), fingerprint(userStatus(id)));
});

test('field names are written in each letter case', () => {
  assert.equal(writtenName('x-api-key', undefined), 'x-api-key');
  assert.equal(writtenName('x-api-key', 'capitalized'), 'X-Api-Key');
  assert.equal(writtenName('x-api-key', 'upper case'), 'X-API-KEY');
});
