import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answerRequest } from './answer-request.ts';
import { deposit, depositPath, lookup, user, userPath, builtIn, ids } from './testing/session.ts';
import { lastAnswer as last, testSession, type TimedRequest } from './testing/session.ts';
import { parsePrefer } from './forced-answers.ts';

const preferring = (code: number | string) => ({ headers: { prefer: `code=${code}` } });
const forced = (one: TimedRequest) => {
  const { status, headers, body } = last(one);
  return [status, headers['Preference-Applied'], body];
};

describe('an answer requested by Prefer', () => {
  test('errors have the message of their endpoint', () => {
    const errors = {
      400: ['Invalid user_id format', 'Invalid reference_id format'],
      401: ['Unauthorized', 'UNAUTHORIZED'],
      429: ['Too many failed lookups. Please try again later.', 'TOO_MANY_REQUESTS'],
      500: ['Internal Server Error', 'Internal Server Error'],
      503: ['Service Unavailable', 'Service Unavailable'],
    };
    const expected = (code: string, error = '') => [Number(code), `code=${code}`, JSON.stringify({ error })];
    for (const [code, [ofUser, ofDeposit]] of Object.entries(errors)) {
      assert.deepEqual(forced(user(ids.member, preferring(code))), expected(code, ofUser));
      assert.deepEqual(forced(deposit(ids.executed, preferring(code))), expected(code, ofDeposit));
    }
    const notFound = expected('404', 'Deposit not found');
    assert.deepEqual(forced(deposit(ids.executed, preferring(404))), notFound);
  });
  test('429 has Retry-After, 401 has WWW-Authenticate, 503 has neither', () => {
    const headers = (code: number) => last(user(ids.member, preferring(code))).headers;
    assert.equal(headers(429)['Retry-After'], '1');
    assert.equal(headers(401)['WWW-Authenticate'], 'Bearer');
    const common = ['Cache-Control', 'Content-Length', 'Content-Type', 'Date', 'Preference-Applied'];
    assert.deepEqual(Object.keys(headers(503)).toSorted(), common);
  });
  test("200 is an example of the caller's IB, for any id", () => {
    const member = '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}';
    const executed = '{"status":"EXECUTED","amountInUsd":250.5,"executedAt":1705314600000}';
    for (const id of [ids.nobody, 'x', '']) {
      assert.deepEqual(forced(user(id, preferring(200))), [200, 'code=200', member]);
      assert.deepEqual(forced(deposit(id, preferring(200))), [200, 'code=200', executed]);
    }
    const other = { key: 'contoso-key', ...preferring(200) };
    assert.match(String(last(user(ids.nobody, other)).body), /"2023-07-14T12:00:00\.250Z"/);
    assert.match(String(last(deposit(ids.nobody, other)).body), /4321\.09/);
  });
  test('an impossible answer is refused with a reason', () => {
    for (const [request, why] of [
      [user(ids.member, preferring(404)), 'user-status has no answer 404'],
      [deposit(ids.executed, preferring(418)), /^Prefer: chaos 418: there is no such kind \(kinds: 200, 400/],
      [deposit(ids.executed, { headers: { prefer: 'chaos=slow' } }), /^Prefer: chaos slow: needs one/],
      [deposit(ids.executed, { headers: { prefer: 'chaos=503:0.5' } }), /have no rate/],
    ] as const) {
      const [status, applied, body] = forced(request);
      assert.deepEqual([status, applied], [400, undefined]);
      assert.match((JSON.parse(String(body)) as { error: string }).error, new RegExp(why));
    }
    const { session } = testSession({ fixture: { ...builtIn, users: [], deposits: [] } });
    for (const [target, what] of [
      ['/api/ib/user-status', 'user'],
      ['/api/ib/deposit-check', 'EXECUTED deposit'],
    ] as const) {
      const { status, body } = answerRequest(session, lookup(target, preferring(200)).request).response;
      const error = `there is no ${what} of the IB for a 200`;
      assert.deepEqual([status, body], [400, JSON.stringify({ error })]);
    }
  });
  test('Prefer takes the kinds of chaos, and chaos takes each status', () => {
    const prefer = (kind: string) => last(deposit(ids.executed, { headers: { prefer: `chaos=${kind}` } }));
    const plain = last(deposit(ids.executed));
    for (const [kind, expected] of [
      ['reset', { transportFault: 'reset' }],
      ['slow:2s', { delayMs: 2000 }],
      ['"slow:2s"', { delayMs: 2000 }],
    ] as const)
      assert.deepEqual(prefer(kind), { ...plain, ...expected });
    assert.equal(prefer('404').headers['Preference-Applied'], 'code=404');
    const { faults, deposit: ask, user: askUser } = testSession();
    for (const status of [200, 400, 401, 404, 429, 599]) {
      faults.next(status);
      const [queued, preferred] = [ask(ids.pending), prefer(`${status}`)];
      assert.deepEqual([queued.status, queued.body], [status, preferred.body]);
      assert.equal(queued.headers['Retry-After'], preferred.headers['Retry-After']);
    }
    // user-status has no 404: it waits for a request to deposit-check.
    faults.next(404);
    assert.deepEqual([askUser(ids.member).status, ask(ids.executed).status], [200, 404]);
    faults.next(503, 1, 'user-status');
    assert.deepEqual([ask(ids.executed).status, askUser(ids.member).status], [200, 503]);
    assert.throws(() => faults.next(404, 1, 'user-status'), /user-status has no answer 404/);
  });
});

describe('effects of Prefer', () => {
  test('none for a refused key, other paths and other methods', () => {
    for (const [target, details] of [
      ...['nope', null, 'northwind-revoked-key', 'jane-personal-key'].map(
        (key) => [depositPath(ids.executed), { key }] as const,
      ),
      ['/', {}],
      [userPath(ids.member), { method: 'POST' }],
    ] as const) {
      const answer = last(lookup(target, { ...details, ...preferring(200) }));
      assert.deepEqual(answer, last(lookup(target, details)));
    }
  });
  test('no poll, not counted, and not limited', () => {
    const asked = Array.from({ length: 300 }, () => deposit(ids.afterPolls, preferring(404)));
    assert.equal(last(...asked, deposit(ids.afterPolls)).status, 404);
    const failing = Array.from({ length: 100 }, () => user('x', preferring(400)));
    assert.equal(last(...failing, user('x')).status, 400);
    const limited = Array.from({ length: 60 }, () => user(ids.nobody));
    assert.equal(last(...limited, user(ids.member)).status, 429);
    assert.equal(last(...limited, user(ids.member, preferring(503))).status, 503);
  });
});

const asks = (prefer: string) => {
  const asked = parsePrefer({ prefer });
  return asked?.kind === 'status' ? asked.status : asked?.kind;
};

/** Requested status or chaos by field value. */
const fields: Readonly<Record<string, number | string | undefined>> = {
  'code=429': 429,
  '\tcode\t=\t429 ': 429,
  'code="429"': 429,
  'code=429; reason="a, b"': 429,
  'respond-async, wait=10, code=404': 404,
  ',, ,code=500,,': 500,
  'code=400, code=500': 400,
  'Chaos=reset': 'reset',
  'chaos=slow:2s': 'slow',
  'code=418, code=500': 'refused',
  'code=': 'refused',
  'code=0429': 'refused',
  'code=429 code=500': 'refused',
  'code="429': 'refused',
  'code=__proto__': 'refused',
  'xcode=429': undefined,
  '': undefined,
};

describe('the value of Prefer', () => {
  for (const [field, status] of Object.entries(fields))
    test(JSON.stringify(field), () => assert.equal(asks(field), status));
  test('several lines are one list, and the first code is used', () => {
    const headers = { prefer: ['wait=10', 'code=401', 'code=429'] } as unknown as { prefer: string };
    assert.deepEqual(parsePrefer(headers), { kind: 'status', status: 401 });
  });
});
