import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { prepareFile } from './output-files.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';

test('a file is replaced completely, leaves no temporary file, and is unchanged before', async (t) => {
  const { folder } = temporaryFolder(t);
  const file = join(folder, 'x');
  writeFileSync(file, 'before');
  const pending = await prepareFile(file, 'the report');
  assert.equal(readFileSync(file, 'utf8'), 'before');
  await pending.write(['af', 'ter']);
  assert.equal(readFileSync(file, 'utf8'), 'after');
  assert.deepEqual(readdirSync(folder), ['x']);
  await pending.discard();
  assert.deepEqual(readdirSync(folder), ['x']);
});

test('discarded or failed output leaves the file unchanged', async (t) => {
  const { folder } = temporaryFolder(t);
  const file = join(folder, 'x');
  writeFileSync(file, 'before');
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
    const file = temporaryFolder(t).place('x');
    writeFileSync(file, '');
    chmodSync(file, mode);
    await (await prepareFile(file, 'the report')).write('after');
    assert.equal(statSync(file).mode & 0o777, mode);
    await (await prepareFile(file, 'the keys', 0o600)).write('secret');
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

for (const target of ['an existing file', 'a missing file'])
  test(`a symbolic link to ${target} is kept`, async (t) => {
    const { folder } = temporaryFolder(t);
    mkdirSync(join(folder, 'real'));
    if (target === 'an existing file') writeFileSync(join(folder, 'real', 'x'), 'before');
    symlinkSync(join('real', 'x'), join(folder, 'link'));
    await (await prepareFile(join(folder, 'link'), 'the report')).write('after');
    assert.ok(lstatSync(join(folder, 'link')).isSymbolicLink());
    assert.equal(readFileSync(join(folder, 'real', 'x'), 'utf8'), 'after');
    assert.deepEqual(readdirSync(join(folder, 'real')), ['x']);
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
  const file = temporaryFolder(t).place('x');
  writeFileSync(file, 'before');
  const { stdout } = inAProcess(
    `const pending = await prepareFile(${JSON.stringify(file)}, 'the report');
    await pending.write('x'.repeat(100_000)).catch((error) => process.stdout.write(error.message));`,
    'bash',
    '-c',
    'ulimit -f 10; exec "$@"',
    'bash',
  );
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
