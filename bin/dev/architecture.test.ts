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

/**
 * The folders of suites/. Each may import only itself and those above it, also types: a back arrow would join rooms
 * that can be read apart. The first line is for files directly in suites/, but for the index.
 */
const layers = ' client inputs rules limits scenarios requirements plan judging explain engine doctor'.split(
  ' ',
);

/** Packages that only one file may import. */
const onlyImporter: Readonly<Record<string, string>> = {
  polka: 'mock/server/server.ts',
  undici: 'suites/client/route.ts',
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
  const isWrong = (file: string, name: string) => !mayImport[topLevel(file)]!.includes(topLevel(name));
  const wrong = pairs.filter(([file, name]) => isOurs(name) && isWrong(file, name));
  assert.deepEqual(wrong, []);
});

test('a folder of suites imports only folders above it', () => {
  const layerOf = (path: string) => {
    const [top, folder, file] = path.split('/');
    return top !== 'suites' || path === 'suites/index.ts'
      ? -1
      : layers.indexOf(file === undefined ? '' : folder!);
  };
  const shipped = pairs.filter(([file]) => !isDevelopment(file) && layerOf(file) >= 0);
  assert.deepEqual(new Set(shipped.map(([file]) => layerOf(file))), new Set(layers.keys()));
  const wrong = shipped.filter(([file, name]) => layerOf(name) > layerOf(file));
  assert.deepEqual(wrong, []);
});

test('polka, undici and yargs are each imported by one file', () => {
  for (const [name, file] of Object.entries(onlyImporter)) {
    const importers = pairs.filter(([, imported]) => `${imported}/`.startsWith(`${name}/`));
    assert.deepEqual(new Set(importers.map(([importer]) => importer)), new Set([file]));
  }
});

test('shipped files do not import development or test code', () => {
  const wrong = pairs.filter(([file, name]) => !isDevelopment(file) && isDevelopment(name));
  assert.deepEqual(wrong, []);
});

test('test files have no global hooks, because they share a process', () => {
  const hook = /^(?:before|after)Each\(/m;
  const tests = files.filter((file) => file.endsWith('.test.ts'));
  const wrong = tests.filter((file) => hook.test(readFileSync(join(root, file), 'utf8')));
  assert.deepEqual(wrong, []);
});

test(`no folder has more than ${MAX_FILES} source files`, () => {
  const folders = files.filter((file) => !isTest(file)).map(dirname);
  const full = folders.filter((one) => folders.filter((other) => other === one).length > MAX_FILES);
  assert.deepEqual(new Set(full), new Set());
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

/** Files that may contain ids of requirements: rows, reports, and the choice by --only and --skip. */
const mayContainIds =
  /^(?:suites\/requirements\/(?!catalogue|right-answers)[a-z-]+\.ts$|bin\/run-options\.ts$|reports\/)/;

const anId =
  /\b(?:valid|invalid-uuid|foreign-ib|pending|auth|rate-limit|robustness)\/(?:user-status|deposit-check|service|[$*{])/;
const takingApart =
  /\b(?:id|of|row|requirement)\.(?:split|startsWith|endsWith|includes|indexOf)\(\s*['"`][^'"`\n]*\//;

test('only rows know ids of requirements: elsewhere, none is written, put together or taken apart', () => {
  const isWrong = (text: string) => anId.test(text) || takingApart.test(text);
  for (const text of ["'auth/user-status/x'", '`valid/${endpoint}/x`', "id.endsWith('/x')", "row.split('/')"])
    assert.ok(isWrong(text), text);
  const wrong = files
    .filter((file) => !isDevelopment(file) && !mayContainIds.test(file))
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .flatMap((line, at) => (isWrong(line) ? [`${file}:${at + 1}: ${line.trim()}`] : [])),
    );
  assert.deepEqual(wrong, []);
});
