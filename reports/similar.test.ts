import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Failed } from '../schemas/generated/types.ts';
import { worstFirst } from './similar.ts';
import { sampleFailure } from './testing/records.ts';

const failure = (id: string, status: number, body: string, more: Partial<Failed> = {}): Failed => ({
  ...sampleFailure,
  id,
  level: 'required',
  expected: `what ${id} gets`,
  actual: body,
  counterexample: {
    request: { method: 'GET', target: `/${id}`, headers: {} },
    response: { status, headers: { 'content-type': 'text/html' }, body },
    curl: 'curl',
  },
  ...more,
});
const ids = (findings: readonly Failed[]) => findings.map(({ id }) => id).join(' ');
const groupsOf = (findings: readonly Failed[]) =>
  worstFirst(findings).map(({ first, rest }) => `${first.id} | ${ids(rest)}`);

test('findings with the same aspect, status and condition are one group', () => {
  const where = ['id spelling: upper case'];
  const some = [
    failure('a', 404, 'no 1', { where }),
    failure('b', 404, 'no 2', { where }),
    failure('e', 404, 'no 2', { where, aspect: 'message' }),
    failure('c', 404, 'no 3', { where: ['key: revoked'] }),
    failure('d', 400, 'no 4', { where }),
  ];
  assert.deepEqual(groupsOf(some), ['e | ', 'a | b', 'c | ', 'd | ']);
});

test('findings with an answer of the interface are one group only if one fix mends them', () => {
  const deposit = '{"status":"EXECUTED","amountInUsd":1,"executedAt":2}';
  const some = [
    failure('valid/deposit-check/amount', 200, deposit, { aspect: 'value' }),
    failure('valid/deposit-check/executed-at', 200, deposit, { aspect: 'value' }),
    failure('auth/user-status/revoked', 200, '{"is_under_ib":true}', { aspect: 'status' }),
    failure('auth/deposit-check/revoked', 404, '{"error":"Deposit not found"}', { aspect: 'status' }),
    failure('auth/user-status/expired', 200, '{"is_under_ib":true}', { aspect: 'status' }),
    failure('auth/service/expired', 200, '{"is_under_ib":true}', { aspect: 'status', where: ['key: old'] }),
  ];
  assert.deepEqual(groupsOf(some), [
    'valid/deposit-check/amount | ',
    'valid/deposit-check/executed-at | ',
    'auth/user-status/revoked | auth/deposit-check/revoked',
    'auth/user-status/expired | ',
    'auth/service/expired | ',
  ]);
});

test('without a condition, groups differ by status, body, aspect and missing answer, but not by ids and numbers', () => {
  const some = [
    failure('f', 404, 'no 11111111-1111-4111-8111-111111111111 at 1705314600000', { level: 'recommended' }),
    failure('a', 404, 'no 5 at 6'),
    failure('b', 404, 'no AAAAAAAA-1111-4111-8111-111111111111 at 2'),
    failure('c', 400, 'no 3 at 4'),
    failure('d', 404, 'not so'),
    failure('e', 404, 'no 5 at 6', { aspect: 'message' }),
    failure('g', 404, '', { counterexample: { ...sampleFailure.counterexample!, trouble: 'broken off' } }),
  ];
  delete (some.at(-1)!.counterexample as { response?: unknown }).response;
  assert.deepEqual(groupsOf(some), ['e | ', 'a | b f', 'c | ', 'd | ', 'g | ']);
});

test('bodies with the same wrong form are one group, for any status and endpoint', () => {
  const some = [
    failure('a', 404, 'x', { actual: '404 {"error": "x",} (the body is not JSON)' }),
    failure('b', 401, 'y', { actual: '401 {"error": "y",} (the body is not JSON)' }),
    failure('c', 401, 'y', { actual: '401 {"error":"y","code":1} (not exactly one field "error")' }),
  ];
  assert.deepEqual(groupsOf(some), ['a | b', 'c | ']);
});

test('equal expected and actual are one group, across ids and endpoints, unless conditions differ', () => {
  const [expected, where] = ['401 {"error":"UNAUTHORIZED"}', ['active key: second']];
  const same = { expected, actual: '401 {"error":"Unauthorized"}', aspect: 'message' } as const;
  const some = [
    failure('auth/user-status/missing', 401, '{"error":"Unauthorized"}', same),
    failure('auth/deposit-check/expired', 401, '{"error":"Unauthorized"}', same),
    failure('auth/deposit-check/revoked', 401, '{"error":"Unauthorized"}', { ...same, where }),
    failure('auth/deposit-check/other', 401, '{"error":"Unauthorized"}', {
      ...same,
      expected: '404 {"error":"UNAUTHORIZED"}',
    }),
  ];
  assert.deepEqual(groupsOf(some), [
    'auth/user-status/missing | auth/deposit-check/expired',
    'auth/deposit-check/revoked | ',
    'auth/deposit-check/other | ',
  ]);
});

test('what nobody explained joins the first group with the same answer, and is not its first', () => {
  const where = ['query: extra parameter after or extra parameter before'];
  const some = [
    failure('a', 500, 'broken 1', { unexplained: true, rank: 1 }),
    failure('b', 500, 'broken 2', { where: [...where, '18 of 24 ids'], rank: 2 }),
    failure('robustness/service/no-5xx', 500, 'broken 3', { aspect: 'value' }),
    failure('c', 503, 'broken 4', { unexplained: true, rank: 2 }),
    failure('d', 500, 'broken 5', { where, rank: 2 }),
  ];
  assert.deepEqual(groupsOf(some), ['b | d robustness/service/no-5xx a', 'c | ']);
});

test('what is over is not first, and what is recommended comes last', () => {
  const since = { rightBefore: 10, lastRightSeconds: 1, fromRequest: 9, fromSeconds: 2, untilSeconds: 3 };
  const some = [
    failure('advice', 404, 'no', { level: 'recommended', rank: 1 }),
    failure('over', 404, 'no', { since, rank: 1 }),
    failure('lasting', 404, 'no', { rank: 3 }),
  ];
  assert.deepEqual(groupsOf(some), ['lasting | over advice']);
  assert.deepEqual(groupsOf(some.slice(0, 2)), ['over | advice']);
});

test('the worst comes first: data, keys, answers, messages, formats, advice', () => {
  const some = [
    failure('advice', 401, '1', { level: 'recommended', rank: 6 }),
    failure('format', 402, '2', { aspect: 'value', rank: 5 }),
    failure('message', 403, '3', { aspect: 'message', rank: 1 }),
    failure('media-type', 404, '4', { aspect: 'media type', rank: 3 }),
    failure('answer', 405, '5', { aspect: 'status' }),
    failure('key', 406, '6', { aspect: 'status', rank: 2 }),
    failure('partner', 407, '7', { aspect: 'status', rank: 1 }),
  ];
  const order = ids(worstFirst(some).map(({ first }) => first));
  assert.equal(order, 'partner key answer message format media-type advice');
});
