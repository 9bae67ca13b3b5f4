import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { root } from './paths.ts';

const staticImport = /^(?:import|export)\s(?!type\b)[^;]*?from\s+'([^']+)'/gm;

/** Returns the files and packages that a file loads at its start. */
function loadedBy(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, name] of readFileSync(file, 'utf8').matchAll(staticImport))
    if (name!.startsWith('.')) loadedBy(join(dirname(file), name!), seen);
    else seen.add(name!);
  return seen;
}

/** Packages and files that an entry must not load at its start. */
const mustNotLoad: Readonly<Record<string, readonly string[]>> = {
  'bin/main.ts': ['yargs', 'fast-check', 'dispatcher/pool.js', 'jsonc-parser', 'polka', '.cjs'],
  'bin/command-line.ts': ['fast-check', 'pool.js', 'jsonc-parser', 'polka', '.cjs', 'crypto', 'fs/promises'],
  'bin/commands/mock.ts': ['fast-check', 'dispatcher/pool.js', 'jsonc-parser', 'yargs', '.cjs'],
  'mock/server.ts': ['node:crypto', 'node:fs/promises', 'perf_hooks'],
  // It loads the validator of fixtures, because `createMock` checks the fixture synchronously.
  'bin/api/index.ts': ['fast-check', 'dispatcher/pool.js', 'yargs', 'run-record.cjs'],
};

for (const [file, packages] of Object.entries(mustNotLoad))
  test(`${file} starts without ${packages.join(', ')}`, () => {
    const loaded = [...loadedBy(join(root, file))];
    assert.ok(loaded.length > 5);
    const wrong = loaded.filter((name) => packages.some((one) => name.endsWith(one)));
    assert.deepEqual(wrong, []);
  });

test('the options of a run load the client and the engine, but not the mock', () => {
  const loaded = [...loadedBy(join(root, 'bin/run-options.ts'))];
  assert.ok(loaded.includes('undici/lib/dispatcher/pool.js') && loaded.includes('fast-check'));
  assert.ok(!loaded.some((name) => name.startsWith(join(root, 'mock/'))));
});
