import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { runCli } from './testing/run-cli.ts';
import { schemaReference } from './schema-reference.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-'));

/** A project into which npm has installed the package, with a folder in a folder. */
const project = join(folder, 'project');
const deep = join(project, 'test', 'data');
mkdirSync(deep, { recursive: true });
mkdirSync(join(project, 'node_modules'));
symlinkSync(root, join(project, 'node_modules', 'ib-conformance'));

for (const place of [project, deep])
  test(`what is generated into ${relative(folder, place)} names our schema`, async () => {
    const file = join(place, 'fixture.json');
    assert.equal((await runCli(['fixture', 'generate', '--users', '20', '--output', file])).code, 0);
    const { $schema } = JSON.parse(readFileSync(file, 'utf8')) as { readonly $schema: string };
    assert.equal(realpathSync(resolve(place, $schema)), join(root, 'schemas/fixture.schema.json'));
  });

test('the way begins with a dot, up or down, installed or not yet', () => {
  const way = 'node_modules/ib-conformance/schemas/fixture.schema.json';
  assert.equal(schemaReference('fixture', join(project, 'f.json')), `./${way}`);
  assert.equal(schemaReference('fixture', join(deep, 'f.json')), `../../${way}`);
  assert.equal(schemaReference('fixture', join(folder, 'none', 'f.json')), `./${way}`);
});
