import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import { countOutcomes, verdictOf } from './verdict-of-run.ts';

type Level = RequirementResult['level'];
type Outcome = RequirementResult['outcome'];
const levels: readonly Level[] = ['required', 'recommended', 'observed'];
const outcomes: readonly Outcome[] = ['passed', 'failed', 'inconclusive', 'observed', 'excluded', 'broken'];

/** Only level and outcome count. */
const row = (level: Level, outcome: Outcome) =>
  ({
    id: `valid/service/${level}-${outcome}`,
    level,
    clause: '',
    title: '',
    cases: 0,
    outcome,
  }) as RequirementResult;
/** A run that came to its end. */
const whole = { interrupted: false };

const rows = (...pairs: readonly (readonly [Level, Outcome])[]) =>
  pairs.map(([level, outcome]) => row(level, outcome));

/** What one row does to a run in which a required requirement passed. */
const beside: Readonly<Record<Level, Readonly<Record<Outcome, RunRecord['verdict']>>>> = {
  required: {
    passed: 'conformant',
    failed: 'nonconformant',
    inconclusive: 'incomplete',
    observed: 'conformant',
    excluded: 'conformant',
    broken: 'incomplete',
  },
  recommended: {
    passed: 'conformant',
    failed: 'conformant',
    inconclusive: 'conformant',
    observed: 'conformant',
    excluded: 'conformant',
    broken: 'incomplete',
  },
  observed: {
    passed: 'conformant',
    failed: 'conformant',
    inconclusive: 'conformant',
    observed: 'conformant',
    excluded: 'conformant',
    broken: 'incomplete',
  },
};

describe('beside a required requirement that passed', () => {
  for (const level of levels)
    for (const outcome of outcomes)
      test(`a ${level} one, ${outcome}: ${beside[level][outcome]}`, () => {
        const list = rows(['required', 'passed'], [level, outcome]);
        assert.equal(verdictOf(list, whole), beside[level][outcome]);
        assert.equal(verdictOf(list.toReversed(), whole), beside[level][outcome]);
      });
});

/** Runs in which no required requirement passed, and combinations. */
const others: Readonly<Record<string, readonly [ReturnType<typeof rows>, RunRecord['verdict']]>> = {
  'nothing at all': [[], 'incomplete'],
  'everything excluded': [rows(['required', 'excluded'], ['recommended', 'excluded']), 'incomplete'],
  'nothing but observations': [rows(['observed', 'observed']), 'incomplete'],
  'a recommended one that passed, alone': [rows(['recommended', 'passed']), 'conformant'],
  'a failure, and one that could not be told': [
    rows(['required', 'inconclusive'], ['required', 'failed']),
    'nonconformant',
  ],
  'a failure, and a bug of ours': [rows(['required', 'broken'], ['required', 'failed']), 'nonconformant'],
  'a failure, and nothing that passed': [rows(['required', 'failed']), 'nonconformant'],
  'a recommended failure, and one that could not be told': [
    rows(['recommended', 'failed'], ['required', 'inconclusive']),
    'incomplete',
  ],
};

test('a run that did not come to its end is not conformant, whatever passed', () => {
  assert.equal(verdictOf(rows(['required', 'passed']), { interrupted: true }), 'incomplete');
  assert.equal(
    verdictOf(rows(['required', 'passed'], ['required', 'failed']), { interrupted: true }),
    'nonconformant',
  );
});

test('a whole run that stays below the strength that it needs is not conformant', () => {
  const list = rows(['required', 'passed']);
  const all = { whole: true, skip: [] };
  for (const [run, expected] of [
    [{ strength: 1, minStrength: 2, selection: all }, 'incomplete'],
    [{ strength: 2, minStrength: 2, selection: all }, 'conformant'],
    [{ strength: 0, minStrength: 1, selection: { whole: false, skip: [] } }, 'conformant'],
    [
      { strength: 0, minStrength: 1, selection: { whole: true, skip: ['valid/user-status/member'] } },
      'conformant',
    ],
  ] as const)
    assert.equal(
      verdictOf(list, { ...whole, ...run, selection: { ...run.selection, skip: [...run.selection.skip] } }),
      expected,
    );
});

describe('other runs', () => {
  for (const [name, [list, expected]] of Object.entries(others))
    test(`${name}: ${expected}`, () => assert.equal(verdictOf(list, whole), expected));
});

const anyRow = fc
  .tuple(fc.constantFrom(...levels), fc.constantFrom(...outcomes))
  .map(([level, outcome]) => row(level, outcome));

test('conformant never hides a required failure, a gap, a bug or an empty run', () => {
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 6 }), (list) => {
      const has = (outcome: Outcome, level: Level) =>
        list.some((one) => one.outcome === outcome && one.level === level);
      if (has('failed', 'required')) assert.equal(verdictOf(list, whole), 'nonconformant');
      else assert.notEqual(verdictOf(list, whole), 'nonconformant');
      if (
        has('inconclusive', 'required') ||
        list.some(({ outcome }) => outcome === 'broken') ||
        list.length === 0
      )
        assert.notEqual(verdictOf(list, whole), 'conformant');
    }),
    { numRuns: 500 },
  );
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
  assert.deepEqual(countOutcomes([]), {
    required: { passed: 0, failed: 0, inconclusive: 0 },
    recommended: { passed: 0, failed: 0, inconclusive: 0 },
    observed: 0,
    excluded: 0,
    broken: 0,
  });
});
