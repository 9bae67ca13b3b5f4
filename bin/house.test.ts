import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');

/** Which folders of ours each folder may import, and the files that may know a package. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  schemas: ['schemas'],
  mock: ['mock', 'schemas', 'package.json'],
  suites: ['suites', 'schemas'],
  reports: ['reports', 'schemas'],
  action: ['action'],
  bin: ['bin', 'mock', 'suites', 'reports', 'schemas'],
};
const onlyIn: Readonly<Record<string, readonly string[]>> = {
  polka: ['mock/listener.ts'],
  'playwright-core': ['mock/page/tests/browser.ts', 'reports/html/tests/browser.ts'],
  // The second is a client that is not ours, for the mock to be tried by; the third what the engine is measured by.
  undici: ['suites/engine/client.ts', 'mock/clients/undici.mjs', 'bin/bench/bare-loop.mjs'],
  yargs: ['bin/command-line.ts'],
};

const sources = Object.keys(mayImport).flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => /\.(?:ts|mjs)$/.test(file) && !file.includes('generated')),
);

const importsOf = (file: string) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
    ([, name]) => name!,
  );

test('imports follow the arrows of the house', () => {
  assert.ok(sources.length > 50);
  const wrong = sources.flatMap((file) =>
    importsOf(file).flatMap((name) => {
      if (!name.startsWith('.')) return onlyIn[name]?.includes(file) !== false ? [] : [`${file} → ${name}`];
      const folder = normalize(join(dirname(file), name)).split('/')[0]!;
      return mayImport[file.split('/')[0]!]!.includes(folder) ? [] : [`${file} → ${name}`];
    }),
  );
  assert.deepEqual(wrong, []);
});

test('each package of the transport and the command line is known to the file that is named for it', () => {
  for (const [name, files] of Object.entries(onlyIn))
    for (const file of files) assert.ok(importsOf(file).includes(name), `${file} → ${name}`);
});
