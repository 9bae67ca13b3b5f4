import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Failed } from '../schemas/generated/types.ts';
import { findingOf } from './failure.ts';
import { sampleFailure, sampleRecord } from './testing/records.ts';
import { conditionOf, triedWords } from './when.ts';

const failing = (where: readonly string[], more: Partial<Failed> = {}): Failed => ({
  ...sampleFailure,
  id: 'foreign-ib/deposit-check/other-ib',
  where: [...where],
  ...more,
});

for (const [where, words] of [
  [
    ['id spelling: upper case', "situation: another partner's EXECUTED"],
    "the id is in upper case and the deposit is another IB's and EXECUTED",
  ],
  [['id spelling: upper case or mixed case'], 'the id has a capital letter'],
  [['value: has "{"'], 'the value has "{"'],
  [['3 of 5 keys or their forms'], 'it is one of 3 keys, or forms of a key, of 5 (compare them)'],
  [
    ["situation: another partner's EXECUTED or third partner's EXECUTED"],
    "the deposit is another IB's (EXECUTED) or a third IB's (EXECUTED)",
  ],
  [['situation: own pending or own failed'], "the deposit is the caller's (pending or failed)"],
  [
    [
      "situation: another partner's EXECUTED or another partner's pending or another partner's failed or third partner's EXECUTED",
    ],
    "the deposit is another IB's or a third IB's (EXECUTED)",
  ],
  [['key: none', '4 of 16 ids'], 'the key is missing and the lookup is for 4 of 16 ids'],
  [['key: none or revoked'], 'the key is missing or revoked'],
  [["key: contoso's", 'situation: unknown'], "the key is contoso's and the deposit is unknown"],
  [['situation: other than own EXECUTED'], "the deposit is other than the caller's and EXECUTED"],
  [['header: in a cookie or in the body'], 'the key is sent in a cookie or in the body'],
  [['header: other than Bearer'], 'the key is sent other than as usual'],
  [
    ['malformation: text before or after or a part of one'],
    'the form of the id is "text before or after" or "a part of one"',
  ],
  [['fields: other than as usual'], 'the request has other than the usual fields'],
  [['data: whole amount'], 'the deposit has a whole amount'],
  [['malformation: other than none'], 'the id is malformed'],
  [['colour: red'], 'colour is red'],
  [['repetition: three times'], 'the same lookup is sent three times'],
  [['meanwhile: 15 other lookups are sent'], 'at the same time, 15 other lookups are sent'],
] as const)
  test(`when ${words}`, () => assert.equal(conditionOf(failing(where)), words));

test('only a short report cuts a long list of levels', () => {
  const result = failing(['malformation: text before or after or 8 KiB or no hyphens or urn:uuid:']);
  const start = 'the form of the id is';
  assert.equal(conditionOf(result), `${start} "text before or after", "8 KiB", "no hyphens" or "urn:uuid:"`);
  assert.equal(conditionOf(result, true), `${start} "text before or after", "8 KiB" or one of 2 more`);
});

test('the situation of user-status is about a user, and no condition has no words', () => {
  const where = ["situation: another partner's"];
  assert.equal(
    conditionOf(failing(where, { id: 'foreign-ib/user-status/other-ib' })),
    "the user is another IB's",
  );
  const strangers = ["situation: another partner's or third partner's or no partner"];
  assert.equal(
    conditionOf(failing(strangers, { id: 'foreign-ib/user-status/other-ib' })),
    'the user is not a member',
  );
  assert.equal(conditionOf(failing([])), undefined);
});

test('new lookups with and without each condition are counted, and a long condition is not repeated', () => {
  const long = 'malformation: a or b or c or d';
  const separation = {
    with: { failed: 6, of: 6 },
    without: [{ condition: long, failed: 0, of: 7 }] as const,
    ids: { failing: ['a1'], passing: ['b2'] },
  };
  const tried = (where: readonly string[]) =>
    triedWords(failing(where, { separation: { ...separation, without: [...separation.without] } }));
  assert.equal(tried([long]), '6 of 6 new lookups failed; otherwise 0 of 7');
  assert.equal(tried([long, '1 of 2 ids']), '6 of 6 new lookups failed; with another malformation 0 of 7');
  assert.equal(triedWords(failing([])), undefined);
});

test('on the console, values that fail stand beside those that pass', () => {
  const ids = { failing: ['a1 (2024-02-29T00:00:00.000Z, 5 USD)', 'a2'], passing: ['b1'] };
  const first = failing(['2 of 3 ids'], { separation: { ids } });
  const { facts } = findingOf(sampleRecord, { first, rest: [] }, 'report.html');
  const textOf = (label: string) =>
    facts.flatMap((one) => ('label' in one && one.label === label ? [one.text] : []));
  assert.deepEqual(textOf('failing'), ['a1 (2024-02-29T00:00:00.000Z, 5 USD); a2']);
  assert.deepEqual(textOf('passing'), ['b1']);
  assert.deepEqual(textOf('tried'), []);
});
