import assert from 'node:assert/strict';
import { test } from 'node:test';
import { known } from '../explain/testing/fake-target.ts';
import { depositCheck, idOf, lookup, type Request } from '../request.ts';
import { createHistory } from './repetition.ts';

const id = '0badc0de-0000-4000-8000-000000000000';

test('an id is counted with its key, whatever its spelling', () => {
  const history = createHistory(known);
  assert.equal(history.add(depositCheck(id)), 1);
  assert.equal(history.add(depositCheck(id.toUpperCase())), 2);
  const [, second] = known.callerKeys;
  const other = depositCheck(id, { credential: { as: 'key', key: second! } });
  assert.equal(history.add(other), 1);
  assert.equal(history.asked(depositCheck(id)), 2);
});

test('the first key of the caller is the same key, by whatever name', () => {
  const history = createHistory(known);
  const named = depositCheck(id, { credential: { as: 'key', key: known.callerKeys[0]! } });
  assert.equal(history.add(depositCheck(id)), 1);
  assert.equal(history.add(named), 2);
  assert.equal(history.wasRight(depositCheck(id), true), false);
  assert.equal(history.wasRight(named, false), true);
});

test('other header fields, and another state of the target, make another request', () => {
  const history = createHistory(known);
  const wasRight = (request: Request, state?: string) => history.wasRight(request, false, state);
  history.wasRight(depositCheck(id), true);
  assert.equal(wasRight(depositCheck(id, { headers: { accept: '*/*' } })), false);
  assert.equal(wasRight(depositCheck(id), 'executed'), false);
  // A wrong answer between does not change that one was right.
  assert.deepEqual([wasRight(depositCheck(id)), wasRight(depositCheck(id))], [true, true]);
});

test('ids that were not used for long are forgotten', () => {
  const history = createHistory(known, 3);
  const [kept, forgotten] = [depositCheck(id), depositCheck(`${id.slice(0, -1)}f`)];
  const add = (request: Request) => history.add(request);
  add(forgotten);
  for (let nth = 1; nth < 8; nth++) {
    assert.equal(add(kept), nth);
    add(depositCheck(id.slice(0, -1) + nth));
  }
  assert.equal(history.asked(forgotten), 0);
  assert.equal(history.asked(kept), 7);
});

test('what is no id counts as it was sent', () => {
  assert.equal(idOf(lookup('deposit-check', 'reference_id=%zz')), '%zz');
  assert.equal(idOf(lookup('deposit-check', 'x=1')), '');
  assert.equal(idOf(lookup('deposit-check', undefined)), '');
});
