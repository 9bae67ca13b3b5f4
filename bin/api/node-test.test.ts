import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitForExit } from '../dev/testing/child-process.ts';
import { temporaryFolder } from '../dev/testing/temporary-folder.ts';

const here = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);

/** Two suites, as a user writes them: for the mock, and for the mock with a fault. */
const suites = `
import { readFileSync } from 'node:fs';
import { before, after } from 'node:test';
import { conformance } from ${here('./node-test.ts')};
import { reference } from ${here('../../mock/server/handler.ts')};
import { faults } from ${here('../../mock/deviations/faults.ts')};
import { startMock } from ${here('../../mock/server/server.ts')};
const fixture = JSON.parse(readFileSync(new URL(${here('../../schemas/built-in.fixture.json')}), 'utf8'));
const behaviours = [reference, faults['amount-in-cents'].change(reference)];
const mocks = [];
before(async () => {
  for (const behaviour of behaviours) mocks.push(await startMock({ fixture, clock: { now: Date.now }, behaviour }));
});
after(() => Promise.all(mocks.map((mock) => mock.close())));
const options = { fixture, cases: 200, only: ['valid'], skip: ['valid/user-status/shape'] };
for (const seed of [0, 1]) conformance({ ...options, seed, url: () => mocks[seed].url });
`;

test('conformance() registers a test for each requirement: it passes, is skipped, or fails if the server breaks it', async (t) => {
  const file = temporaryFolder(t).fileOf('suite.test.mts', suites);
  // Without the variable of the outer test runner, so that this one runs independently.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const argv = ['--import', 'tsx', '--test', '--test-reporter', 'tap', file];
  const child = spawn(process.execPath, argv, { cwd: join(import.meta.dirname, '../..'), env });
  const { code, stdout } = await waitForExit(child);
  assert.equal(code, 1, stdout);
  const [good = '', bad = ''] = stdout.split('# Subtest: IB conformance, seed 1');
  assert.match(good, /ok \d+ - valid\/user-status\/member: /);
  assert.match(good, /valid\/user-status\/shape: .* # SKIP skipped/);
  assert.match(good, /^ok \d+ - IB conformance, seed 0$/m);
  const failed = [...stdout.matchAll(/not ok \d+ - (valid\S+): /g)].map(([, id]) => id);
  assert.deepEqual(failed, ['valid/deposit-check/amount']);
  assert.match(bad, /expected +"amountInUsd": 250\.5/);
  assert.match(bad, /\$IB_API_KEY stands for <key northwind\/active>/);
});
