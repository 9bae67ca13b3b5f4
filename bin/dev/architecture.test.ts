import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { root } from './paths.ts';

/** Folders and files of this repository that each folder may import. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  schemas: ['schemas'],
  mock: ['mock', 'schemas', 'package.json'],
  suites: ['suites', 'schemas'],
  reports: ['reports', 'schemas'],
  action: ['action'],
  bin: ['bin', 'mock', 'suites', 'reports', 'schemas', 'package.json'],
};

/** Packages that only one file may import. */
const onlyImporter: Readonly<Record<string, string>> = {
  polka: 'mock/listener.ts',
  undici: 'suites/engine/client.ts',
  yargs: 'bin/command-line.ts',
};

/** Maximum of source files directly in one folder. */
const MAX_FILES = 25;

const files = Object.keys(mayImport).flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => /\.(?:ts|tsx|mjs)$/.test(file) && !/(?:^|\/)generated\/|\.d\.ts$/.test(file)),
);
const isTest = (file: string) => /\.(?:page-)?test\.tsx?$/.test(file);
const isDevelopment = (file: string) => isTest(file) || /^bin\/dev\/|\/(?:testing|tests)\//.test(file);

/** Returns the imports of a file, including types: packages by name, files of this repository by path. */
function importsOf(file: string): readonly string[] {
  const specifiers = readFileSync(join(root, file), 'utf8').matchAll(
    /(?:^|[\s;}])(?:from|import)\s*\(?\s*'([^']+)'/g,
  );
  return [...specifiers].map(([, name]) =>
    name!.startsWith('.') ? normalize(join(dirname(file), name!)) : name!,
  );
}

const imports = new Map(files.map((file) => [file, importsOf(file)]));
const pairs = [...imports].flatMap(([file, names]) => names.map((name) => [file, name] as const));

test('each folder imports only allowed folders', () => {
  assert.ok(pairs.length > 500);
  const topLevel = (path: string) => path.split('/')[0]!;
  const isOurs = (name: string) => existsSync(join(root, name));
  assert.deepEqual(
    pairs.filter(([file, name]) => isOurs(name) && !mayImport[topLevel(file)]!.includes(topLevel(name))),
    [],
  );
});

test('polka, undici and yargs are each imported by one file', () => {
  for (const [name, file] of Object.entries(onlyImporter))
    assert.deepEqual(
      pairs
        .filter(([, imported]) => imported === name || imported.startsWith(`${name}/`))
        .map(([importer]) => importer),
      [file],
    );
});

test('shipped files do not import development or test code', () => {
  assert.deepEqual(
    pairs.filter(([file, name]) => !isDevelopment(file) && isDevelopment(name)),
    [],
  );
});

test('test files have no global hooks, because they share a process', () => {
  const hook = /^(?:before|after)Each\(/m;
  assert.deepEqual(
    files.filter((file) => file.endsWith('.test.ts') && hook.test(readFileSync(join(root, file), 'utf8'))),
    [],
  );
});

test(`no folder has more than ${MAX_FILES} source files`, () => {
  const counts = new Map<string, number>();
  for (const file of files.filter((one) => !isTest(one)))
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  assert.deepEqual(
    [...counts].filter(([, count]) => count > MAX_FILES),
    [],
  );
});

test('there is no import cycle, not even of types', () => {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file) || path.includes(file)) return;
    for (const name of imports.get(file) ?? []) visit(name, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  assert.deepEqual(cycles, []);
});
