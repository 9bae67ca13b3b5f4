import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import validateRunRecord from '../../schemas/generated/run-record.cjs';
import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import { lookupOfPath } from '../plan/lookup.ts';
import { scenario } from '../rules/requirement.ts';
import { sampleKnown as known } from '../testing/samples.ts';
import { failed, pass } from '../rules/verdict.ts';
import {
  countOutcomes,
  createDescriber,
  makeRecord,
  verdictOf,
  type Figures,
  type Result,
} from './record.ts';

/** The record of a run with one requirement with this result. */
function recordOf(result: Result, figures: Partial<Figures> = {}) {
  const subject = { level: 'required', clause: '', title: '' } as const;
  const requirement = scenario({
    ...subject,
    id: 'valid/user-status/x',
    endpoint: 'user-status',
    run: assert.fail,
  });
  const options = { target: 'http://here', known, seed: 1, cases: 100, version: 'test' };
  const list = [createDescriber(options, 0)(requirement, result)];
  const all: Figures = {
    startedAt: 0,
    durationMs: 1,
    requests: 1,
    rateLimited: { answers: 0, waitedMs: 0, endpoints: [] },
    keyWorks: true,
    interrupted: false,
    strength: 2,
    coverage: { levels: [9, 9], pairs: [2, 2], triples: [1, 3], missing: [] },
    ...figures,
  };
  const record = makeRecord(options, list, all);
  assert.ok(validateRunRecord(record), JSON.stringify(validateRunRecord.errors));
  return record;
}

test('a failure says when and how often it fails, and how to replay it', () => {
  const key = known.everyKey[0]!;
  const result: Result = {
    verdict: failed('status', '200', `404 ${key.key}`),
    cases: 9,
    lookup: lookupOfPath('user-status;situation=unknown@4', known, 1),
    where: ['situation: own'],
    intermittent: { failed: 3, of: 11 },
  };
  const [row] = recordOf(result).requirements;
  assert.ok(row?.outcome === 'failed');
  assert.deepEqual(row.where, ['situation: own']);
  assert.deepEqual(row.intermittent, { failed: 3, of: 11 });
  assert.deepEqual(row.replay, { seed: 1, path: 'user-status;situation=unknown@4' });
  assert.equal(row.actual, `404 ${key.name}`);
});

test('a record says what was covered and what limited the run', () => {
  const whole = recordOf({ verdict: pass, cases: 1 });
  assert.deepEqual([whole.strength, whole.coverage?.triples, whole.notes], [2, [1, 3], []]);
  const short = recordOf({ verdict: pass, cases: 1 }, { strength: 0 });
  assert.deepEqual([short.strength, short.verdict], [0, 'conformant']);
  const notes: readonly (readonly [Partial<Figures>, RegExp])[] = [
    [{ keyWorks: false }, /^The target answers every request with <key northwind\/active> with 401/],
    [{ interrupted: true, interruptedBy: 'SIGINT' }, /^Interrupted by SIGINT\.$/],
  ];
  for (const [figures, note] of notes) {
    const record = recordOf({ verdict: pass, cases: 1 }, figures);
    assert.equal(record.notes.length, 1);
    assert.match(record.notes[0]!, note);
  }
});

type Level = RequirementResult['level'];
type Outcome = RequirementResult['outcome'];
const levels: readonly Level[] = ['required', 'recommended', 'observed'];
const outcomes: readonly Outcome[] = ['passed', 'failed', 'inconclusive', 'observed', 'excluded', 'broken'];

const row = (level: Level, outcome: Outcome) => ({ id: '', level, outcome }) as RequirementResult;
const rows = (...pairs: readonly (readonly [Level, Outcome])[]) =>
  pairs.map(([level, outcome]) => row(level, outcome));
const [open, failure] = [['required', 'inconclusive'] as const, ['required', 'failed'] as const];
const whole = { interrupted: false };

describe('the verdict', () => {
  /** The effect of one row on a run in which a required requirement passed. */
  const beside = (level: Level, outcome: Outcome) => {
    if (outcome === 'broken') return 'incomplete';
    if (level !== 'required') return 'conformant';
    return outcome === 'failed' ? 'nonconformant' : outcome === 'inconclusive' ? 'incomplete' : 'conformant';
  };
  for (const level of levels)
    for (const outcome of outcomes)
      test(`beside a required requirement that passed, a ${level} one: ${outcome}`, () => {
        const list = rows(['required', 'passed'], [level, outcome]);
        assert.equal(verdictOf(list, whole), beside(level, outcome));
        assert.equal(verdictOf(list.toReversed(), whole), beside(level, outcome));
      });

  const others: Readonly<Record<string, readonly [ReturnType<typeof rows>, RunRecord['verdict']]>> = {
    'nothing at all': [[], 'incomplete'],
    'everything excluded': [rows(['required', 'excluded'], ['recommended', 'excluded']), 'incomplete'],
    'nothing but observations': [rows(['observed', 'observed']), 'incomplete'],
    'a recommended one that passed, alone': [rows(['recommended', 'passed']), 'incomplete'],
    'a recommended one that failed, alone': [rows(['recommended', 'failed']), 'incomplete'],
    'a failure, and an inconclusive one': [rows(open, failure), 'nonconformant'],
    'a failure, and a bug of ours': [rows(['required', 'broken'], failure), 'nonconformant'],
    'a failure, and nothing that passed': [rows(failure), 'nonconformant'],
    'a recommended failure, and an inconclusive one': [rows(['recommended', 'failed'], open), 'incomplete'],
  };
  for (const [name, [list, expected]] of Object.entries(others))
    test(`${name}: ${expected}`, () => assert.equal(verdictOf(list, whole), expected));

  test('an interrupted run is not conformant, whatever passed', () => {
    const end = { interrupted: true };
    assert.equal(verdictOf(rows(['required', 'passed']), end), 'incomplete');
    assert.equal(verdictOf(rows(['required', 'passed'], ['required', 'failed']), end), 'nonconformant');
  });
});

test('outcomes are counted by level, each row once', () => {
  const list = levels.flatMap((level, nth) =>
    outcomes.flatMap((outcome, mth) => Array.from({ length: 1 + nth * 10 + mth }, () => row(level, outcome))),
  );
  assert.deepEqual(countOutcomes(list), {
    required: { passed: 1, failed: 2, inconclusive: 3 },
    recommended: { passed: 11, failed: 12, inconclusive: 13 },
    observed: 21 + 22 + 23 + 24,
    excluded: 5 + 15 + 25,
    broken: 6 + 16 + 26,
  });
});
