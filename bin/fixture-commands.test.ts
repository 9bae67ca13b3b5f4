import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { packagedProgram } from './dev/testing/packaged.ts';
import { endsSaying, runCli, testRefusals } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';
import { endpointNames } from '../schemas/endpoints.ts';
import { fixtureWarnings, readFixture } from '../schemas/fixture.ts';
import { catalogue, gapsOf, knownFrom } from '../suites/index.ts';
import { missingLevels } from '../suites/plan/lookup-levels.ts';
import { builtInFixture } from './dev/paths.ts';
import { loadFixture } from './input-files.ts';

const { folder, place: at, fileOf } = temporaryFolder();

const generate = (flags: string) => runCli(`fixture ${flags}`, { writeError: assert.fail });

test('a generated file equals the generated standard output and is valid', async () => {
  const flags = '--users 50 --deposits 70 --seed 7 --partners 3';
  const { output } = await endsSaying(`fixture ${flags}`, 0);
  await endsSaying(`fixture ${flags} --output ${at('f.json')}`, 0);
  assert.equal(readFileSync(at('f.json'), 'utf8'), output);
  assert.ok(output.includes('"becomes"'));
  assert.ok(!(await generate(`${flags} --no-becomes`)).output.includes('"becomes"'));
  const fixture = await loadFixture(at('f.json'), {});
  const counts = (['partners', 'apiKeys', 'users', 'deposits'] as const).map((part) => fixture[part]?.length);
  assert.deepEqual(counts, [3, 7, 50, 70]);
  assert.deepEqual(gapsOf(catalogue, knownFrom(fixture), true), []);
});

for (const flags of ['', '--cents', '--no-becomes', '--cents --no-becomes'])
  test(`no report has a remark on new data: ${flags}`, async () => {
    for (const seed of [1, 2, 3]) {
      const { output } = await generate(`${flags} --seed ${seed}`);
      const fixture = readFixture(output, 'generated', {});
      const known = knownFrom(fixture);
      const missing = endpointNames.flatMap((endpoint) => missingLevels(endpoint, known));
      assert.deepEqual([...fixtureWarnings(fixture), ...missing, ...gapsOf(catalogue, known, true)], []);
    }
  });

test('an existing file is kept; --force overwrites it', async () => {
  const file = fileOf('mine.json', 'as it was');
  const { error } = await endsSaying(`fixture --output ${file}`, 2);
  assert.equal(error, `ib-conformance: ${file}: exists; --force overwrites it`);
  assert.equal(readFileSync(file, 'utf8'), 'as it was');
  await endsSaying(`fixture --output ${file} --force`, 0);
  assert.notEqual(readFileSync(file, 'utf8'), 'as it was');
});

test('an interrupted command exits with 130 and leaves the file unchanged', async () => {
  const file = fileOf('kept.json', 'as it was');
  const words = /^ib-conformance: interrupted before everything was written$/;
  for (const flags of [`--output ${file}`, ''])
    await endsSaying(`fixture --force ${flags}`, 130, words, { signal: AbortSignal.abort() });
  assert.equal(readFileSync(file, 'utf8'), 'as it was');
  assert.ok(!readdirSync(folder).some((name) => name.endsWith('.part')));
});

for (const [when, users] of Object.entries({ 'at once': '10', 'in the middle': '100000000' }))
  test(`a pipe closed ${when} ends the command quietly`, async () => {
    const child = spawn(process.execPath, [packagedProgram, 'fixture', '--users', users]);
    const complaint = text(child.stderr);
    if (when === 'at once') child.stdout.destroy();
    else child.stdout.once('data', () => child.stdout.destroy());
    const [code] = (await once(child, 'exit')) as [number];
    assert.deepEqual([code, await complaint], [0, '']);
  });

test('--cents and --table-prefix change the SQL: its amounts and their type, and the names of tables', async () => {
  const { output } = await generate('--users 9 --deposits 60 --format sql --cents --table-prefix ib.the_');
  const tables = output.match(/(?<=^CREATE TABLE IF NOT EXISTS |^INSERT INTO |REFERENCES )[\w.]+/gm);
  const names = ['partners', 'api_keys', 'users', 'deposits'].map((name) => `ib.the_${name}`);
  assert.deepEqual(new Set(tables), new Set(names));
  assert.match(output, /^  "amount_in_usd" numeric\(18,2\),$/m);
  assert.doesNotMatch(output, /, \d+\.\d{3,},/);
});

test('an export contains the keys, also from the environment, and only its owner may read it', async () => {
  const apiKeys = [{ key: '${IB_KEY}', partner: 'northwind', state: 'active' }];
  const keyed = fileOf('keyed.json', { apiKeys });
  const env = { IB_KEY: "it's-secret" };
  const { output } = await endsSaying(`fixture --from ${keyed} --format sql`, 0, /'it''s-secret'/, { env });
  await endsSaying(`fixture --from ${keyed} --output ${at('x.sql')}`, 0, [], { env });
  assert.equal(statSync(at('x.sql')).mode & 0o777, 0o600);
  assert.equal(readFileSync(at('x.sql'), 'utf8'), output);
});

test('one command writes the same data as JSON and SQL, as a database holds it', async () => {
  const files = [at('all.json'), at('all.sql')] as const;
  const line = `--users 30 --deposits 40 --output ${files.join(' --output ')}`;
  await endsSaying(`fixture ${line}`, 0);
  const [inJson, inSql] = files.map((name) => readFileSync(name, 'utf8')) as [string, string];
  const { users = [], deposits = [], apiKeys = [] } = await loadFixture(files[0], {});
  assert.ok(!inJson.includes('"becomes"'));
  const ids = [users.map((one) => one.user_id), deposits.map((one) => one.reference_id)].flat();
  for (const id of [...ids, ...apiKeys.map(({ key }) => key)]) assert.ok(inSql.includes(`'${id}'`), id);
  const times = [...inJson.matchAll(/"date_joined":"[^"]*?(?:\.(\d+))?Z"/g)].map(
    ([, digits = '']) => digits.length,
  );
  assert.deepEqual([times.length, Math.max(...times)], [30, 3]);
  const { error } = await endsSaying(`fixture ${line}`, 2);
  for (const name of files) assert.ok(error.includes(`${name}: exists; --force`));
});

const prefixes = ['ib-', '1b_', 'a.b.c', '.a', 'ib.1', 'a;b', '"a"', 'a'.repeat(51)];
testRefusals('fixture', [
  ['--users -1', /--users -1: needs a whole number from 0/],
  ['--users 0', /--deposits 1000: every deposit needs a user/],
  [`--output ${fileOf('none', '')}/f.json`, /the fixture cannot be written: a part of its path is a file/],
  ['--output /proc/x.json', /the fixture cannot be written: its folder takes no new files/],
  ['--output /dev/full --format json', /the fixture cannot be written: the disk is full/],
  ['--output x.txt', /--output x\.txt: needs a file that ends with \.json or \.sql, or --format/],
  ['--output tables', /--output tables: needs a file that ends with/],
  [`--from ${at('keyed.json')} --format sql`, /needs the environment variable IB_KEY/],
  [`--from ${at('f.json')}`, /--from is a JSON fixture already: give --format sql, or --output data\.sql/],
  [`--from ${at('f.json')} --format sql --seed 1`, /--seed is for new data: omit it, or --from/],
  [`--from ${at('f.json')} --format sql --cents`, /--cents is for new data: omit it, or --from/],
  ['--table-prefix ib_', /--table-prefix is for SQL: add --output data\.sql, or --format sql/],
  ...prefixes.map(
    (one) => [`--format sql --table-prefix ${one}`, /table-prefix .*: needs letters,/] as const,
  ),
  ['--format csv', /csv/],
  [`--format sql --output ${folder}`, /the export cannot be written: it is a folder/],
]);

test('a file that is too large for a string is rejected', async () => {
  truncateSync(fileOf('huge.json', ''), 3_000_000_000);
  const words = /huge\.json: is too large: the limit is 512 MB/;
  await endsSaying(`verify --fixture ${at('huge.json')}`, 2, words);
});

test('the built-in fixture, which is loaded without validation, is valid', async () => {
  const checked = readFixture(readFileSync(builtInFixture, 'utf8'), 'the built-in fixture', {});
  assert.deepEqual(await loadFixture(undefined, {}), checked);
});
