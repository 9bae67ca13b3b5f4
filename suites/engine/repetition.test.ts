import assert from 'node:assert/strict';
import { test } from 'node:test';
import { known } from '../explain/testing/fake-target.ts';
import { depositCheck, idOf, lookup, type Request } from '../request.ts';
import { createHistory } from './repetition.ts';

const id = '0badc0de-0000-4000-8000-000000000000';

test('an id is counted with its key, whatever its spelling; a request alone', () => {
  const history = createHistory(known);
  assert.equal(history.add(depositCheck(id)), 1);
  assert.equal(history.add(depositCheck(id.toUpperCase())), 2);
  assert.equal(history.of(depositCheck(id.toUpperCase())).times, 1);
  const [, second] = known.callerKeys;
  const other = depositCheck(id, { credential: { as: 'key', key: second! } });
  assert.equal(history.add(other), 1);
  assert.equal(history.asked(depositCheck(id)), 2);
});

test('the first key of the caller is the same key, by whatever name', () => {
  const history = createHistory(known);
  history.add(depositCheck(id));
  const named = depositCheck(id, { credential: { as: 'key', key: known.callerKeys[0]! } });
  assert.equal(history.of(named).times, 1);
});

test('other header fields, and another state of the target, make another request', () => {
  const history = createHistory(known);
  history.of(depositCheck(id)).wasRight = true;
  assert.equal(history.of(depositCheck(id, { headers: { accept: '*/*' } })).wasRight, false);
  assert.equal(history.of(depositCheck(id), 'executed').wasRight, false);
  assert.equal(history.of(depositCheck(id)).wasRight, true);
});

test('ids that were not used for long are forgotten', () => {
  const history = createHistory(known, 6);
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
