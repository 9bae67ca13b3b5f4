import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleRecord } from '../sample-record.ts';
import { failedGroups, openGroups, type Group } from './groups.ts';

const { requirements } = sampleRecord;
const drawn = (groups: readonly Group[]) =>
  groups.map(({ title, rows, remark }) => [title, ...rows.map((row) => `${row.id}|${remark(row)}`)]);

test('failures that make the verdict come first', () => {
  assert.deepEqual(drawn(failedGroups(requirements)), [
    ['', 'auth/user-status/missing|differs in message', 'auth/deposit-check/revoked|differs in status'],
    ['Not required: these only warn', 'valid/service/json-content-type|differs in media type'],
  ]);
  assert.deepEqual(failedGroups([]), []);
});

test('what nothing is known of stands under its reason', () => {
  assert.deepEqual(drawn(openGroups(requirements)).slice(-2), [
    ['no-state-hook: needs --state-url', 'auth/user-status/revocation|'],
    [
      'skipped: left out by --skip',
      'rate-limit/user-status/failed-lookups|',
      'rate-limit/user-status/window|',
    ],
  ]);
});

test('where words differ, each says its own', () => {
  const [first, second] = requirements.filter(({ outcome }) => outcome === 'inconclusive');
  const rows = [
    { ...first!, reason: 'depends', words: 'see a' },
    { ...second!, reason: 'depends', words: 'see b' },
  ] as typeof requirements;
  assert.deepEqual(drawn(openGroups(rows)), [['depends', `${first!.id}|see a`, `${second!.id}|see b`]]);
});

test('nobody is left out: a row failed, broke, passed, was observed, or is open', () => {
  const known = requirements.filter(
    ({ outcome, level }) =>
      ['failed', 'broken', 'passed'].includes(outcome) || (outcome === 'observed' && level === 'observed'),
  );
  const open = openGroups(requirements).flatMap(({ rows }) => rows);
  assert.equal(known.length + open.length, requirements.length);
});
