import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { decodeText, isId } from './behaviour.ts';
import { deposit, probe, user, type Probe, answersTo, ids } from './testing/session.ts';

function answerTo(one: Probe) {
  const [response] = answersTo([one]);
  assert.ok(response);
  return response;
}

function answers(one: Probe, status: number, body: string): void {
  const response = answerTo(one);
  assert.equal(response.status, status);
  assert.equal(response.body, body);
  assert.equal(response.headers['Content-Type'], 'application/json');
}

const badUser = '{"error":"Invalid user_id format"}';
const badDeposit = '{"error":"Invalid reference_id format"}';
const notUnderIb = '{"is_under_ib":false,"date_joined":null}';
const notFound = '{"error":"Deposit not found"}';
const EXECUTED_BODY = '{"status":"EXECUTED","amountInUsd":250.5,"executedAt":1705314600000}';
const contoso = { key: 'contoso-key' };

/** Each row: what is asked for, the probe, the status and the body. */
const rows: readonly (readonly [string, Probe, number, string])[] = [
  ['a member', user(ids.member), 200, '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}'],
  ["another IB's user", user(ids.foreignUser), 200, notUnderIb],
  ['a user of no IB', user('33333333-3333-4333-8333-333333333333'), 200, notUnderIb],
  ['an unknown user', user(ids.nobody), 200, notUnderIb],
  ["the member with another IB's key", user(ids.member, contoso), 200, notUnderIb],
  [
    "another IB's user with its key",
    user(ids.foreignUser, contoso),
    200,
    '{"is_under_ib":true,"date_joined":"2023-07-14T12:00:00.250Z"}',
  ],
  ['a missing user_id', probe('/api/ib/user-status'), 400, badUser],
  ['an empty user_id', user(''), 400, badUser],
  ['a malformed user_id', user(`${ids.member}x`), 400, badUser],
  ['a user_id of version 1', user('11111111-1111-1111-8111-111111111111'), 400, badUser],
  ['an ids.executed deposit', deposit(ids.executed), 200, EXECUTED_BODY],
  [
    'a large amount',
    deposit('dddddddd-dddd-4ddd-8ddd-dddddddddddd'),
    200,
    '{"status":"EXECUTED","amountInUsd":16777217.01,"executedAt":1709251199999}',
  ],
  [
    'a small amount',
    deposit('018d0c2e-9f00-7abc-8def-0123456789ab'),
    200,
    '{"status":"EXECUTED","amountInUsd":0.07,"executedAt":1705341600123}',
  ],
  ['a pending deposit', deposit('55555555-5555-4555-8555-555555555555'), 404, notFound],
  ['a failed deposit', deposit('66666666-6666-4666-8666-666666666666'), 404, notFound],
  ["another IB's ids.executed deposit", deposit('99999999-9999-4999-8999-999999999999'), 404, notFound],
  ["another IB's pending deposit", deposit('eeeeeeee-eeee-4eee-8eee-eeeeeeeeeeee'), 404, notFound],
  ['a deposit of a user of no IB', deposit('cccccccc-cccc-4ccc-8ccc-cccccccccccc'), 404, notFound],
  ['an unknown deposit', deposit(ids.nobody), 404, notFound],
  ["the ids.executed deposit with another IB's key", deposit(ids.executed, contoso), 404, notFound],
  ['a missing reference_id', probe('/api/ib/deposit-check'), 400, badDeposit],
  ['an empty reference_id', deposit(''), 400, badDeposit],
  ['a malformed reference_id', deposit(`{${ids.executed}}`), 400, badDeposit],
];
for (const [name, one, status, body] of rows) test(`${name}, ${status}`, () => answers(one, status, body));

for (const [name, details] of Object.entries({
  'no key': { key: null },
  'an unknown key': { key: 'nope' },
  'a revoked key': { key: 'northwind-revoked-key' },
  'an expired key': { key: 'northwind-expired-key' },
  'a non-Partner key': { key: 'jane-personal-key' },
  'no scheme': { authorization: 'northwind-key' },
  'another scheme': { authorization: 'Basic northwind-key' },
  'an empty key': { authorization: 'Bearer ' },
  'two keys': { authorization: 'Bearer northwind-key northwind-key' },
  'a key named like a property': { key: '__proto__' },
}))
  test(`${name}, 401`, () => {
    answers(user(ids.member, details), 401, '{"error":"Unauthorized"}');
    answers(deposit(ids.executed, details), 401, '{"error":"UNAUTHORIZED"}');
  });

test('what cannot be decoded stays as it is', () => {
  assert.equal(decodeText('%31%2D'), '1-');
  assert.equal(decodeText('a+b'), 'a b');
  for (const broken of ['%', '%zz', '%E0%A4%A', '%C0%80', '%ED%A0%80'])
    assert.equal(decodeText(broken), broken);
});

const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const ofVersion = (version: string) => `3f2504e0-4f89-${version}1d3-9a0c-0305e82c3301`;

test('user_id is a UUID of version 4 and nothing else', () => {
  const accepted = [...'0123456789abcdef'].filter((version) => isId('user-status', ofVersion(version)));
  assert.deepEqual(accepted, ['4']);
});

test('the variant is that of RFC 9562', () => {
  const accepted = [...'0123456789abcdefABCDEF'].filter((variant) =>
    isId('user-status', id.replace('-9', `-${variant}`)),
  );
  assert.deepEqual(accepted, [...'89abAB']);
});

const notIds = {
  'the empty text': '',
  'a final newline': `${id}\n`,
  'a line before': `x\n${id}`,
  braces: `{${id}}`,
  'a URN': `urn:uuid:${id}`,
  'no hyphens': id.replaceAll('-', ''),
  'short groups': '1-1-1-1-1',
  'a space before': ` ${id}`,
  'a NUL behind': `${id}\0`,
  'full-width digits': id.replaceAll('0', '０'),
  'Arabic digits': id.replaceAll('0', '٠'),
  'a Kelvin sign': `K${id.slice(1)}`,
  'the nil UUID': '00000000-0000-0000-0000-000000000000',
  'the max UUID': 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

for (const [name, value] of Object.entries(notIds))
  test(`${name} is no id`, () =>
    assert.deepEqual([isId('user-status', value), isId('deposit-check', value)], [false, false]));

test('an id with one character changed to no hexadecimal digit is no id', () => {
  const changed = fc
    .tuple(
      fc.nat({ max: id.length - 1 }),
      fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)),
    )
    .filter(([, character]) => !/^[0-9a-f-]$/i.test(character))
    .map(([place, character]) => id.slice(0, place) + character + id.slice(place + 1));
  fc.assert(fc.property(changed, (value) => !isId('user-status', value) && !isId('deposit-check', value)));
});
