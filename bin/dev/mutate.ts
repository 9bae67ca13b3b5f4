/** Mutates random lines with Stryker and prints mutants that survive the tests of their folder (`npm run mutate`). */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { randomOf } from '../../suites/model/covering.ts';

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    /** A regular expression. */
    files: { type: 'string', default: '' },
  },
});
const folders = ['schemas', 'mock', 'suites', 'reports', 'bin'];
const files = execFileSync('git', ['ls-files', ...folders], { encoding: 'utf8' })
  .split('\n')
  .filter(
    (file) => file.endsWith('.ts') && !/^bin\/dev\/|^mock\/page\/|\/(?:testing|generated)\//.test(file),
  );
const rangesOf = (file: string) =>
  Array.from(readFileSync(file, 'utf8').split('\n'), (_, at) => `${file}:${at + 1}-${at + 1}`);
/** The self-test takes minutes and tests other folders. Stryker slows the mock down, so the other test fails. */
const excluded = new Set(['bin/self-test.test.ts', 'mock/raw-sockets.test.ts']);
const isTest = (file: string) => file.endsWith('.test.ts') && !excluded.has(file);
const isSource = (file: string) => !file.endsWith('test.ts') && new RegExp(values.files).test(file);
const ranges = files.filter(isSource).flatMap(rangesOf);
const random = randomOf(Number(values.seed));
const selected = Array.from(
  { length: Number(values.lines) },
  () => ranges[Math.floor(random() * ranges.length)]!,
);

for (const folder of folders) {
  const mutate = selected.filter((range) => range.startsWith(`${folder}/`));
  const testFiles = files.filter((file) => file.startsWith(`${folder}/`) && isTest(file));
  if (mutate.length === 0) continue;
  await new Stryker({
    mutate,
    plugins: ['@stryker-mutator/tap-runner'],
    testRunner: 'tap',
    // Parallel tests may fail because they are slow.
    concurrency: 1,
    tap: { testFiles, nodeArgs: ['--import', 'tsx', '--test-reporter=tap'] },
    reporters: ['clear-text'],
    clearTextReporter: { reportTests: false },
    // Stryker would rewrite it with the API of an older TypeScript.
    tsconfigFile: 'none',
    disableTypeChecks: false,
    dryRunTimeoutMinutes: 60,
  }).runMutationTest();
}
