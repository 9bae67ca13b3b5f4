import assert from 'node:assert/strict';
import { test } from 'node:test';
import { depositCheck, lookup, type Request } from '../request.ts';
import { createHistory, idOf } from './history.ts';
import { known } from './testing/fake-target.ts';
import { timesOf, timesWords } from './regime.ts';
import { plainLevels } from '../model/factors.ts';

const id = '0badc0de-0000-4000-8000-000000000000';

test('an id is counted with its key, whatever its spelling', () => {
  const history = createHistory(known);
  history.add(depositCheck(id), true);
  assert.deepEqual(history.add(depositCheck(id.toUpperCase()), true).nth, { id: 2, url: 1, request: 1 });
  const [, second] = known.callerKeys;
  const other = depositCheck(id, { credential: { as: 'key', key: second! } });
  assert.deepEqual(history.add(other, true).nth, { id: 1, url: 1, request: 1 });
});

test('a URL is counted alone, and with its header fields', () => {
  const history = createHistory(known);
  history.add(depositCheck(id), true);
  const other = depositCheck(id, { headers: { accept: '*/*' } });
  assert.deepEqual(history.add(other, true).nth, { id: 2, url: 2, request: 1 });
});

test('nobody knows whether the target has counted a lost request', () => {
  const history = createHistory(known);
  const { nth } = history.add(depositCheck(id), false);
  assert.deepEqual(nth, { id: undefined, url: undefined, request: undefined });
  assert.equal(history.asked(depositCheck(id)), 1);
});

test('ids that were not used for long are forgotten', () => {
  const history = createHistory(known, 6);
  const nthOf = (request: Request) => history.add(request, true).nth.id;
  const [kept, forgotten] = [depositCheck(id), depositCheck(`${id.slice(0, -1)}f`)];
  nthOf(forgotten);
  for (let nth = 1; nth < 5; nth++) {
    assert.equal(nthOf(kept), nth);
    nthOf(depositCheck(id.slice(0, -1) + nth));
  }
  assert.equal(history.asked(forgotten), 0);
  assert.equal(history.asked(kept), 4);
});

test('what is no id counts as it was sent', () => {
  assert.equal(idOf(lookup('deposit-check', 'reference_id=%zz')), '%zz');
  assert.equal(idOf(lookup('deposit-check', 'x=1')), '');
  assert.equal(idOf(lookup('deposit-check', undefined)), '');
});

test('times separate what fails from what passes, in words', () => {
  const seen = (what: string, nth: number, hasFailed: boolean) => ({
    request: depositCheck(what),
    levels: plainLevels('deposit-check'),
    nth: { id: nth, url: nth, request: nth },
    hasFailed,
  });
  const found = timesOf([seen('a', 1, false), seen('a', 2, true), seen('a', 3, true), seen('b', 5, false)]);
  assert.equal(found?.nth, 2);
  assert.equal(timesWords(found), 'history: from the second time on that an id is asked for in this run');
  assert.equal(timesOf([seen('a', 1, true), seen('a', 2, false), seen('a', 3, true)]), undefined);
  assert.equal(timesOf([seen('a', 1, true), seen('a', 2, true)]), undefined);
});
