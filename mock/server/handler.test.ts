import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createService, reference } from './handler.ts';
import { builtIn, deposit, ids, lookup, START, user, type TimedRequest } from '../testing/session.ts';
import { createWorld } from './world.ts';

const { answer } = createService();
/** The status and the body that a request gets, as the first one. */
const answerTo = ({ request }: TimedRequest, serve = answer) => {
  const { status, body } = serve(createWorld(builtIn, START), request, START).response;
  return [status, body];
};
const limited = { key: 'fabrikam-always-limited-key' };

/** The tables of the section Endpoints, word for word, and requests that meet each condition. */
const tables: readonly (readonly [
  what: string,
  status: number,
  body: string,
  requests: readonly TimedRequest[],
])[] = [
  [
    'user-status: user is under the IB',
    200,
    '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}',
    [user(ids.member), user(ids.member, { authorization: 'bearer  northwind-spare-key' })],
  ],
  [
    'user-status: user is not under the IB',
    200,
    '{"is_under_ib":false,"date_joined":null}',
    [user(ids.foreignUser), user(ids.nobody), user('33333333-3333-4333-8333-333333333333')],
  ],
  [
    'user-status: user_id missing or not a valid UUID',
    400,
    '{"error":"Invalid user_id format"}',
    [lookup('/api/ib/user-status'), user(''), user('x'), user('018d0c2e-9f00-7abc-8def-0123456789ab')],
  ],
  [
    'user-status: authentication failed',
    401,
    '{"error":"Unauthorized"}',
    [null, 'no-such-key', 'northwind-revoked-key', 'northwind-expired-key', 'jane-personal-key'].map((key) =>
      user(ids.member, { key }),
    ),
  ],
  [
    'user-status: rate limit exceeded',
    429,
    '{"error":"Too many failed lookups. Please try again later."}',
    [user(ids.member, limited)],
  ],
  [
    'deposit-check: EXECUTED deposit of the IB',
    200,
    '{"status":"EXECUTED","amountInUsd":250.5,"executedAt":1705314600000}',
    [deposit(ids.executed), deposit(ids.executed, { key: 'northwind-spare-key' })],
  ],
  [
    'deposit-check: reference_id missing or not a valid UUID',
    400,
    '{"error":"Invalid reference_id format"}',
    [
      lookup('/api/ib/deposit-check'),
      deposit(''),
      deposit('x'),
      deposit('00000000-0000-0000-0000-000000000000'),
    ],
  ],
  [
    'deposit-check: API key missing, invalid, or not a Partner key',
    401,
    '{"error":"UNAUTHORIZED"}',
    [null, 'no-such-key', 'northwind-revoked-key', 'northwind-expired-key', 'jane-personal-key'].map((key) =>
      deposit(ids.executed, { key }),
    ),
  ],
  [
    "deposit-check: no such deposit, another IB's, or not EXECUTED",
    404,
    '{"error":"Deposit not found"}',
    [ids.nobody, ids.foreign, ids.pending, ids.failed].map((id) => deposit(id)),
  ],
  [
    'deposit-check: rate limit exceeded',
    429,
    '{"error":"TOO_MANY_REQUESTS"}',
    [deposit(ids.executed, limited)],
  ],
];

describe('the tables of the interface', () => {
  for (const [what, status, body, requests] of tables)
    test(`${what}: ${status}`, () => {
      for (const one of requests) assert.deepEqual(answerTo(one), [status, body], one.request.target);
    });
  test('what is no endpoint, and another method', () => {
    assert.deepEqual(answerTo(lookup('/api/ib', { key: null })), [404, '{"error":"Not found"}']);
    const other = lookup('/api/ib/user-status', { method: 'POST', key: null });
    assert.deepEqual(answerTo(other), [405, '{"error":"Method not allowed"}']);
  });
});

test('each field has the type of the interface', () => {
  const { is_under_ib, date_joined } = JSON.parse(String(answerTo(user(ids.member))[1]));
  assert.deepEqual([typeof is_under_ib, typeof date_joined], ['boolean', 'string']);
  const { status, amountInUsd, executedAt } = JSON.parse(String(answerTo(deposit(ids.executed))[1]));
  assert.deepEqual([status, typeof amountInUsd, typeof executedAt], ['EXECUTED', 'number', 'number']);
});

test('the order of the checks is a parameter', () => {
  const serve = createService({ ...reference, checkOrder: ['id', 'limit', 'key'] }).answer;
  assert.equal(answerTo(user('x', limited), serve)[0], 400);
  assert.equal(answerTo(user('x', { key: null }), serve)[0], 400);
  assert.equal(answerTo(user('x', limited))[0], 429);
});

test('the endpoints are below the base path, and nowhere else', () => {
  const serve = createService(reference, 'gateway/v2/').answer;
  const { target } = user(ids.member).request;
  assert.equal(answerTo(lookup(`/gateway/v2${target}`), serve)[0], 200);
  assert.equal(answerTo(lookup(target), serve)[0], 404);
  assert.equal(answerTo(lookup(`http://ib.example/gateway/v2${target}`), serve)[0], 200);
});
