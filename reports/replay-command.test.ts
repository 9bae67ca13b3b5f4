import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Inconclusive } from '../schemas/generated/types.ts';
import { sampleRecord } from './testing/records.ts';
import { replayCommand } from './verdict.ts';

const record = { ...sampleRecord, seed: 9, rerun: 'ib-conformance verify' };
const result: Inconclusive = {
  id: 'a/b/c',
  level: 'required',
  clause: '',
  title: '',
  cases: 1,
  outcome: 'inconclusive',
  reason: 'flaky',
  words: '',
};

test('a replay names the requirement, the seed and the path', () => {
  assert.equal(
    replayCommand(record, { ...result, replay: { seed: 7, path: '3:0' } }),
    "ib-conformance verify --only a/b/c --seed 7 --replay '3:0'",
  );
});

test('without a path the requirement is run again with the seed of the run', () => {
  assert.equal(replayCommand(record, result), 'ib-conformance verify --only a/b/c --seed 9');
});

test('without the command of the run there is none', () => {
  const { rerun: _, ...rest } = record;
  assert.equal(replayCommand(rest, result), undefined);
});

test('words that a shell would act on are quoted', () => {
  assert.equal(
    replayCommand(record, { ...result, id: '$(x)', replay: { seed: 7, path: "'; rm" } }),
    `ib-conformance verify --only '$(x)' --seed 7 --replay ''\\''; rm'`,
  );
});
