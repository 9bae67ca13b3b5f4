import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { builtIn, depositPath, ids, testSession, userPath } from './testing/session.ts';

/** Returns the answer to a request with this chaos. */
function forced(status: number, target: string, key?: string) {
  const { faults, get } = testSession();
  faults.next(status);
  return get(target, key);
}

describe('a status by chaos', () => {
  test('has the message of its endpoint', () => {
    const errors = {
      400: ['Invalid user_id format', 'Invalid reference_id format'],
      401: ['Unauthorized', 'UNAUTHORIZED'],
      429: ['Too many failed lookups. Please try again later.', 'TOO_MANY_REQUESTS'],
      500: ['Internal Server Error', 'Internal Server Error'],
      503: ['Service Unavailable', 'Service Unavailable'],
    };
    const answer = (status: number, target: string) => {
      const { status: got, body } = forced(status, target);
      return [got, body];
    };
    for (const [text, [ofUser, ofDeposit]] of Object.entries(errors)) {
      const status = Number(text);
      assert.deepEqual(answer(status, userPath(ids.member)), [status, JSON.stringify({ error: ofUser })]);
      const ofExecuted = answer(status, depositPath(ids.executed));
      assert.deepEqual(ofExecuted, [status, JSON.stringify({ error: ofDeposit })]);
    }
    assert.deepEqual(answer(404, depositPath(ids.executed)), [404, '{"error":"Deposit not found"}']);
  });
  test('429 has Retry-After, 401 has WWW-Authenticate, 503 has neither', () => {
    const headers = (status: number) => forced(status, userPath(ids.member)).headers;
    assert.equal(headers(429)['Retry-After'], '1');
    assert.equal(headers(401)['WWW-Authenticate'], 'Bearer');
    const common = ['Cache-Control', 'Content-Length', 'Content-Type', 'Date'];
    assert.deepEqual(Object.keys(headers(503)).toSorted(), common);
  });
  test("200 is an example of the caller's IB, for any id", () => {
    const member = '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}';
    const executed = '{"status":"EXECUTED","amountInUsd":250.5,"executedAt":1705314600000}';
    for (const id of [ids.nobody, 'x', '']) {
      assert.equal(forced(200, userPath(id)).body, member);
      assert.equal(forced(200, depositPath(id)).body, executed);
    }
    assert.match(
      String(forced(200, userPath(ids.nobody), 'contoso-key').body),
      /"2023-07-14T12:00:00\.250Z"/,
    );
    assert.match(String(forced(200, depositPath(ids.nobody), 'contoso-key').body), /4321\.09/);
  });
  test('is refused with a reason if the endpoint or the data have no such answer', () => {
    const refused = (mock: ReturnType<typeof testSession>, target: string) => {
      const { status, body } = mock.get(target);
      assert.equal(status, 400);
      return (JSON.parse(String(body)) as { error: string }).error;
    };
    const everyRequest = testSession({ chaos: ['404'] });
    assert.equal(refused(everyRequest, userPath(ids.member)), 'user-status has no answer 404');
    const empty = testSession({ fixture: { ...builtIn, users: [], deposits: [] } });
    empty.faults.next(200, 2);
    assert.equal(refused(empty, userPath(ids.member)), 'there is no user of the IB for a 200');
    const noDeposit = 'there is no EXECUTED deposit of the IB for a 200';
    assert.equal(refused(empty, depositPath(ids.executed)), noDeposit);
  });
  test('waits for a request to its endpoint', () => {
    const { faults, deposit, user } = testSession();
    // user-status has no 404.
    faults.next(404);
    assert.deepEqual([user(ids.member).status, deposit(ids.executed).status], [200, 404]);
    faults.next(503, 1, 'user-status');
    assert.deepEqual([deposit(ids.executed).status, user(ids.member).status], [200, 503]);
    assert.throws(() => faults.next(404, 1, 'user-status'), /user-status has no answer 404/);
  });
  test('is no poll, and not counted', () => {
    const { faults, deposit, user } = testSession();
    faults.next(404, 300);
    for (let count = 0; count < 300; count++) deposit(ids.afterPolls);
    assert.equal(deposit(ids.afterPolls).status, 404);
    faults.next(400, 100);
    for (let count = 0; count < 100; count++) user('x');
    assert.equal(user('x').status, 400);
  });
});
