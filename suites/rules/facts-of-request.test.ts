import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { endpoints } from '../../schemas/endpoints.ts';
import { factsOf } from './facts-of-request.ts';
import { lookup, userStatus, type Request } from '../request.ts';
import { sampleKnown as known } from '../testing/samples.ts';

const id = '1a000000-0000-4000-8000-00000000000a';

/** Authorization headers, and what their key is worth. */
const headers: Readonly<Record<string, string>> = {
  'Bearer pk_live_aB3dE6gH9': 'accepted',
  'Bearer pk_cont_Yt5Wn0Qs': 'accepted, of another partner',
  'bearer pk_live_aB3dE6gH9': 'open',
  'BEARER pk_live_aB3dE6gH9': 'open',
  'Bearer  pk_live_aB3dE6gH9': 'open',
  'Bearer\tpk_live_aB3dE6gH9': 'open',
  'Bearer pk_live_aB3dE6gH': 'unknown-key',
  'Bearer PK_LIVE_AB3DE6GH9': 'unknown-key',
  'Bearer pk_old_R7q2ZmK9': 'revoked',
  'bearer pk_gone_Mn4Jk7Lo': 'expired',
  'Bearer uk_jane_H3v8LpX1': 'non-partner',
  Bearer: 'malformed',
  pk_live_aB3dE6gH9: 'malformed',
  Bearerpk_live_aB3dE6gH9: 'malformed',
  'Bearer pk_live _aB3dE6gH9': 'malformed',
  'Token pk_live_aB3dE6gH9': 'malformed',
};

describe('the key of a request', () => {
  const keyOf = (changes: Partial<Request>) => {
    const { key, isOtherKey } = factsOf(known, { ...userStatus(id), ...changes })!;
    return isOtherKey ? `${key}, of another partner` : key;
  };
  for (const [value, expected] of Object.entries(headers))
    test(`${JSON.stringify(value)}: ${expected}`, () =>
      assert.equal(keyOf({ credential: { as: 'header', value, shell: value } }), expected));
  test('the caller, no credential, and a misplaced key', () => {
    const none = { as: 'none' } as const;
    assert.equal(keyOf({}), 'accepted');
    assert.equal(keyOf({ credential: none }), 'missing');
    assert.equal(keyOf({ credential: none, misplaced: known.callerKeys[0]! }), 'elsewhere');
  });
});

const upper = id.toUpperCase();
const encoded = `%31${id.slice(1)}`;
const other = id.replace('-4', '-7');
const bits = id.replace('-8', '-c');
const bare = id.replaceAll('-', '');

/** Values as sent, and what each endpoint reads: why 400, or the spelling; `?`: may be refused. */
const values: readonly (readonly [value: string, user: string, deposit: string])[] = [
  [id, 'plain', 'plain'],
  [upper, 'plain cased', 'plain cased'],
  [encoded, 'plain?', 'plain?'],
  [other, 'not-v4', 'plain other-version'],
  [other.toUpperCase(), 'not-v4', 'plain cased other-version'],
  [bits, 'alternative-spelling', 'plain?'],
  ['00000000-0000-0000-0000-000000000000', 'not-v4', 'plain?'],
  ['ffffffff-ffff-ffff-ffff-ffffffffffff', 'not-v4', 'plain?'],
  [id.replace('-4', '-9'), 'not-v4', 'plain?'],
  [bare, 'alternative-spelling', 'alternative-spelling'],
  [`%7B${id}%7D`, 'alternative-spelling', 'alternative-spelling'],
  [`+${id}`, 'alternative-spelling', 'alternative-spelling'],
  [`${id}%0A`, 'malformed', 'malformed'],
  ['a'.repeat(1024), 'malformed', 'malformed'],
  ['a'.repeat(1025), 'hostile', 'hostile'],
  ['%zz', 'hostile', 'hostile'],
  ['%ff', 'hostile', 'hostile'],
  [`=${id}`, 'hostile', 'hostile'],
  ['', 'empty', 'empty'],
];

/** Full queries, with P for the name of the parameter. */
const queries: Readonly<Record<string, string>> = {
  '': 'missing',
  'other=1': 'missing',
  [`Pid=${id}`]: 'missing',
  P: 'empty',
  'P=&other=1': 'empty',
  [`P=${id}&x=1`]: 'plain?',
  [`x=1&P=${id}`]: 'plain?',
  [`P=${id}&P=${id}`]: 'nothing',
  [`P=${id}&P=`]: 'nothing',
  [`P[]=${id}`]: 'hostile, may be read',
  'P[a]=x': 'hostile',
  [`=${id}`]: 'hostile, may be read',
  '&&&': 'hostile',
  '%': 'hostile',
  [`P=x${'&x=1'.repeat(600)}`]: 'hostile',
};

for (const endpoint of ['user-status', 'deposit-check'] as const) {
  const { path, parameter: name } = endpoints[endpoint];
  const read = (query: string | undefined) => {
    const facts = factsOf(known, lookup(endpoint, query));
    if (facts === undefined) return 'nothing';
    const { parameter, isOpen, isCased, isOtherVersion } = facts;
    if (parameter === 'hostile') return isOpen ? 'hostile, may be read' : 'hostile';
    const spelling = `${isCased ? ' cased' : ''}${isOtherVersion ? ' other-version' : ''}`;
    return `${parameter}${spelling}${isOpen ? '?' : ''}`;
  };
  describe(`a query of ${endpoint}`, () => {
    for (const [value, user, deposit] of values) {
      const expected = endpoint === 'user-status' ? user : deposit;
      test(`${value.slice(0, 50)}: ${expected}`, () => assert.equal(read(`${name}=${value}`), expected));
    }
    for (const [query, expected] of Object.entries(queries))
      test(`${query.slice(0, 60)}: ${expected}`, () =>
        assert.equal(read(query.replaceAll('P', name)), expected));
    test('no query, another letter case of the name, another path', () => {
      assert.equal(read(undefined), 'missing');
      assert.equal(read(`${name.toUpperCase()}=${id}`), 'nothing');
      const slash = { ...lookup(endpoint, undefined), target: `${path}/?${name}=${id}` };
      assert.equal(factsOf(known, slash), undefined);
    });
  });
}

test('the id is read in lower case, in any spelling', () => {
  const user = known.userById.get(id);
  for (const value of [id, upper, encoded, bare, `{${upper}}`])
    assert.equal(factsOf(known, lookup('user-status', `user_id=${value}`))!.user, user, value);
});

test('the interface says nothing about a request that accepts no JSON', () => {
  for (const [accept, isJson] of [
    ['text/html', false],
    ['application/xml', false],
    ['application/xhtml+xml, text/*;q=0.8', false],
    ['text/html, application/json;q=0', false],
    ['*/*', true],
    ['text/html, application/*;q=0.1', true],
    ['text/html;q=0.9, Application/JSON; charset=utf-8', true],
  ] as const)
    assert.equal(factsOf(known, { ...userStatus(id), headers: { accept } }) !== undefined, isJson, accept);
});
