/**
 * Runs all tests (`npm test`), or those of a part that takes tools or minutes (`npm test docs`). Test files share
 * processes, because each start takes up to a second.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './paths.ts';

/** Files by part. CONTRIBUTING.md says what they test. */
const parts: Readonly<Record<string, readonly string[]>> = {
  docs: ['bin/dev/docs/check-docs.ts'],
  examples: ['bin/dev/examples/check-examples.ts'],
  package: ['bin/dev/package/check-package.ts'],
  page: ['bin/admin-page.page-test.ts', 'bin/html-report.page-test.ts'],
  sweep: ['bin/dev/clients/check-sweep.ts'],
};

/** Number of processes by folder, the slowest first. */
const processes: Readonly<Record<string, number>> = { bin: 5, reports: 1, suites: 1, mock: 1, schemas: 1 };

/** Writes files that import the tests of a folder, one for each process. */
const entriesIn = (folder: string) =>
  Object.entries(processes).flatMap(([name, count]) => {
    const files = readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .toSorted();
    assert.ok(files.length >= count, `${name} has too few tests`);
    return Array.from({ length: count }, (_, index) => {
      const entry = join(folder, `${name}-${index + 1}.mjs`);
      const share = files.filter((__, at) => at % count === index);
      const imports = share.map((file) => `import ${JSON.stringify(join(root, name, file))};\n`);
      writeFileSync(entry, imports.join(''));
      return entry;
    });
  });

const [part = '', ...others] = process.argv.slice(2);
const isPart = Object.hasOwn(parts, part);
const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-tests-'));
const entries = parts[part] ?? entriesIn(folder);
// Ends tests that hang. The timeout applies to a whole process too.
const flags = [
  '--test-reporter=spec',
  '--test-timeout=1200000',
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
const { status } = spawnSync(process.execPath, argv, { cwd: root, stdio: 'inherit' });
rmSync(folder, { recursive: true });
process.exitCode = status ?? 1;
