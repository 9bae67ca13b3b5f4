import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Level, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { compare, type ChangeKind, type Tendency } from './diff.ts';
import { anyPair, hostileText, sampleRecord } from './testing/records.ts';

type Outcome = RequirementResult['outcome'];

const runOf = (outcome: Outcome | undefined, level: Level): RunRecord => ({
  ...sampleRecord,
  requirements:
    outcome === undefined ? [] : [{ id: 'a/b/c', level, outcome } as unknown as RequirementResult],
});

type Row = readonly [
  level: Level,
  before: Outcome | undefined,
  after: Outcome | undefined,
  kind: ChangeKind,
  tendency: Tendency,
];

const rows: readonly Row[] = [
  ['required', 'passed', 'passed', 'unchanged', 'no regression'],
  ['required', 'passed', 'failed', 'newlyFailing', 'regression'],
  ['required', 'passed', 'inconclusive', 'noLongerVerified', 'less verified'],
  ['required', 'passed', 'excluded', 'noLongerVerified', 'less verified'],
  ['required', 'passed', 'broken', 'noLongerVerified', 'less verified'],
  ['required', 'passed', 'observed', 'noLongerVerified', 'less verified'],
  ['required', 'passed', undefined, 'removed', 'less verified'],
  ['required', 'failed', 'passed', 'fixed', 'no regression'],
  ['required', 'failed', 'failed', 'stillFailing', 'no regression'],
  ['required', 'failed', 'inconclusive', 'noLongerVerified', 'no regression'],
  ['required', 'failed', undefined, 'removed', 'no regression'],
  ['required', 'inconclusive', 'passed', 'newlyVerified', 'no regression'],
  ['required', 'inconclusive', 'failed', 'newlyFailing', 'no regression'],
  ['required', 'inconclusive', 'excluded', 'unchanged', 'no regression'],
  ['required', undefined, 'failed', 'added', 'no regression'],
  ['recommended', 'passed', 'failed', 'newlyFailing', 'no regression'],
  ['recommended', 'passed', 'inconclusive', 'noLongerVerified', 'no regression'],
  ['observed', 'observed', 'observed', 'unchanged', 'no regression'],
  ['observed', 'observed', 'inconclusive', 'noLongerVerified', 'no regression'],
  ['observed', 'excluded', 'observed', 'newlyVerified', 'no regression'],
  ['observed', 'broken', 'failed', 'newlyFailing', 'no regression'],
];

for (const [level, before, after, kind, tendency] of rows)
  test(`${level}, ${before ?? 'missing'} → ${after ?? 'missing'}: ${kind}, ${tendency}`, () => {
    const comparison = compare(runOf(before, level), runOf(after, level));
    assert.deepEqual(
      comparison.changes.map((change) => change.kind),
      [kind],
    );
    assert.equal(comparison.tendency, tendency);
  });

test('the level of the second run counts', () => {
  assert.equal(
    compare(runOf('passed', 'required'), runOf('failed', 'recommended')).tendency,
    'no regression',
  );
  assert.equal(compare(runOf('passed', 'recommended'), runOf('failed', 'required')).tendency, 'regression');
});

test('every requirement of both runs is listed once, with both results', () => {
  fc.assert(
    fc.property(anyPair(hostileText), ([before, after]) => {
      const { changes } = compare(before, after);
      const ids = new Set([...before.requirements, ...after.requirements].map(({ id }) => id));
      assert.equal(changes.length, ids.size);
      assert.deepEqual(new Set(changes.map(({ id }) => id)), ids);
      const results = (side: 'before' | 'after') => changes.flatMap((change) => change[side] ?? []);
      assert.deepEqual(new Set(results('before')), new Set(before.requirements));
      assert.deepEqual(results('after'), after.requirements);
    }),
  );
});

test('differences of the runs themselves are reported', () => {
  const other = {
    ...sampleRecord,
    target: 'http://other/',
    partner: 'contoso',
    version: '9',
    cases: 3,
    seed: 1,
    interrupted: true,
    selection: { whole: false, skip: [] },
  };
  assert.equal(compare(sampleRecord, other).caveats.length, 7);
});
