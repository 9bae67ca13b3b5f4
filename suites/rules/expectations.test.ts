import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { endpoints, type Endpoint, type ErrorStatus } from '../../schemas/endpoints.ts';
import {
  expectError,
  expectDeposit,
  sameAnswer,
  expectExecuted,
  expectMember,
  expectNotMember,
  expectNumber,
} from './expectations.ts';
import { answerOf } from '../testing/samples.ts';
import { failed, pass, type Verdict } from './verdict.ts';

/** A short form of a verdict: `passed`, the aspect that differs, or the reason. */
function shortOf(verdict: Verdict): string {
  if (verdict.kind === 'failed') return verdict.aspect;
  return verdict.kind === 'passed' ? verdict.kind : verdict.reason;
}

const bytes = (...parts: readonly (string | readonly number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

const unauthorized = expectError('user-status', 401);

/** Bodies of a 401 of user-status, and the error in each. Faults of the mock have simpler ones. */
const bodies: Readonly<Record<string, readonly [body: string | Uint8Array, expected: string]>> = {
  'the body of the interface': ['{"error":"Unauthorized"}', 'passed'],
  'white space': [' \t\r\n{ "error" :\n\t"Unauthorized" }\r\n', 'passed'],
  'escapes in the message': [String.raw`{"error":"\u0055nauthorize\u0064"}`, 'passed'],
  'escapes in the name': [String.raw`{"\u0065rror":"Unauthorized"}`, 'passed'],

  'a NUL behind': [String.raw`{"error":"Unauthorized\u0000"}`, 'message'],
  'a look-alike': ['{"error":"Unаuthorized"}', 'message'],
  'an empty message': ['{"error":""}', 'message'],
  'the name within the message': [String.raw`{"error":"the \"error\""}`, 'message'],

  'the name in another case': ['{"Error":"Unauthorized"}', 'shape'],
  'a field __proto__': ['{"error":"Unauthorized","__proto__":null}', 'shape'],
  'an empty object': ['{}', 'shape'],
  'no string: null': ['{"error":null}', 'shape'],
  'no string: a number': ['{"error":401}', 'shape'],
  'the field twice': ['{"error":"Unauthorized","error":"Unauthorized"}', 'shape'],
  'the field twice, the right one last': ['{"error":"x","error":"Unauthorized"}', 'shape'],
  'the field twice, once escaped': [
    String.raw`{"\u0065rror":"Deposit not found","error":"Unauthorized"}`,
    'shape',
  ],
  null: ['null', 'shape'],
  'a string': ['"Unauthorized"', 'shape'],

  'a second value': ['{"error":"Unauthorized"}{"error":"Unauthorized"}', 'JSON'],
  'half a body': ['{"error":"Unauth', 'JSON'],
  'a raw control character': ['{"error":"Unauthorized\n"}', 'JSON'],
  'a byte that is not UTF-8': [bytes('{"error":"Unauthorized', [0xff], '"}'), 'JSON'],
  'an overlong encoding': [bytes('{"error":"', [0xc1, 0x95], 'nauthorized"}'), 'JSON'],
  'half a surrogate pair': [bytes('{"error":"', [0xed, 0xa0, 0x80], '"}'), 'JSON'],
};

describe('a body of a 401 with', () => {
  for (const [name, [body, expected]] of Object.entries(bodies))
    test(`${name}: ${expected}`, () => assert.equal(shortOf(unauthorized(answerOf(401, body))), expected));
});

describe('every error of the interface', () => {
  const errors = (Object.keys(endpoints) as Endpoint[]).flatMap((endpoint) =>
    Object.entries(endpoints[endpoint].messages).map(
      ([status, message]) => [endpoint, Number(status) as ErrorStatus, message] as const,
    ),
  );
  const everyMessage = [...new Set(errors.map(([, , message]) => message))];
  const statuses = [200, 204, 301, 400, 401, 403, 404, 422, 429, 500, 503];
  for (const [endpoint, status, message] of errors)
    test(`${endpoint} ${status} accepts only its own status and message`, () => {
      const found = (code: number, error: string) =>
        shortOf(expectError(endpoint, status)(answerOf(code, { error })));
      for (const other of everyMessage)
        assert.equal(found(status, other), other === message ? 'passed' : 'message', other);
      for (const code of statuses)
        assert.equal(found(code, message), code === status ? 'passed' : 'status', `${code}`);
    });
});

test('a failed expectation reports expected and actual', () => {
  assert.deepEqual(unauthorized(answerOf(404, { error: 'Deposit not found' })), {
    kind: 'failed',
    aspect: 'status',
    expected: '401 {"error":"Unauthorized"}',
    actual: '404 {"error":"Deposit not found"}',
  });
  for (const [body, actual] of [
    ['', '401 (no body)'],
    [bytes([0xff]), '401 \ufffd (the body is not UTF-8)'],
    ['['.repeat(9999), `401 ${'['.repeat(200)}… (the body is not JSON)`],
  ] as const)
    assert.equal((unauthorized(answerOf(401, body)) as { actual: string }).actual, actual);
});

const member = { is_under_ib: true, date_joined: '2024-02-29T23:59:59.999Z' };
const notMember = { is_under_ib: false, date_joined: null };
const executed = { status: 'EXECUTED', amountInUsd: 250.5, executedAt: 1705314600000 };
const amount = expectNumber('amountInUsd', 250.5);
const whole = expectDeposit({ amountInUsd: 250.5, executedAt: 1705314600000 });

/** Expectations of a 200: status, body, and the error in it. */
const results: readonly (readonly [
  name: string,
  expectation: (answer: ReturnType<typeof answerOf>) => Verdict,
  status: number,
  body: string | object,
  expected: string,
])[] = [
  ['member', expectMember, 200, member, 'passed'],
  ['member', expectMember, 200, { is_under_ib: true }, 'passed'],
  ['member', expectMember, 201, member, 'status'],
  ['member', expectMember, 200, { is_under_ib: 'true' }, 'value'],
  ['member', expectMember, 200, { is_under_ib: 1 }, 'value'],
  ['member', expectMember, 200, [member], 'JSON'],
  ['member', expectMember, 200, 'null', 'JSON'],
  ['member', expectMember, 200, '', 'JSON'],
  ['no member', expectNotMember, 200, notMember, 'passed'],
  ['no member', expectNotMember, 200, { is_under_ib: null }, 'value'],
  ['no member', expectNotMember, 200, { is_under_ib: 0 }, 'value'],
  ['executed', expectExecuted, 200, executed, 'passed'],
  ['executed', expectExecuted, 200, { ...executed, status: 'executed' }, 'value'],
  ['executed', expectExecuted, 200, { ...executed, status: 'EXECUTED ' }, 'value'],
  ['executed', expectExecuted, 200, { ...executed, status: ['EXECUTED'] }, 'value'],
  ['executed', expectExecuted, 200, [executed], 'JSON'],
  ['amount', amount, 200, executed, 'passed'],
  ['amount', amount, 200, '{"amountInUsd":2505E-1}', 'passed'],
  ['amount', amount, 200, { amountInUsd: 250.50000000000003 }, 'value'],
  ['amount', amount, 200, { amountInUsd: 250 }, 'value'],
  ['amount', amount, 200, { amountInUsd: null }, 'value'],
  ['amount', amount, 200, {}, 'depends'],
  ['amount', amount, 404, executed, 'depends'],
  ['amount', amount, 200, '', 'depends'],
  ['result', whole, 200, executed, 'passed'],
  ['result', whole, 200, { ...executed, executedAt: 1705314600001 }, 'value'],
];

describe('a result', () => {
  for (const [name, expectation, status, body, expected] of results)
    test(`${name}, ${status} ${JSON.stringify(body)}: ${expected}`, () =>
      assert.equal(shortOf(expectation(answerOf(status, body))), expected));
});

test('a missing `executedAt` in the fixture is not compared', () => {
  assert.deepEqual(
    expectDeposit({ amountInUsd: 250.5 })(answerOf(200, { ...executed, executedAt: 1 })),
    pass,
  );
});

test('an amount is compared as an IEEE double, however it is written', () => {
  const digits = fc.double({ min: 0, max: 1e15, noNaN: true }).filter((value) => value > 0);
  fc.assert(
    fc.property(digits, (value) => {
      for (const text of [String(value), value.toExponential(), value.toPrecision(21)]) {
        const answer = answerOf(200, `{"amountInUsd":${text}}`);
        assert.deepEqual(expectNumber('amountInUsd', value)(answer), pass, text);
      }
      const next = value * (1 + Number.EPSILON);
      const off = answerOf(200, `{"amountInUsd":${next}}`);
      assert.equal(shortOf(expectNumber('amountInUsd', value)(off)), next === value ? 'passed' : 'value');
    }),
  );
});

const joined = (seconds: string) => `{"date_joined":"2024-01-01T00:00:${seconds}"}`;

/** Two answers to one lookup, and whether they are the same. */
const pairs: Readonly<Record<string, readonly [number, string, number, string, boolean]>> = {
  'the very same': [200, '{"a":1}', 200, '{"a":1}', true],
  'another order of fields': [200, '{"a":{"x":1,"y":2},"b":2}', 200, '{"b":2,"a":{"y":2,"x":1}}', true],
  'another spelling': [200, '{"a":"A"}', 200, String.raw` {"a" : "\u0041"}`, true],
  'another form of a join date': [200, joined('00.500Z'), 200, joined('00.5+00:00'), true],
  'another join date': [200, joined('00.005Z'), 200, joined('00.5Z'), false],
  'another status': [200, '{"a":1}', 201, '{"a":1}', false],
  'another value': [200, '{"a":1}', 200, '{"a":2}', false],
  'another type': [200, '{"a":1}', 200, '{"a":"1"}', false],
  'a field more': [200, '{"a":1}', 200, '{"a":1,"b":null}', false],
  'another order of items': [200, '[1,2]', 200, '[2,1]', false],
  'no JSON': [502, 'bad', 502, 'bad', true],
  'other text': [502, 'bad', 502, 'worse', false],
  'JSON and text': [200, '"bad"', 200, 'bad', false],
};

describe('the same answer', () => {
  for (const [name, [status, body, otherStatus, otherBody, same]] of Object.entries(pairs))
    test(`${name}: ${same ? 'yes' : 'no'}`, () => {
      const [one, other] = [answerOf(status, body), answerOf(otherStatus, otherBody)];
      assert.deepEqual(
        sameAnswer(one, other),
        same ? pass : failed('value', `${status} ${body}`, `${otherStatus} ${otherBody}`),
      );
    });

  test('a body with invalid UTF-8 does not equal its decoded text', () => {
    const one = answerOf(200, '{"a":"\uFFFD"}');
    const other = answerOf(200, Buffer.from('{"a":"\xFF"}', 'latin1'));
    assert.equal(one.text, other.text);
    assert.equal(sameAnswer(one, other).kind, 'failed');
  });
});

test('a wrong number is shown as the body has it', () => {
  for (const written of ['1e400', '250.50000000000003000', '-1E3', '"250.5"', 'null']) {
    const answer = answerOf(200, `{"status":"EXECUTED", "amountInUsd" : ${written}, "executedAt":1}`);
    const verdict = amount(answer);
    assert.equal(verdict.kind === 'failed' && verdict.actual, `"amountInUsd": ${written}`);
  }
});
