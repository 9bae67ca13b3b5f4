import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { statSync, symlinkSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { prepareFile, schemaReference } from './output-files.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';
import { dateTime } from './dev/date-time.ts';
import { runCli } from './dev/testing/run-cli.ts';

test('a file is replaced completely, leaves no temporary file, and is unchanged before', async (t) => {
  const { folder, fileOf } = temporaryFolder(t);
  const file = fileOf('x', 'before');
  const pending = await prepareFile(file, 'the report');
  assert.equal(readFileSync(file, 'utf8'), 'before');
  await pending.write(['af', 'ter']);
  assert.equal(readFileSync(file, 'utf8'), 'after');
  assert.deepEqual(readdirSync(folder), ['x']);
  await pending.discard();
  assert.deepEqual(readdirSync(folder), ['x']);
});

test('discarded or failed output leaves the file unchanged', async (t) => {
  const { folder, fileOf } = temporaryFolder(t);
  const file = fileOf('x', 'before');
  await (await prepareFile(file, 'the report')).discard();
  const brokenOff = function* () {
    yield 'half';
    throw new RangeError('no more');
  };
  await assert.rejects((await prepareFile(file, 'the report')).write(brokenOff()), RangeError);
  assert.equal(readFileSync(file, 'utf8'), 'before');
  assert.deepEqual(readdirSync(folder), ['x']);
});

for (const mode of [0o600, 0o644, 0o664])
  test(`permissions are kept: ${mode.toString(8)}`, async (t) => {
    const file = temporaryFolder(t).fileOf('x', '');
    chmodSync(file, mode);
    await (await prepareFile(file, 'the report')).write('after');
    assert.equal(statSync(file).mode & 0o777, mode);
    await (await prepareFile(file, 'the keys', 0o600)).write('secret');
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

for (const target of ['an existing file', 'a missing file'])
  test(`a symbolic link to ${target} is kept`, async (t) => {
    const { place, fileOf } = temporaryFolder(t);
    mkdirSync(place('real'));
    if (target === 'an existing file') fileOf('real/x', 'before');
    symlinkSync(join('real', 'x'), place('link'));
    await (await prepareFile(place('link'), 'the report')).write('after');
    assert.ok(lstatSync(place('link')).isSymbolicLink());
    assert.equal(readFileSync(place('real/x'), 'utf8'), 'after');
    assert.deepEqual(readdirSync(place('real')), ['x']);
  });

const inAProcess = (work: string, ...shell: readonly string[]) => {
  const script = `
    const { prepareFile } = await import(${JSON.stringify(join(import.meta.dirname, 'output-files.ts'))});
    ${work}`;
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '--eval', script];
  const [command, ...args] = [...shell, ...node];
  return spawnSync(command!, args, { encoding: 'utf8', cwd: import.meta.dirname });
};

test('a process that exits early leaves no temporary file', (t) => {
  const { folder } = temporaryFolder(t);
  const { stdout, status } = inAProcess(`
    const { readdirSync } = await import('node:fs');
    await prepareFile(${JSON.stringify(join(folder, 'x'))}, 'the report');
    process.stdout.write(String(readdirSync(${JSON.stringify(folder)}).length));
    process.exit(3);`);
  assert.deepEqual([stdout, status], ['1', 3]);
  assert.deepEqual(readdirSync(folder), []);
});

test('if the disk is full, the file is unchanged, and the reason is reported', (t) => {
  const file = temporaryFolder(t).fileOf('x', 'before');
  const script = `const pending = await prepareFile(${JSON.stringify(file)}, 'the report');
    await pending.write('x'.repeat(100_000)).catch((error) => process.stdout.write(error.message));`;
  const { stdout } = inAProcess(script, 'bash', '-c', 'ulimit -f 10; exec "$@"', 'bash');
  assert.match(stdout, /x: the report cannot be written: file too large$/);
  assert.equal(readFileSync(file, 'utf8'), 'before');
});

test('an open file is written at its current position', (t) => {
  const file = temporaryFolder(t).place('x');
  const script = `process.stdout.write('before '); await (await prepareFile('/dev/stdout', 'the report')).write('text ');`;
  inAProcess(script, 'bash', '-c', `{ "$@"; echo after; } > ${file}`, 'bash');
  assert.equal(readFileSync(file, 'utf8'), 'before text after\n');
  assert.equal(inAProcess(script).stdout, 'before text ');
});

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
