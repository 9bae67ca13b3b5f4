import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { RunRecord } from '../../schemas/generated/types.ts';
import { runCli } from '../testing/run-cli.ts';
import { CONFIG_FILE } from './flag.ts';

const folder = mkdtempSync(join(tmpdir(), 'ib-config-'));
function fileOf(name: string, content: unknown): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}
const words = (text: string) => text.split(' ');

/** A run of the mock that is soon over. */
const short = { cases: 1, seed: 1, 'no-canary': true, only: ['valid/user-status/member'] };

test('the file of the working directory is found, and standard error says what is of it', async () => {
  const program = new URL('../ib-conformance.mjs', import.meta.url).pathname;
  const file = fileOf(`here/${CONFIG_FILE}`, {
    $schema: 'x',
    verify: { ...short, report: ['json=run.json'] },
  });
  const cwd = dirname(file);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, 'verify', '--seed', '5'], {
    cwd,
  });
  assert.equal(stdout, '');
  assert.match(stderr, /^config: cases, only, report, no-canary from ib-conformance\.config\.json$/m);
  const record = JSON.parse(readFileSync(join(cwd, 'run.json'), 'utf8')) as RunRecord;
  assert.equal(record.seed, 5);
  assert.deepEqual(
    record.requirements.map(({ id }) => id),
    short.only,
  );
});

describe('the config file', () => {
  const missing = join(folder, CONFIG_FILE);
  test('need not be there, unless it is named', async () => {
    const plan = words('verify --plan --only valid/user-status/member');
    const { code, aside } = await runCli(plan, { configFile: missing });
    assert.deepEqual([code, aside], [0, '']);
    const named = await runCli([...plan, '--config', missing]);
    assert.deepEqual(
      [named.code, named.error],
      [2, `ib-conformance: --config ${missing}: there is no such file`],
    );
    const byVariable = await runCli(plan, { env: { IB_CONFIG: missing } });
    assert.equal(byVariable.error, `ib-conformance: IB_CONFIG=${missing}: there is no such file`);
  });

  test('of a folder above is not read, and that is said', async () => {
    const above = fileOf('project/ib.json', { verify: { partner: 'nobody' } });
    const plan = words('verify --plan --only valid/user-status/member');
    const deep = join(dirname(above), 'deep', 'ib.json');
    const { code, aside } = await runCli(plan, { configFile: deep });
    assert.deepEqual(
      [code, aside],
      [0, 'config: ../ib.json is not read from here; --config names one that is\n'],
    );
    const named = await runCli([...plan, '--config', above], { configFile: deep });
    assert.equal(named.aside, `config: partner from ${above}\n`);
  });

  test('that is named is read in the place of the one that is looked for', async () => {
    const looked = fileOf('looked-for.json', { verify: { partner: 'nobody' } });
    const other = fileOf('other.json', { verify: { partner: 'no one' } });
    for (const [argv, env] of [
      [['verify', '--config', other], {}],
      [['verify'], { IB_CONFIG: other }],
    ] as const)
      assert.match((await runCli(argv, { env, configFile: looked })).error, /no one/);
    assert.match((await runCli(['verify'], { configFile: looked })).error, /nobody/);
  });

  test('is read whole, and every problem is told with its place, before anything is done', async () => {
    const file = fileOf('bad.json', { verify: { casse: 1 }, mock: { port: '4010' } });
    const { code, output, aside, error } = await runCli(['verify', '--plan', '--config', file]);
    assert.deepEqual([code, output, aside], [2, '', '']);
    assert.equal(
      error,
      `ib-conformance: ${file}: /verify/casse: is no flag; did you mean cases?\n` +
        `ib-conformance: ${file}: /mock/port: needs a number, without quotes`,
    );
  });

  test('that is cut off, or no file, is told', async () => {
    const file = fileOf('cut.json', '{"verify": {');
    assert.match((await runCli(['verify', '--config', file])).error, /cut\.json:1:13: is not JSON/);
    const deep = fileOf('deep.json', '['.repeat(1e5));
    assert.match(
      (await runCli(['verify', '--config', deep])).error,
      /deep\.json:1:\d+: is not JSON: .* too deeply/,
    );
    assert.match((await runCli(['verify'], { configFile: folder })).error, /: cannot be read \(EISDIR\)$/);
  });

  test('may begin with a byte order mark', async () => {
    const file = fileOf('marked.json', `\uFEFF${JSON.stringify({ verify: { partner: 'nobody' } })}`);
    assert.match((await runCli(['verify', '--config', file])).error, /nobody/);
  });

  test('that says a thing twice is refused: the last would silently win', async () => {
    const file = fileOf('twice.json', '{"verify": {"url": "http://127.0.0.1:9"},\n "verify": {}}');
    const { code, error } = await runCli(['verify', '--config', file]);
    assert.deepEqual([code, error], [2, `ib-conformance: ${file}: line 2: verify stands there once more`]);
    const flag = fileOf(
      'flag-twice.json',
      String.raw`{"verify": {"skip": ["a"], "sk\u0069p": []}, "mock": {}}`,
    );
    assert.match((await runCli(['verify', '--config', flag])).error, /: line 1: skip stands there once more/);
    const apart = fileOf('apart.json', '{"verify": {"fixture": "none"}, "mock": {"fixture": "none"}}');
    assert.match((await runCli(['verify', '--config', apart])).error, /there is no such file/);
  });

  test('that is a link to nowhere is not passed over', async () => {
    const link = join(folder, 'link.json');
    symlinkSync('nowhere.json', link);
    const { code, error } = await runCli(['verify'], { configFile: link });
    assert.deepEqual([code, error], [2, `ib-conformance: ${link}: is a link that leads to no file`]);
  });

  test('is not read by what is not configured', async () => {
    const file = fileOf('broken.json', 'nonsense');
    const { code } = await runCli(words('requirements'), { configFile: file, env: { IB_JSON: 'nonsense' } });
    assert.equal(code, 0);
  });
});

describe('a wrong value is told by where it stands', () => {
  const file = fileOf('wrong.json', {
    verify: { cases: 0.5, fixture: 'nowhere.json', skip: ['nothing'] },
    mock: { 'no-admin': true, 'tls-cert': 'nowhere.pem' },
  });
  const rows = [
    ['verify', { IB_CASES: 'abc' }, 'IB_CASES=abc: needs a whole number from 1 to 1000000'],
    ['verify', { IB_URL: 'nonsense' }, 'IB_URL=nonsense: is not a URL; write it like '],
    ['verify', { IB_SUITE: 'valid,auht' }, 'IB_SUITE=auht: there is no such suite; did you mean auth?'],
    [`verify --config ${file}`, {}, `${file}: /verify/skip/0: nothing: there is no such requirement`],
    [
      `verify --skip valid/user-status/member --config ${file}`,
      {},
      `${file}: /verify/fixture: ${folder}/nowhere.json: there is no such file`,
    ],
    [
      `verify --skip valid/user-status/member --fixture schemas/built-in.fixture.json --config ${file}`,
      {},
      `${file}: /verify/cases: 0.5: needs a whole number from 1 to 1000000`,
    ],
    [`mock --admin-port 0 --config ${file}`, {}, `${file}: /mock/no-admin: leaves nothing for --admin-port`],
    [
      `mock --tls-key k --config ${file}`,
      {},
      `${file}: /mock/tls-cert: ${folder}/nowhere.pem: cannot be read`,
    ],
    ['mock', { IB_PORT: '70000' }, 'IB_PORT=70000: needs a whole number'],
    ['doctor', {}, 'doctor: which server? Give its URL, or set IB_URL'],
  ] as const;
  for (const [line, env, says] of rows)
    test(says.replaceAll(folder, '…'), async () => {
      const { code, error } = await runCli(words(line), { env });
      assert.equal(code, 2);
      assert.ok(error.startsWith(`ib-conformance: ${says}`), error);
    });
});

test('a mock that takes its port from a variable says so where that is in use', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const port = String((server.address() as AddressInfo).port);
  const { error } = await runCli(['mock'], { env: { IB_PORT: port } });
  server.close();
  assert.match(error, /the port is in use; give another --port, .* \(--port from IB_PORT\)$/);
});

test('doctor examines the target that the file names for verify', async () => {
  const file = fileOf('doctor.json', { verify: { url: 'http://127.0.0.1:9', timeout: 9000 } });
  const { code, output, aside } = await runCli(['doctor'], { configFile: file });
  assert.equal(code, 4);
  assert.match(output, /^target http:\/\/127\.0\.0\.1:9\//);
  assert.equal(aside, `config: url from ${file}\n`);
});

test('a secret of a header field shows nowhere', async () => {
  const secret = 'u7Xq2Lm8Vb4Nz1';
  const file = fileOf('header.json', {
    verify: { ...short, url: 'http://127.0.0.1:9', header: ['x-secret: ${HEADER_SECRET}'] },
  });
  const run = await runCli(['verify', '--config', file], { env: { HEADER_SECRET: secret } });
  assert.equal(run.code, 4);
  const broken = await runCli(['verify', '--config', file], { env: { HEADER_SECRET: `${secret}ü` } });
  assert.match(broken.error, /header\.json: \/verify\/header: needs 'name: value' in ASCII/);
  for (const { output, aside, error } of [run, broken])
    assert.doesNotMatch(output + aside + error, /u7Xq2Lm8/);
});
