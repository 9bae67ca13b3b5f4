import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { dateTime } from './dev/date-time.ts';
import { runCli } from './testing/run-cli.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';
import { schemaReference } from './schema-reference.ts';

const root = join(import.meta.dirname, '..');
const { folder, place: pathOf } = temporaryFolder();

/** A project with the installed package and a nested folder. */
const project = pathOf('project');
const deep = join(project, 'test', 'data');
mkdirSync(deep, { recursive: true });
mkdirSync(join(project, 'node_modules'));
symlinkSync(root, join(project, 'node_modules', 'ib-conformance'));

for (const place of [project, deep])
  test(`a fixture generated in ${relative(folder, place)} names our schema and is valid`, async () => {
    const file = join(place, 'fixture.json');
    assert.equal((await runCli(['fixture', '--users', '20', '--output', file])).code, 0);
    const fixture = JSON.parse(readFileSync(file, 'utf8')) as { readonly $schema: string };
    const schema = resolve(place, fixture.$schema);
    assert.equal(realpathSync(schema), join(root, 'schemas/fixture.schema.json'));
    const formats = { 'date-time': dateTime };
    const ajv = new Ajv2020({ discriminator: true, allowUnionTypes: true, formats });
    const isValid = ajv.compile(JSON.parse(readFileSync(schema, 'utf8')) as object);
    assert.ok(isValid(fixture), JSON.stringify(isValid.errors));
    assert.ok(!isValid({ ...fixture, user: [] }));
  });

test('the path begins with a dot, in any folder, with and without the installed package', () => {
  const path = 'node_modules/ib-conformance/schemas/fixture.schema.json';
  assert.equal(schemaReference('fixture', join(project, 'f.json')), `./${path}`);
  assert.equal(schemaReference('fixture', join(deep, 'f.json')), `../../${path}`);
  assert.equal(schemaReference('fixture', pathOf('none/f.json')), `./${path}`);
});
