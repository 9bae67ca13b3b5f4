import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Level, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { anyRecord } from './testing/arbitraries.ts';
import { sampleRecord } from './testing/records.ts';
import { conclusion } from './verdict.ts';

type Row = readonly [id: string, level: Level, outcome: RequirementResult['outcome'], reason?: string];

function resultOf([id, level, outcome, reason = '?']: Row): RequirementResult {
  const subject = { id, level, clause: 'c', title: 't', cases: 1 };
  switch (outcome) {
    case 'passed':
      return { ...subject, outcome };
    case 'failed':
      return { ...subject, outcome, aspect: 'status', expected: '1', actual: '2' };
    case 'inconclusive':
    case 'excluded':
      return { ...subject, outcome, reason, words: 'w' };
    case 'observed':
    case 'broken':
      return { ...subject, outcome, words: 'w' };
  }
}

function said(verdict: RunRecord['verdict'], rows: readonly Row[], interrupted = false): string {
  const requirements = rows.map(resultOf);
  return conclusion({ ...sampleRecord, verdict, requirements, interrupted }).join('; ');
}

const passed = [
  ['a/b/1', 'required', 'passed'],
  ['a/b/2', 'recommended', 'passed'],
  ['a/b/3', 'observed', 'observed'],
] as const satisfies readonly Row[];

const wordings: readonly { when: string; text: string; expected: string }[] = [
  {
    when: 'all is well',
    text: said('conformant', passed),
    expected: 'conformant: 1 of 1 required verified, 1 of 1 recommended',
  },
  {
    when: 'rows are excluded',
    text: said('conformant', [
      ...passed,
      ['a/c/1', 'required', 'excluded', 'no-state-hook'],
      ['a/c/2', 'recommended', 'excluded', 'skipped'],
      ['a/c/3', 'observed', 'excluded', 'skipped'],
    ]),
    expected:
      'conformant: 1 of 2 required verified, 1 of 2 recommended; not verified: a/c/1 (no-state-hook), a/c/2 (skipped, recommended); not observed: a/c/3 (skipped)',
  },
  {
    when: 'a required row fails',
    text: said('nonconformant', [
      ...passed,
      ['a/d/1', 'required', 'failed'],
      ['a/d/2', 'required', 'passed'],
    ]),
    expected: 'nonconformant: 1 of 3 required failed, 2 verified, 1 of 1 recommended; failed: a/d/1',
  },
  {
    when: 'only a recommended row fails',
    text: said('conformant', [...passed, ['a/d/1', 'recommended', 'failed']]),
    expected: 'conformant: 1 of 1 required verified, 1 of 2 recommended; warnings: a/d/1',
  },
  {
    when: 'a required row is inconclusive',
    text: said('incomplete', [...passed, ['a/e/1', 'required', 'inconclusive', 'timeout']]),
    expected: 'incomplete: 1 of 2 required verified, 1 of 1 recommended; not verified: a/e/1 (timeout)',
  },
  {
    when: 'a row is broken',
    text: said('incomplete', [['a/f/1', 'required', 'broken']]),
    expected:
      'incomplete: 0 of 1 required verified; broken, a bug of ib-conformance and not of the target: a/f/1',
  },
  {
    when: 'a required row was only observed',
    text: said('incomplete', [['a/f/1', 'required', 'observed']]),
    expected: 'incomplete: 0 of 1 required verified; not verified: a/f/1 (only observed)',
  },
  {
    when: 'nothing ran',
    text: said('incomplete', []),
    expected: 'incomplete: nothing was checked',
  },
  {
    when: 'the run was stopped',
    text: said('incomplete', passed, true),
    expected: 'incomplete, interrupted before its end: 1 of 1 required verified, 1 of 1 recommended',
  },
  {
    when: 'many rows have one reason',
    text: said('incomplete', [
      ...Array.from({ length: 8 }, (_, at): Row => [`a/g/${at}`, 'required', 'inconclusive', 'no-fixture']),
      ['a/h/1', 'required', 'excluded', 'no-state-hook'],
    ]),
    expected:
      'incomplete: 0 of 9 required verified; not verified: a/g/0 (no-fixture), a/g/1 (no-fixture), a/g/2 (no-fixture), a/g/3 (no-fixture), a/g/4 (no-fixture), 3 more (no-fixture), a/h/1 (no-state-hook)',
  },
];

const known = (id: string, reason: string) => ({ ...resultOf([id, 'required', 'failed']), baseline: reason });

/** Runs that were held against a baseline. */
const held: readonly { when: string; record: Partial<RunRecord>; expected: string }[] = [
  {
    when: 'all that failed is known',
    record: {
      requirements: [known('a/d/1', 'r'), known('a/d/2', 'r'), ...passed.map(resultOf)],
      baseline: { file: 'f', verdict: 'conformant', wrong: [] },
    },
    expected:
      'conformant but for 2 known failures: 2 of 3 required failed, 1 verified, 1 of 1 recommended; known failures: a/d/1, a/d/2',
  },
  {
    when: 'something else failed too',
    record: {
      requirements: [known('a/d/1', 'r'), resultOf(['a/d/2', 'required', 'failed'])],
      baseline: { file: 'f', verdict: 'nonconformant', wrong: [] },
    },
    expected: 'nonconformant: 2 of 2 required failed, 0 verified; failed: a/d/2; known failures: a/d/1',
  },
  {
    when: 'something else could not be judged',
    record: {
      requirements: [known('a/d/1', 'r'), resultOf(['a/d/2', 'required', 'inconclusive', 'timeout'])],
      baseline: { file: 'f', verdict: 'incomplete', wrong: [] },
    },
    expected:
      'incomplete but for 1 known failure: 1 of 2 required failed, 0 verified; known failures: a/d/1; not verified: a/d/2 (timeout)',
  },
  {
    when: 'the baseline is wrong',
    record: {
      verdict: 'conformant',
      requirements: passed.map(resultOf),
      baseline: { file: 'f', verdict: 'conformant', wrong: ['f:4: a/b/1: passes now: remove it'] },
    },
    expected:
      'conformant: 1 of 1 required verified, 1 of 1 recommended; the baseline fails the run: f:4: a/b/1: passes now: remove it',
  },
];

for (const { when, record, expected } of held) {
  test(`conclusion when ${when}`, () =>
    assert.equal(conclusion({ ...sampleRecord, ...record }).join('; '), expected));
}

for (const { when, text, expected } of wordings) {
  test(`conclusion when ${when}`, () => assert.equal(text, expected));
}

test('every row is verified, observed, named or counted', () => {
  fc.assert(
    fc.property(anyRecord(fc.string({ unit: fc.constantFrom('a', 'b') })), (record) => {
      const named = conclusion(record)
        .slice(1)
        .filter((sentence) => !sentence.startsWith('the baseline fails the run: '))
        .flatMap((sentence) => sentence.slice(sentence.indexOf(': ') + 2).split(', '))
        .filter((name) => name !== 'recommended)')
        .map((name) => Number(/^(\d+) more/.exec(name)?.[1] ?? 1));
      const silent = record.requirements.filter(
        ({ outcome, level }) => outcome === 'passed' || (outcome === 'observed' && level === 'observed'),
      );
      assert.equal(
        named.reduce((sum, number) => sum + number, 0) + silent.length,
        record.requirements.length,
      );
    }),
  );
});
