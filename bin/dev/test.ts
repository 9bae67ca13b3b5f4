/**
 * Runs all tests (`npm test`), or those of a part that takes tools or minutes (`npm test docs`). Test files share
 * processes, because each start takes up to a second.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { numberOfCommit } from './commit.ts';
import { root } from './paths.ts';

/** Files by part. CONTRIBUTING.md says what they test. */
const parts: Readonly<Record<string, readonly string[]>> = {
  docs: ['bin/dev/docs/check-docs.ts'],
  image: ['bin/dev/image/check-image.ts'],
  limiters: ['bin/dev/limiters/check-limiters.ts'],
  openapi: ['bin/dev/check-openapi.ts'],
  package: ['bin/dev/package/check-package.ts'],
  page: ['bin/admin-page.page-test.ts', 'bin/html-report.page-test.ts'],
  sql: ['bin/dev/sql.test.ts'],
  sweep: ['bin/dev/clients/check-sweep.ts'],
};

const ofParts = new Set(Object.values(parts).flat());

/** The files that take the most time. Each has its own process. */
const longest = [
  'bin/dev/self-test/matrix.test.ts',
  'bin/hostile-targets.test.ts',
  'bin/lossy-network.test.ts',
  'bin/answers.test.ts',
  'bin/sweep.test.ts',
  'bin/limits.test.ts',
];

/** Writes files that import the tests, one for each process. */
function entriesIn(folder: string): readonly string[] {
  const found = ['bin', 'suites', 'mock', 'reports', 'schemas'].map((name) => {
    const files = readdirSync(join(root, name), { recursive: true, encoding: 'utf8' });
    const tests = files.filter((file) => file.endsWith('.test.ts')).map((file) => `${name}/${file}`);
    assert.ok(tests.length > 0, `${name} has no tests`);
    return tests.filter((file) => !ofParts.has(file)).toSorted();
  });
  // Tests that use the package share a process, so that it is bundled once.
  const packaged = found
    .flat()
    .filter((file) => readFileSync(join(root, file), 'utf8').includes('testing/packaged.ts'));
  const apart = new Set([...packaged, ...longest]);
  const [ofBin = [], ...others] = found.map((files) => files.filter((file) => !apart.has(file)));
  // Node sorts the entries by name: the longest come first.
  return [ofBin, packaged, ...longest.map((file) => [file]), ...others].map((files, at) => {
    const entry = join(folder, `${String(at).padStart(2, '0')}.mjs`);
    writeFileSync(entry, files.map((file) => `import ${JSON.stringify(join(root, file))};\n`).join(''));
    return entry;
  });
}

const [part = '', ...others] = process.argv.slice(2);
const isPart = Object.hasOwn(parts, part);
const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-tests-'));
const entries = parts[part] ?? entriesIn(folder);
// Ends tests that hang. The timeout applies to a whole process too. Limiters take most of an hour.
const flags = [
  '--test-reporter=spec',
  `--test-timeout=${part === 'limiters' ? 3_600_000 : 1_200_000}`,
  `--test-concurrency=${availableParallelism()}`,
];
const argv = [
  '--import',
  'tsx',
  '--test',
  ...flags,
  ...(isPart ? others : process.argv.slice(2)),
  ...entries,
];
const { PART = isPart ? 'all' : String(numberOfCommit()) } = process.env;
const env = { ...process.env, PART };
const { status } = spawnSync(process.execPath, argv, { cwd: root, env, stdio: 'inherit' });
if (!isPart && PART !== 'all')
  process.stdout.write(`One part of each large table ran: PART=${PART} repeats it, PART=all runs all.\n`);
rmSync(folder, { recursive: true });
process.exitCode = status ?? 1;
