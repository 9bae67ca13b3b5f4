import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const here = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);

/** A suite as a user would write it, against the mock with a fault or without. */
const suiteOf = (fault: string | undefined) => `
import { readFileSync } from 'node:fs';
import { before, after } from 'node:test';
import { conformance } from ${here('./node-test.ts')};
import { reference } from ${here('../../mock/behaviour.ts')};
import { faults } from ${here('../../mock/faults.ts')};
import { startMock } from ${here('../../mock/server.ts')};
const fixture = JSON.parse(readFileSync(new URL(${here('../../schemas/built-in.fixture.json')}), 'utf8'));
let mock;
before(async () => {
  mock = await startMock({ fixture, clock: { now: Date.now }, behaviour: ${fault === undefined ? 'reference' : `faults[${JSON.stringify(fault)}].change(reference)`} });
});
after(() => mock.close());
conformance({ url: () => mock.url, fixture, seed: 1, cases: 100, suite: ['valid'], skip: ['valid/user-status/shape'] });
`;

async function runSuite(fault?: string): Promise<{ readonly code: number; readonly output: string }> {
  const file = join(mkdtempSync(join(tmpdir(), 'ib-conformance-')), 'suite.test.mts');
  writeFileSync(file, suiteOf(fault));
  // The outer test runner marks its children in the environment; this one is to run on its own.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', '--test', '--test-reporter', 'tap', file], {
    cwd: join(import.meta.dirname, '../..'),
    env,
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

test('conformance() registers a test for each requirement, and all pass for a server that conforms', async () => {
  const { code, output } = await runSuite();
  assert.equal(code, 0, output);
  assert.match(output, /ok \d+ - valid\/user-status\/member: /);
  assert.match(output, /valid\/user-status\/shape: .* # SKIP skipped/);
});

test('conformance() fails the test of what a server breaks, and no other', async () => {
  const { code, output } = await runSuite('amount-in-cents');
  assert.equal(code, 1);
  assert.deepEqual(
    [...output.matchAll(/not ok \d+ - (valid\S+): /g)].map(([, id]) => id),
    ['valid/deposit-check/amount'],
  );
  assert.match(output, /expected "amountInUsd": 250\.5/);
});
