import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { sampleRecord } from './testing/records.ts';
import { nextStep } from './verdict.ts';

const counts = { ...sampleRecord.counts, broken: 0 };
const rows = sampleRecord.requirements;
const stepOf = (requirements: readonly RequirementResult[], more: Partial<RunRecord> = {}) =>
  nextStep({ ...sampleRecord, counts, requirements: [...requirements], ...more });
const open = (reason: string, outcome: 'inconclusive' | 'excluded' = 'inconclusive'): RequirementResult => ({
  id: 'a/b/c',
  level: 'required',
  clause: '',
  title: '',
  cases: 0,
  outcome,
  reason,
  words: '',
});

test('what failed is replayed, the required first', () => {
  assert.deepEqual(stepOf(rows), {
    command:
      "ib-conformance verify http://127.0.0.1:4010/ --fixture f.json --only auth/user-status/missing --seed 7 --replay '3:0:1'",
  });
  const warning = rows.filter(({ outcome, level }) => outcome === 'failed' && level === 'recommended');
  assert.match(JSON.stringify(stepOf(warning)), /--only valid\/service\/json-content-type/);
});

test('a bug of ours comes before all else', () => {
  assert.match(JSON.stringify(stepOf(rows, { counts: { ...counts, broken: 1 } })), /report the bug/);
});

test('a key that is refused comes before what failed for it', () => {
  assert.match(JSON.stringify(stepOf([...rows, open('key-refused')])), /first active key of the fixture/);
});

test('what could not be judged is mended, by its reason', () => {
  assert.match(JSON.stringify(stepOf([open('budget')])), /--max-duration/);
  assert.match(JSON.stringify(stepOf([open('no-state-hook', 'excluded')])), /--state-url/);
  assert.match(JSON.stringify(stepOf([open('no-state-hook', 'excluded'), open('timeout')])), /--timeout/);
});

test('where nothing is left to do, nothing is said', () => {
  assert.equal(stepOf(rows.filter(({ outcome }) => outcome === 'passed')), undefined);
  assert.equal(stepOf([open('skipped', 'excluded'), open('black-box', 'excluded')]), undefined);
});
