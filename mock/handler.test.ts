import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answersTo, deposit, probe, type Probe, user } from './testing/probes.ts';

const MEMBER = '11111111-1111-4111-8111-111111111111';
const EXECUTED = '44444444-4444-4444-8444-444444444444';

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

describe('user-status', () => {
  const notUnderIb = '{"is_under_ib":false,"date_joined":null}';
  const badId = '{"error":"Invalid user_id format"}';
  const badKey = '{"error":"Unauthorized"}';

  test('a member, 200', () => {
    answers(user(MEMBER), 200, '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}');
  });
  test("another IB's user, 200", () =>
    answers(user('22222222-2222-4222-8222-222222222222'), 200, notUnderIb));
  test('a user of no IB, 200', () => answers(user('33333333-3333-4333-8333-333333333333'), 200, notUnderIb));
  test('an unknown user, 200', () => answers(user('12345678-1234-4234-8234-123456789abc'), 200, notUnderIb));
  test('the same users with the other key, 200', () => {
    const details = { key: 'contoso-key' };
    answers(user(MEMBER, details), 200, notUnderIb);
    answers(
      user('22222222-2222-4222-8222-222222222222', details),
      200,
      '{"is_under_ib":true,"date_joined":"2023-07-14T12:00:00.250Z"}',
    );
  });
  test('a missing user_id, 400', () => answers(probe('/api/ib/user-status'), 400, badId));
  test('an empty user_id, 400', () => answers(user(''), 400, badId));
  test('a malformed user_id, 400', () => answers(user(`${MEMBER}x`), 400, badId));
  test('a user_id of version 1, 400', () =>
    answers(user('11111111-1111-1111-8111-111111111111'), 400, badId));
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
    test(`${name}, 401`, () => answers(user(MEMBER, details), 401, badKey));
});

describe('deposit-check', () => {
  const badId = '{"error":"Invalid reference_id format"}';
  const badKey = '{"error":"UNAUTHORIZED"}';
  const notFound = '{"error":"Deposit not found"}';

  test('an EXECUTED deposit, 200', () => {
    answers(deposit(EXECUTED), 200, '{"status":"EXECUTED","amountInUsd":250.5,"executedAt":1705314600000}');
  });
  test('a large amount and a small one keep their value, 200', () => {
    const large = '{"status":"EXECUTED","amountInUsd":16777217.01,"executedAt":1709251199999}';
    const small = '{"status":"EXECUTED","amountInUsd":0.07,"executedAt":1705341600123}';
    answers(deposit('dddddddd-dddd-4ddd-8ddd-dddddddddddd'), 200, large);
    answers(deposit('018d0c2e-9f00-7abc-8def-0123456789ab'), 200, small);
  });
  for (const [name, id] of Object.entries({
    'a pending deposit': '55555555-5555-4555-8555-555555555555',
    'a failed deposit': '66666666-6666-4666-8666-666666666666',
    "another IB's EXECUTED deposit": '99999999-9999-4999-8999-999999999999',
    "another IB's pending deposit": 'eeeeeeee-eeee-4eee-8eee-eeeeeeeeeeee',
    'a deposit of a user of no IB': 'cccccccc-cccc-4ccc-8ccc-cccccccccccc',
    'an unknown deposit': '12345678-1234-4234-8234-123456789abc',
  }))
    test(`${name}, 404`, () => answers(deposit(id), 404, notFound));
  test("the other partner's deposit with its key, 200", () => {
    const body = '{"status":"EXECUTED","amountInUsd":4321.09,"executedAt":1706745600000}';
    answers(deposit('99999999-9999-4999-8999-999999999999', { key: 'contoso-key' }), 200, body);
    answers(deposit(EXECUTED, { key: 'contoso-key' }), 404, notFound);
  });
  test('a missing reference_id, 400', () => answers(probe('/api/ib/deposit-check'), 400, badId));
  test('an empty reference_id, 400', () => answers(deposit(''), 400, badId));
  test('a malformed reference_id, 400', () => answers(deposit(`{${EXECUTED}}`), 400, badId));
  for (const [name, key] of Object.entries({
    'no key': null,
    'an unknown key': 'nope',
    'a revoked key': 'northwind-revoked-key',
    'an expired key': 'northwind-expired-key',
    'a non-Partner key': 'jane-personal-key',
  }))
    test(`${name}, 401`, () => answers(deposit(EXECUTED, { key }), 401, badKey));
});

describe('letter case of ids', () => {
  test('an id in upper case is the same user and the same deposit', () => {
    const userId = 'AAAAAAAA-AAAA-4AAA-8AAA-AAAAAAAAAAAA';
    answers(user(userId), 200, '{"is_under_ib":true,"date_joined":"2023-01-02T03:04:05.006Z"}');
    assert.equal(answerTo(deposit('DDDDDDDD-dddd-4DDD-8ddd-DDDDDDDDDDDD')).status, 200);
  });
});

describe('what the two endpoints do not answer', () => {
  test('another path, 404', () => {
    for (const path of [
      '/',
      '/api/ib',
      '/api/ib/user-status/',
      '/API/ib/user-status',
      '//api/ib/user-status',
      '*',
    ])
      answers(probe(path), 404, '{"error":"Not found"}');
  });
  test('another method, 405 with Allow', () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'get']) {
      const one = probe(`/api/ib/user-status?user_id=${MEMBER}`, { method });
      answers(one, 405, '{"error":"Method not allowed"}');
      assert.equal(answerTo(one).headers['Allow'], 'GET, HEAD');
    }
  });
  test('HEAD gets what GET gets, without the body', () => {
    for (const id of [MEMBER, 'x']) {
      const get = answerTo(user(id));
      assert.deepEqual(answerTo(user(id, { method: 'HEAD' })), { ...get, body: '' });
    }
    assert.equal(answerTo(user(MEMBER, { method: 'HEAD' })).headers['Content-Length'], '61');
  });
});
