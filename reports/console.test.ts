import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import validate from '../schemas/generated/run-record.cjs';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { reports } from './index.ts';
import { rowsOf, sampleFailure, sampleRecord } from './testing/records.ts';

const plain = { color: false, width: 80 };
const render = (record: RunRecord, more: object = {}) => reports.console(record, { ...plain, ...more });
const outcomes = ['passed', 'failed', 'inconclusive', 'observed', 'excluded', 'broken'];

test('the sample is a valid record with every outcome and every level', () => {
  assert.ok(validate(sampleRecord), JSON.stringify(validate.errors));
  assert.deepEqual(
    [...new Set(sampleRecord.requirements.map(({ outcome }) => outcome))].toSorted(),
    outcomes.toSorted(),
  );
  assert.equal(new Set(sampleRecord.requirements.map(({ level }) => level)).size, 3);
});

test('the headline is green, red, or yellow if only known failures remain', () => {
  const counts = { ...sampleRecord.counts, broken: 0 };
  for (const [verdict, rows, code] of [
    ['conformant', 'a/b/1 required passed', 32],
    ['nonconformant', 'a/b/1 required failed', 31],
    ['nonconformant', 'a/b/1 required failed known', 31],
    ['conformant', 'a/b/1 required failed known', 33],
    ['conformant', 'a/b/1 recommended failed known', 32],
  ] as const) {
    const record: RunRecord = { ...sampleRecord, counts, verdict, requirements: rowsOf(rows) };
    assert.match(render(record, { color: true }), new RegExp(`\\u001b\\[${code}m${verdict}`));
  }
});

test('the reports of the sample match the golden file', () => {
  const texts = [{ width: 80 }, { width: 120 }, { width: 100, verbose: true }].map(
    (options) => `${JSON.stringify(options)}\n${render(sampleRecord, options)}\n`,
  );
  matchesSnapshot(new URL('console.golden.txt', import.meta.url), texts.join(''));
});

test('widths are limited to 60 to 200', () => {
  const at = (width: number): string => render(sampleRecord, { width });
  assert.equal(at(1), at(60));
  assert.equal(at(1000), at(200));
  assert.notEqual(at(60), at(200));
});

test('with --verbose, every id is complete at any width; else a cut list names the file that has it', () => {
  const verbose = render(sampleRecord, { width: 60, verbose: true });
  assert.ok(sampleRecord.requirements.every(({ id }) => verbose.includes(id)));
  assert.match(render(sampleRecord), /^Not verified \(--verbose shows all\)$/m);
  assert.match(render(sampleRecord, { file: 'run.json' }), /^Not verified \(all in run\.json\)$/m);
  const cut = /^ {2}39 alike {2,}auth\/user-status\/1, [^]* and 35 more\s+\(all\s+in run\.json\)/m;
  assert.match(render(allFailed(40), { file: 'run.json' }), cut);
  assert.doesNotMatch(render(allFailed(40), { verbose: true }), / more\b/);
});

test('of failures of many kinds, the worst ten are shown, and the others are counted', () => {
  const requirements = Array.from({ length: 14 }, (_, at) => ({
    ...sampleFailure,
    id: `a/user-status/${at}`,
    level: 'required' as const,
    rank: at === 13 ? 1 : 3,
    aspect: `aspect ${at}`,
  }));
  const text = render({ ...sampleRecord, requirements });
  assert.match(text, /^Failed\n✗ .*\n {2}id {8}a\/user-status\/13$/m);
  assert.equal(text.match(/^ {2}id /gm)?.length, 10);
  assert.match(text, /^and 4 failures of other kinds \(--verbose shows all\)$/m);
});

test('a failure fits on a screen for any size of answers', () => {
  const huge = 'x'.repeat(1_000_000);
  const request = { method: 'GET', target: '/', headers: {} };
  const response = { status: 200, headers: { 'content-type': huge }, body: huge };
  const found: RequirementResult = {
    ...sampleFailure,
    expected: `${huge}a`,
    actual: `${huge}b`,
    counterexample: { request, response, curl: `curl ${huge}` },
  };
  const text = render({ ...sampleRecord, requirements: [found] });
  const finding = text.slice(text.indexOf('\n✗'), text.indexOf('\nnonconformant')).split('\n');
  assert.ok(finding.length <= 24, finding.join('\n'));
  assert.match(text, /expected {2}…x+a\n {2}actual {4}…x+b\n +\^\n/);
  assert.match(text, /request {3}too long to show \(1,000,005 characters\): see another report/);
});

test('a command that cannot be shown exactly has a note', () => {
  const { request } = sampleFailure.counterexample!;
  const show = (curl: string): string =>
    render({ ...sampleRecord, requirements: [{ ...sampleFailure, counterexample: { request, curl } }] });
  assert.match(show('curl \u202e'), /curl \\u\{202e\}\n {2}note +request is escaped or cut/);
  assert.doesNotMatch(show('curl'), /escaped or cut/);
  assert.ok(show(`curl ${'x'.repeat(1_900)}`).includes('x'.repeat(1_900)));
});

test('reasons with required requirements come first', () => {
  const requirements = rowsOf(
    'a/b/1 recommended inconclusive timeout; a/b/2 required inconclusive network; a/b/3 required inconclusive network',
  );
  assert.match(render({ ...sampleRecord, requirements }), /\? 2 network .*\n(?: {5}.*\n)* {2}\? 1 timeout /);
});

test('missing parts of the record are omitted', () => {
  const { rerun: _rerun, partner: _partner, ...rest } = sampleRecord;
  const text = render({ ...rest, notes: [], rateLimited: { answers: 0, waitedMs: 0, endpoints: [] } });
  assert.doesNotMatch(text, /replay {2}|partner northwind,|note:|status 429/);
  assert.match(render(sampleRecord), /replay {2}[^]*status 429[^]*note:/);
});

/** Record of a target that answers everything with 500: `count` similar failures. */
function allFailed(count: number): RunRecord {
  const response = { status: 500, headers: {}, body: 'Internal Server Error' };
  const requirements = Array.from({ length: count }, (_, at) => ({
    ...sampleFailure,
    id: `auth/user-status/${at}`,
    level: 'required' as const,
    counterexample: { ...sampleFailure.counterexample!, response },
  }));
  return { ...sampleRecord, requirements, counts: { ...sampleRecord.counts, broken: 0 } };
}
