import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parse } from 'junit2json';
import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure, failsRun, headlineOf, judgementOf } from './judgement.ts';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { renderJunit } from './junit.ts';
import { bySuite } from './similar.ts';
import { xmlErrors } from './testing/parsers.ts';
import { anyRecord, hostileText, sampleRecord } from './testing/records.ts';
import { printable } from './text.ts';

const schema = readFileSync(new URL('junit.xsd', import.meta.url), 'utf8');

test('the report of the sample matches the golden file', () => {
  matchesSnapshot(new URL('junit.golden.xml', import.meta.url), renderJunit(sampleRecord));
});

test('the XML is valid for any answers of a target', async () => {
  assert.notDeepEqual(await xmlErrors(['<testsuites><testsuite/></testsuites>'], schema), []);
  const records = fc.sample(anyRecord(hostileText), { seed: 7, numRuns: 300 });
  assert.deepEqual(await xmlErrors([sampleRecord, ...records].map(renderJunit), schema), []);
});

/** The parser reads a name like ' ' or '0x1' as a number. */
const withNames = (record: RunRecord): RunRecord => ({
  ...record,
  requirements: [
    { id: 'valid', level: 'required', clause: '', title: '', cases: 1, outcome: 'passed' },
    ...record.requirements.map((result) => ({ ...result, id: `a${result.id}` })),
  ],
});

/** The element of a case: what did not pass, fail or only warn is skipped. */
function kindOf(record: RunRecord, result: RequirementResult) {
  if (failsRun(record, result)) return 'failure';
  const isWarning = result.outcome === 'failed' && !isKnownFailure(result);
  return result.outcome === 'passed' || isWarning ? undefined : 'skipped';
}

test('a JUnit parser finds every requirement in its suite, and an error only for an ending of another kind', async () => {
  // Cases on the whole run are tested in strength.test.ts.
  const records = fc.sample(anyRecord(hostileText), { seed: 8, numRuns: 100 }).map(withNames);
  for (const { strength: _, selection: __, mock: ___, ...record } of [sampleRecord, ...records]) {
    const read = await parse(renderJunit(record));
    assert.ok(read && 'testsuite' in read);
    const suites = read.testsuite ?? [];
    const cases = suites.flatMap(({ testcase = [] }) => testcase);
    const wrong = record.baseline?.wrong ?? [];
    const grouped = bySuite(record.requirements);
    assert.deepEqual(
      suites.map(({ name, tests }) => [name, tests]),
      [
        ...[...grouped].map(([name, rows]) => [printable(name, 300), rows.length] as const),
        ...(wrong.length === 0 ? [] : [['baseline', wrong.length] as const]),
        ['run', 1],
      ],
    );
    const failing = cases.slice(record.requirements.length, -1);
    const failures = failing.map(({ failure }) => failure?.length);
    assert.deepEqual(
      failures,
      wrong.map(() => 1),
    );
    const { ending } = judgementOf(record);
    const isError = ending !== 'conformant' && ending !== 'nonconformant';
    assert.deepEqual(
      cases.flatMap(({ name, error }) => (error === undefined ? [] : [[name, error[0]?.message]])),
      isError ? [['verdict', printable(headlineOf(record), 20_000)]] : [],
    );
    for (const [at, result] of [...grouped.values()].flat().entries()) {
      const { name, classname, failure, error, skipped } = cases[at]!;
      assert.equal(name, printable(result.id, 300));
      assert.ok(classname?.startsWith('ib-conformance.'));
      const found = { failure, error, skipped };
      const kind = kindOf(record, result);
      const kinds = Object.entries(found).flatMap(([key, list]) => (list === undefined ? [] : [key]));
      assert.deepEqual(kinds, kind === undefined ? [] : [kind]);
      if (result.outcome === 'failed' && kind === 'failure')
        assert.ok(failure?.[0]?.inner?.includes(`\nactual    ${printable(result.actual, 600)}`.trimEnd()));
    }
  }
});
