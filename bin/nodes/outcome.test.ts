import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { complaintsOf, countTests, isPassed, outcomeTable, type Outcome } from './outcome.ts';

/** What the runner of this Node writes about the text of a test file. */
function written(t: TestContext, source: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-nodes-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'one.test.mjs'), `import { test } from 'node:test';\n${source}`);
  // The outer test runner marks its children in the environment; this one is to run on its own.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const argv = ['--test', '--test-reporter', 'spec', join(folder, 'one.test.mjs')];
  return spawnSync(process.execPath, argv, { env, encoding: 'utf8' }).stdout;
}

test('of a run that fails, the tests are counted and those that failed are told', (t) => {
  const output = written(
    t,
    "test('holds', () => {});\ntest('is wrong', () => {\n  console.log('ℹ tests 7');\n  throw new Error('a reason');\n});\n",
  );
  assert.equal(countTests(output), 2);
  const complaints = complaintsOf(output);
  assert.match(complaints, /^failing tests:[^]*is wrong[^]*a reason/);
  assert.doesNotMatch(complaints, /holds/);
});

test('a runner that came to no end has counted nothing; what it wrote last is told', () => {
  const output = Array.from({ length: 300 }, (_, nth) => `line ${nth}`).join('\n');
  assert.equal(countTests(output), undefined);
  assert.match(complaintsOf(output), /^line 200\n[^]*line 299$/);
});

const outcome: Outcome = { version: '26.10.0', run: 'package', exitCode: 0, tests: 18, seconds: 30.4 };

test('a run has passed where it ended with 0 and had tests', () => {
  assert.ok(isPassed(outcome));
  assert.ok(!isPassed({ ...outcome, exitCode: 1 }));
  assert.ok(!isPassed({ ...outcome, exitCode: null }));
  assert.ok(!isPassed({ ...outcome, tests: 0 }));
  assert.ok(!isPassed({ ...outcome, tests: undefined }));
});

test('the table has a row for each run', () => {
  assert.equal(
    outcomeTable([
      outcome,
      { version: '9.0.0', run: 'everything', exitCode: 1, tests: undefined, seconds: 212.6 },
    ]),
    `Node     run         result  tests  seconds
26.10.0  package     passed  18     30
9.0.0    everything  FAILED  ?      213
`,
  );
});
