import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { CONFIG_FILE } from './cli-context.ts';
import { loadCommands, readCommandLine } from './command-line.ts';
import { nameOf, type Command } from './commands/command.ts';
import { doctor } from './commands/doctor.ts';
import { requirements } from './commands/requirements.ts';
import { mock } from './commands/mock.ts';
import { verify } from './commands/verify.ts';
import { configure, problemsOf, sectionsOf } from './config.ts';
import { endsSaying, quietContext } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const { folder, place, fileOf } = temporaryFolder();
const commands = await loadCommands();
const sections = sectionsOf(commands);

/** Returns the configured values of a command, and its standard error. */
async function configured(
  command: Command,
  typed: Record<string, unknown>,
  env: Record<string, string> = {},
  contents?: Record<string, unknown>,
) {
  let stderr = '';
  const context = {
    ...quietContext,
    env,
    ...(contents === undefined ? {} : { configFile: fileOf('c.json', contents) }),
    writeError: (text: string) => void (stderr += text),
  };
  const { ofFile: _, ...given } = await configure(command, typed, context, loadCommands);
  return { given, stderr: stderr.replaceAll(folder, '…') };
}

/** Returns the variables for flags, by the names of these. */
const variables = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, text]) => [`IB_CONFORMANCE_${name}`, text]));

/** Returns the values that a command line, variables and the config file give to a command. */
async function valuesOf(argv: readonly string[], env: Record<string, string>) {
  const { values = {} } = await readCommandLine(argv, { ...quietContext, env });
  return values;
}

test('a flag overrides a variable, and a variable the file', async () => {
  const file = { cases: 3 };
  const variable = { IB_CONFORMANCE_CASES: '2' };
  for (const [typed, env, section, value, note] of [
    [{ cases: '1' }, variable, file, '1', ''],
    [{}, variable, file, '2', 'config: cases from IB_CONFORMANCE_CASES\n'],
    [{}, {}, file, '3', 'config: cases from …/c.json\n'],
    [{}, {}, {}, undefined, ''],
  ] as const) {
    const { given, stderr } = await configured(verify, typed, env, { verify: section });
    assert.deepEqual([given['cases'], stderr], [value, note]);
  }
  // Also a value that is false or empty. Lists are not merged.
  const typed = { strict: false, url: '', only: ['auth'] };
  const set = { STRICT: 'true', URL: 'http://x', ONLY: 'valid' };
  assert.deepEqual((await configured(verify, typed, variables(set))).given, typed);
});

describe('a variable', () => {
  const good: readonly (readonly [flag: string, text: string, value: unknown])[] = [
    ['url', 'http://x', 'http://x'],
    ['only', 'auth', ['auth']],
    ['only', 'auth, valid\npending\n', ['auth', 'valid', 'pending']],
    ['header', 'accept: a, b\nx: ${NAME}', ['accept: a, b', 'x: ${NAME}']],
    ['report', 'console,json=a.json', ['console', 'json=a.json']],
    ['fixture', '', undefined],
  ];
  for (const [flag, text, value] of good)
    test(`of ${flag}: ${JSON.stringify(text)}`, async () => {
      const env = variables({ [flag.toUpperCase()]: text });
      assert.deepEqual((await configured(verify, {}, env)).given[flag], value);
    });

  const bad = [
    [mock, 'IB_CONFORMANCE_LIMITS', 'perhaps', 'IB_CONFORMANCE_LIMITS=perhaps: needs on or off'],
    [verify, 'IB_CONFORMANCE_URL', '', 'IB_CONFORMANCE_URL is empty: give it a value, or unset it'],
  ] as const;
  for (const [command, variable, text, message] of bad)
    test(`${variable}=${text} is rejected`, () =>
      assert.rejects(configured(command, {}, { [variable]: text }), { code: 'usage', message }));

  test('set by Kubernetes is ignored', async () => {
    const env = variables({
      PORT: 'tcp://10.0.0.1:80',
      ADMIN_PORT: 'tcp://[fd00::1]:80',
      SERVICE_HOST: '10.0.0.1',
      SERVICE_PORT: '80',
      PORT_80_TCP: 'tcp://10.0.0.1:80',
      PORT_80_TCP_PORT: '80',
      ADMIN_SERVICE_PORT_HTTP: '80',
      ADMIN_PORT_80_UDP_ADDR: '10.0.0.1',
    });
    const { given, stderr } = await configured(mock, {}, env, { mock: { port: 8080 } });
    assert.deepEqual([given, stderr], [{ port: '8080' }, 'config: port from …/c.json\n']);
    assert.equal((await configured(mock, {}, { IB_CONFORMANCE_PORT: '80' })).given['port'], '80');
  });

  test('that no command reads is an error of every command', async () => {
    const meant = (name: string) => `no command has this flag; did you mean IB_CONFORMANCE_${name}?`;
    const onlyTyped = 'this works only on the command line; unset the variable';
    const problems = {
      ADMIN: meant('NO_ADMIN'),
      CASSES: meant('CASES'),
      FIXTURES: meant('FIXTURE'),
      DURATION: meant('MAX_DURATION'),
      MOCK_PORT: meant('PORT'),
      STRICTNESS: 'no command has this flag; unset the variable',
      REPLAY: onlyTyped,
      NO_BECOMES: onlyTyped,
      REQUEST: onlyTyped,
    };
    const used = ['MOCK_URL', 'MOCK_KEY', 'PORT', 'NO_ADMIN', 'ALLOW', 'CASES', 'CONFIG'];
    const env = variables(Object.fromEntries([...Object.keys(problems), ...used].map((name) => [name, '1'])));
    const message = Object.entries(problems).map(([name, words]) => `IB_CONFORMANCE_${name}: ${words}`);
    const others = { IB_CASES: '1', IB_ADMIN: 'false', IB_CONFORMANCE_EMPTY: '' };
    const problem = { code: 'usage', message: message.join('\n') };
    for (const command of commands)
      await assert.rejects(configured(command, {}, { ...others, ...env }), problem);
  });
});

test('in the config file, relative paths start from its folder, and numbers are as typed', async () => {
  const report = ['console', 'json=out/run=1.json', 'html=/tmp/r.html', 'junit='];
  const files = { fixture: 'f.json', ca: '/etc/ca.pem', baseline: '../known.json', report };
  const { given } = await configured(verify, {}, {}, { verify: { ...files, cases: 20, strict: true } });
  assert.deepEqual(given, {
    fixture: `${folder}/f.json`,
    ca: '/etc/ca.pem',
    baseline: place('../known.json'),
    report: ['console', `json=${folder}/out/run=1.json`, 'html=/tmp/r.html', 'junit='],
    cases: '20',
    strict: true,
  });
});

test('only header fields expand variables, wherever they are given', async () => {
  const fields = ['accept: a, b', 'x: ${A}-${B}'];
  const sources = [
    [fields.flatMap((field) => ['--header', field]), {}],
    [[], { IB_CONFORMANCE_HEADER: fields.join('\n') }],
    [['--config', fileOf('h.json', { verify: { header: fields } })], {}],
  ] as const;
  for (const [argv, env] of sources) {
    const read = (B: string) => valuesOf(['verify', '--partner', '${A}', ...argv], { ...env, A: '1', B });
    const { header, partner } = await read('2');
    assert.deepEqual([header, partner], [{ accept: 'a, b', x: '1-2' }, '${A}']);
    const problem = { code: 'usage', message: /--header needs the environment variable B, wh/ };
    await assert.rejects(read(''), problem);
  }
});

const notBooleans = 'yes no 1 0 tru flase maybe TRUE on constructor true,true'.split(' ');

for (const command of commands)
  describe(`a boolean of ${nameOf(command)} is true, false or nothing`, () => {
    const { flags, positionals, configured: { section = '' } = {} } = command;
    const needed = Object.values(positionals).flatMap(({ demandOption }) => (demandOption ? ['x'] : []));
    for (const [name, { configurable }] of Object.entries(flags).filter((one) => one[1].type === 'boolean'))
      test(`--${name}`, async () => {
        const flag = `--${name}`;
        const check = async (value: boolean | RegExp, argv: readonly string[], text = '', file?: unknown) => {
          const contents = { [section]: { [name]: file } };
          const inFile = file === undefined ? [] : ['--config', fileOf('b.json', contents)];
          const env = variables({ [name.toUpperCase().replaceAll('-', '_')]: text });
          const reading = valuesOf([nameOf(command), ...needed, ...inFile, ...argv], env);
          const key = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
          if (typeof value === 'boolean')
            assert.equal((await reading)[key], value, `${argv.join(' ')} ${text}`);
          else await assert.rejects(reading, { code: 'usage', message: value });
        };
        for (const argv of [[], [`${flag}=false`], [flag, 'false']]) await check(false, argv);
        for (const argv of [[flag], [`${flag}=true`], [flag, 'true']]) await check(true, argv);
        for (const form of ['', ...notBooleans])
          await check(/: needs true or false, or no/, [`${flag}=${form}`]);
        await check(/was given more than once/, [flag, `${flag}=false`]);
        await check(/^Unknown argument/, [`${flag}.x=true`]);
        const isReadBy = ({ flags: own, configured: by }: Command) =>
          configurable === undefined && by !== undefined && name in own && by.only?.includes(name) !== false;
        if (!isReadBy(command))
          return check(commands.some(isReadBy) ? false : /this works only on the command line/, [], 'true');
        for (const value of [true, false]) {
          await check(value, [], `${value}`);
          await check(value, [], '', value);
          await check(value, [`${flag}=${value}`], `${!value}`, !value);
        }
        for (const form of notBooleans) await check(/: needs true or false$/, [], form);
        for (const form of [...notBooleans, 0, 1, null, []])
          await check(/needs true or false$/, [], '', form);
      });
  });

test('the replay command of a report means the same with any config', async () => {
  const contents = {
    verify: { baseline: 'known.json', report: ['json=run.json'], partner: 'p', cases: 7, only: ['auth'] },
  };
  const typed = { only: ['valid/user-status/member'], seed: '1', replay: '3' };
  const env = { IB_CONFORMANCE_REPORT: 'junit', IB_CONFORMANCE_CASES: '8', IB_CONFORMANCE_SKIP: 'x' };
  assert.deepEqual((await configured(verify, typed, env, contents)).given, { ...typed, partner: 'p' });
  const both = { ...typed, report: ['html'] };
  assert.deepEqual((await configured(verify, both, env, contents)).given, { ...both, partner: 'p' });
});

test('doctor reads only the target from the section of verify', async () => {
  const contents = { verify: { url: 'http://x', fixture: 'f.json', timeout: 9000, strict: true } };
  const { given } = await configured(doctor, {}, { IB_CONFORMANCE_TIMEOUT: '8000' }, contents);
  assert.deepEqual(given, { url: 'http://x', fixture: `${folder}/f.json` });
});

test('a command without config reads neither variables nor a file', async () => {
  const env = { IB_CONFORMANCE_STRICT: 'true' };
  assert.deepEqual((await configured(requirements, {}, env, { nonsense: 1 })).given, {});
});

describe('a problem of the config file is reported with its place', () => {
  const bad: Readonly<Record<string, string>> = {
    '[]': '/: needs an object',
    '{"verfy": {}}': '/verfy: unknown key; did you mean verify?',
    '{"constructor": {}}': '/constructor: unknown key',
    '{"verify": []}': '/verify: needs an object',
    '{"verify": {"casse": 1}}': '/verify/casse: unknown key; did you mean cases?',
    '{"mock": {"admin": false}}': '/mock/admin: unknown key; did you mean no-admin?',
    '{"verify": {"stateUrl": "x"}}': '/verify/stateUrl: unknown key; did you mean state-url?',
    '{"verify": {"__proto__": 1}}': '/verify/__proto__: unknown key',
    '{"verify": {"a\\u001b": 1}}': String.raw`/verify/a\u{1b}: unknown key`,
    '{"verify": {"replay": "x"}}': '/verify/replay: cannot be in a config file',
    '{"mock": {"admin-token": "s3cret"}}': '/mock/admin-token: cannot be in a config file',
    '{"verify": {"cases": "20"}}': '/verify/cases: needs a number, without quotes',
    '{"verify": {"strict": "true"}}': '/verify/strict: needs true or false',
    '{"verify": {"only": "auth"}}': '/verify/only: needs a list of strings',
    '{"verify": {"only": [""]}}': '/verify/only: needs a list of strings',
    '{"verify": {"partner": "\\u001b[31m"}}': '/verify/partner: needs a string without control characters',
    '{"mock": {"limits": "perhaps"}}': '/mock/limits: needs on or off',
  };
  for (const [text, message] of Object.entries(bad))
    test(text, () => assert.deepEqual(problemsOf(JSON.parse(text), sections), [message]));
});

test('the published schema accepts and rejects the same values as the program', () => {
  const file = new URL('../schemas/config.schema.json', import.meta.url);
  const validate = new Ajv2020({ strict: true }).compile(JSON.parse(readFileSync(file, 'utf8')) as object);
  const value = fc.oneof(
    fc.constantFrom<unknown>(1, 0.5, true, '', 'text', 'te\0xt', 'on', 'real', ['a'], [''], ['\n'], [1]),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const names = Object.values(sections).flatMap((section) => Object.keys(section));
  const section = fc.dictionary(fc.constantFrom(...names, 'casse'), value, { maxKeys: 2 });
  const part = fc.oneof({ weight: 9, arbitrary: section }, { weight: 1, arbitrary: value });
  const keys = fc.constantFrom(...Object.keys(sections), '$schema', 'doctor');
  const seen = { good: 0, bad: 0 };
  fc.assert(
    fc.property(fc.dictionary(keys, part, { maxKeys: 2 }), (config) => {
      const isGood = problemsOf(config, sections).length === 0;
      seen[isGood ? 'good' : 'bad'] += 1;
      assert.equal(validate(config), isGood, JSON.stringify(validate.errors));
    }),
    { seed: 7, numRuns: 3000 },
  );
  assert.ok(seen.good > 300 && seen.bad > 300, JSON.stringify(seen));
});

/** A short run. */
const short = [
  'verify',
  'mock',
  '--only',
  'valid/user-status/member',
  '--max-requests',
  '9',
  '--report',
  'json',
];

test('the config file is read in the working directory, or above it in the repository', async () => {
  const program = new URL('ib-conformance.mjs', import.meta.url).pathname;
  const top = dirname(fileOf(`here/${CONFIG_FILE}`, { verify: { cases: 1, rate: 5 } }));
  const cwd = dirname(fileOf('here/a/b/c.txt', ''));
  const config = async (from: string) => {
    const argv = [program, ...short, '--rate', '9'];
    return (await promisify(execFile)(process.execPath, argv, { cwd: from })).stderr;
  };
  assert.equal(await config(top), 'config: cases from ib-conformance.config.json\n');
  assert.equal(await config(cwd), '', 'without a repository');
  fileOf('here/.git', '');
  assert.equal(await config(cwd), 'config: cases from ../../ib-conformance.config.json\n');
  fileOf('here/a/.git', '');
  assert.equal(await config(cwd), '', 'above the repository');
});

test('without a URL and outside CI, the first line says what is verified, and what to do for a server', async () => {
  const { stderr } = await endsSaying(short.toSpliced(1, 1), 0);
  assert.match(
    stderr,
    /^no URL was given, so this verifies the built-in mock\. For a server: npx .* init, or/,
  );
});

test('the config file is optional, unless --config names it', async () => {
  const missing = place('missing.json');
  const { stderr } = await endsSaying(short, 0, [], { configFile: missing });
  assert.equal(stderr, '');
  const words = /--config \S+missing\.json: cannot be read \(ENOENT\)/;
  await endsSaying([...short, '--config', missing], 2, words);
  await endsSaying(short, 2, words, { env: { IB_CONFORMANCE_CONFIG: missing } });
});

test('a truncated file and a folder are rejected, and all problems of a file at once', async () => {
  const file = fileOf('cut.json', '{"verify": {');
  await endsSaying(`verify --config ${file}`, 2, /cut\.json:1:13: is not JSON/);
  await endsSaying('verify', 2, /: cannot be read \(EISDIR\)$/, { configFile: folder });
  const bad = fileOf('bad.json', { verify: { casse: 1 }, mock: { port: '4010' } });
  const both = /bad\.json: \/verify\/casse: .*\n.*bad\.json: \/mock\/port: needs a number/;
  const { output, stderr, error } = await endsSaying([...short, '--config', bad], 2, both);
  assert.deepEqual([output, stderr], ['', error]);
});
