import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NOT_SENT } from '../answer.ts';
import { catalogue, table } from '../requirements/catalogue.ts';
import { afterChange, type Present } from '../known.ts';
import { plainLevels } from '../plan/factors.ts';
import { depositCheck, lookup, userStatus } from '../request.ts';
import { isLookupRow, type Levels } from '../rules/requirement.ts';
import { answerOf, sampleKnown as known } from '../testing/samples.ts';
import { lookupAt, pathOf } from '../plan/lookup.ts';
import { addMissing } from './missing.ts';
import { addAnswer, createTally, failuresOf, failureToExplain, type Tally } from './tally.ts';
import { judgementOf } from './judgement.ts';

const rows = catalogue.filter(isLookupRow);
const rowOf = (id: string) => rows.find((row) => row.id === id)!;
const tally = () => createTally(rows, known, table);

const id = [...known.userById.keys()][0]!;
const plain = userStatus(id);
const upper = userStatus(id.toUpperCase());
const isMember = answerOf(200, '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}');
const isNoMember = answerOf(200, '{"is_under_ib":false,"date_joined":null}');
const refused = answerOf(401, { error: 'Unauthorized' });
const lookupWith = (levels: Partial<Levels>) =>
  lookupAt('user-status', { ...plainLevels('user-status'), ...levels }, { draw: 0 }, { known, seed: 1 });

/** The outcome of a requirement: failed, passed, or the reason why it is inconclusive. */
function outcome(one: Tally, name: string, keyWorks: boolean | undefined = true, isCut = false): string {
  const { verdict } = judgementOf(one, rowOf(name), keyWorks, isCut);
  return verdict.kind === 'inconclusive' ? verdict.reason : verdict.kind;
}

test('a deposit that is already EXECUTED shows nothing about pending ones, until one is hidden', () => {
  const one = tally();
  const row = 'pending/deposit-check/pending';
  const becoming = depositCheck(known.becoming[0]!.reference_id);
  addAnswer(one, becoming, answerOf(200, { status: 'EXECUTED', amountInUsd: 10, executedAt: 1.7e12 }));
  const outcomes = [outcome(one, row), outcome(one, 'valid/deposit-check/executed')];
  assert.deepEqual(outcomes, ['fixture-outdated', 'passed']);
  addAnswer(one, depositCheck(known.pending[0]!.reference_id), answerOf(404, { error: 'Deposit not found' }));
  assert.equal(outcome(one, row), 'passed');
});

test('every answer is judged by every rule that covers it', () => {
  const one = tally();
  addAnswer(one, plain, answerOf(200, '{"is_under_ib":true,"date_joined":"2024-02-28T23:59:59.999Z","x":1}'));
  for (const [name, expected] of Object.entries({
    'valid/user-status/member': 'passed',
    'valid/user-status/date-joined': 'failed',
    'valid/user-status/date-joined-format': 'passed',
    'valid/user-status/shape': 'failed',
    'valid/user-status/uuid-case': 'depends',
    'valid/deposit-check/executed': 'depends',
  }))
    assert.equal(outcome(one, name), expected, name);
  assert.equal(outcome(one, 'valid/deposit-check/executed', true, true), 'budget');
});

test('a line feed behind an id belongs to another notation if other white space is accepted too', () => {
  const one = tally();
  const [malformed, another] = ['malformed', 'alternative-spelling'].map(
    (name) => `invalid-uuid/user-status/${name}`,
  );
  const outcomes = () => [malformed!, another!].map((name) => outcome(one, name));
  addAnswer(one, userStatus(`${id}\n`), isMember);
  addAnswer(one, userStatus(`{${id}}`), isMember);
  assert.deepEqual(outcomes(), ['failed', 'failed']);
  addAnswer(one, userStatus(` ${id}`), isMember);
  assert.deepEqual(outcomes(), ['passed', 'failed']);
  addAnswer(one, userStatus(`${id}x`), isMember);
  assert.deepEqual(outcomes(), ['failed', 'failed']);
});

test('429 and requests outside the interface are not judged', () => {
  const one = tally();
  for (const [request, answer] of [
    [plain, answerOf(429, {})],
    [lookup('user-status', `user_id=${id}&user_id=${id}`), isNoMember],
  ] as const)
    assert.deepEqual(addAnswer(one, request, answer), []);
  assert.equal(outcome(one, 'valid/user-status/member'), 'depends');
});

describe('a change by a state hook', () => {
  const [pending] = known.pending;
  const request = depositCheck(pending!.reference_id);
  const hidden = answerOf(404, { error: 'Deposit not found' });
  const becomesExecuted = (one: Tally, state: Present['state']) => {
    const deposit = { ...pending!, state: 'EXECUTED', amountInUsd: 5, executedAt: 1.7e12 } as const;
    const change = { state: 'deposit executed', deposit } as const;
    Object.assign(one.present, { state, known: afterChange(change, known) });
  };

  test('no row judges answers while it is under way', () => {
    const one = tally();
    becomesExecuted(one, 'changing');
    assert.deepEqual(addAnswer(one, request, answerOf(500, {})), []);
  });

  test('the new state is right once it is due; what fails then is not asked again, nor called a repetition', () => {
    const one = tally();
    addAnswer(one, request, hidden);
    becomesExecuted(one, 'changed');
    addAnswer(one, request, answerOf(200, { status: 'EXECUTED', amountInUsd: 5, executedAt: 1.7e12 }));
    assert.equal(outcome(one, 'valid/deposit-check/amount'), 'passed');
    addAnswer(one, depositCheck(pending!.reference_id.toUpperCase()), hidden);
    const row = rowOf('valid/deposit-check/uuid-case');
    assert.equal(outcome(one, row.id), 'failed');
    assert.equal(failuresOf(one, row)[0]?.isUndone, true);
    assert.equal(failureToExplain(one, row, true), undefined);
    const other = tally();
    addAnswer(other, request, hidden);
    becomesExecuted(other, 'changed');
    addAnswer(other, request, hidden);
    assert.equal(outcome(other, 'valid/deposit-check/executed'), 'failed');
    assert.notEqual(outcome(other, 'valid/deposit-check/repeatable'), 'failed');
  });
});

test('a deposit that becomes EXECUTED by itself may change its answer', () => {
  const one = tally();
  const becoming = depositCheck(known.becoming[0]!.reference_id);
  addAnswer(one, becoming, answerOf(404, { error: 'Deposit not found' }));
  addAnswer(one, becoming, answerOf(200, { status: 'executed' }));
  assert.equal(outcome(one, 'valid/deposit-check/repeatable'), 'depends');
  assert.equal(outcome(one, 'valid/deposit-check/executed'), 'failed');
});

test('a failure names the key that was sent', () => {
  for (const [nth, level] of [
    [0, 'first'],
    [1, 'second'],
  ] as const) {
    const one = tally();
    const request = userStatus(id, { credential: { as: 'key', key: known.callerKeys[nth]! } });
    addAnswer(one, request, isNoMember, lookupWith({}));
    const [failure] = failuresOf(one, rowOf('valid/user-status/member'));
    assert.equal(failure?.lookup?.levels['active key'], level);
  }
});

test('a refusal of the key under test is explained only if the key works', () => {
  const one = tally();
  const row = rowOf('valid/user-status/member');
  addAnswer(one, plain, answerOf(401, { error: 'Unauthorized' }), lookupWith({}));
  assert.equal(failureToExplain(one, row, true)?.verdict.aspect, 'status');
  assert.equal(failureToExplain(one, row, false), undefined);
});

describe('a repeated lookup', () => {
  const outcomes = (one: Tally) =>
    ['valid/user-status/member', 'valid/user-status/repeatable'].map((name) => outcome(one, name));
  for (const [name, answers, ofMember, ofRepeated] of [
    ['right each time', [isMember, isMember], 'passed', 'passed'],
    ['wrong from the second time on', [isMember, isNoMember], 'passed', 'failed'],
    ['wrong each time', [isNoMember, isNoMember], 'failed', 'depends'],
    ['right the second time', [isNoMember, isMember], 'failed', 'depends'],
  ] as const)
    test(name, () => {
      const one = tally();
      for (const answer of answers) addAnswer(one, plain, answer);
      assert.deepEqual(outcomes(one), [ofMember, ofRepeated]);
    });
  test('that confirms a failure does not change the outcome', () => {
    const one = tally();
    addAnswer(one, plain, isMember);
    addAnswer(one, plain, isNoMember, undefined, true);
    assert.deepEqual(outcomes(one), ['passed', 'depends']);
  });
});

test('a rule about a spelling fails only if the plain spelling does not fail alike', () => {
  const one = tally();
  addAnswer(one, upper, isNoMember, lookupWith({ 'id spelling': 'upper case' }));
  assert.equal(outcome(one, 'valid/user-status/uuid-case'), 'failed');
  addAnswer(one, plain, isNoMember, lookupWith({}));
  assert.equal(outcome(one, 'valid/user-status/member'), 'failed');
  assert.notEqual(outcome(one, 'valid/user-status/uuid-case'), 'failed');
});

test('the plainest failing lookup is shown, whatever was first', () => {
  const one = tally();
  for (const levels of [
    { query: 'extra parameter before', data: 'whole seconds' },
    { query: 'extra parameter before' },
    {},
  ] as const)
    addAnswer(one, plain, isNoMember, lookupWith(levels));
  assert.deepEqual(
    failuresOf(one, rowOf('valid/user-status/member')).map((failure) => pathOf(failure.lookup!)),
    [
      'user-status;@0',
      'user-status;query=extra parameter before@0',
      'user-status;data=whole seconds,query=extra parameter before@0',
    ],
  );
});

test('401 for the key under test fails the rules that prove the key; if it never works, no others', () => {
  const one = tally();
  addAnswer(one, plain, refused);
  addAnswer(one, userStatus('0badc0de-0000-4000-8000-000000000000'), refused);
  assert.equal(outcome(one, 'valid/user-status/member', false), 'failed');
  assert.equal(outcome(one, 'foreign-ib/user-status/unknown', false), 'key-refused');
  assert.equal(outcome(one, 'foreign-ib/user-status/unknown', true), 'failed');
});

describe('a lookup without an answer', () => {
  const trouble = { kind: 'trouble', code: 'timeout', words: 'no answer' } as const;
  const hostile = lookup('deposit-check', 'reference_id=%zz');
  const name = 'invalid-uuid/deposit-check/hostile';
  test('makes a requirement inconclusive, even if another lookup is answered', () => {
    const one = tally();
    addMissing(one, plain, trouble);
    addAnswer(one, userStatus('x'), answerOf(400, { error: 'Invalid user_id format' }));
    assert.equal(outcome(one, 'valid/user-status/member'), 'timeout');
  });
  test('says how it was lost, also if another was not sent before', () => {
    const one = tally();
    addMissing(one, plain, { ...trouble, code: 'outage', words: NOT_SENT });
    assert.equal(outcome(one, 'valid/user-status/member'), 'outage');
    for (const reply of [trouble, { ...trouble, code: 'outage', words: NOT_SENT } as const]) {
      addMissing(one, plain, reply);
      assert.equal(outcome(one, 'valid/user-status/member'), 'timeout');
    }
  });
  test('that is hostile fails if the target still answers others', () => {
    const one = tally();
    addMissing(one, hostile, trouble);
    assert.equal(outcome(one, name), 'timeout');
    addAnswer(one, depositCheck(id), answerOf(404, { error: 'Deposit not found' }));
    assert.equal(outcome(one, name), 'failed');
  });
  test('that is hostile does not fail if it was not sent', () => {
    const one = tally();
    addMissing(one, hostile, { ...trouble, code: 'outage', words: NOT_SENT });
    addAnswer(one, depositCheck(id), answerOf(404, { error: 'Deposit not found' }));
    assert.equal(outcome(one, name), 'outage');
  });
});
