import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, beforeEach, describe, test } from 'node:test';
import { reference } from '../../mock/server/handler.ts';
import { faults } from '../../mock/deviations/faults.ts';
import { startMock } from '../../mock/server/server.ts';
import { Problem } from '../../schemas/problem.ts';
import { withServer } from '../../suites/testing/against.ts';
import { temporaryFolder } from '../dev/testing/temporary-folder.ts';
import { endsSaying, runCli } from '../dev/testing/run-cli.ts';
import { builtIn } from '../dev/testing/fixtures.ts';
import { loadFixture } from '../input-files.ts';
import { CONFIG_FILE, type CliContext, type Prompter } from '../cli-context.ts';

const KEY = 'northwind-key';
const env = { IB_API_KEY: KEY };
const member = '11111111-1111-4111-8111-111111111111';
const executed = builtIn.deposits![0]!.reference_id;
const files = ['fixture.json', CONFIG_FILE];
describe('in an empty folder', () => {
  const home = process.cwd();
  // init writes into the working directory.
  beforeEach(() => process.chdir(temporaryFolder().folder));
  after(() => process.chdir(home));

  const init = (argv: readonly string[], context: Partial<CliContext> = { env }) =>
    runCli(['init', ...argv], context);

  /** Fakes a user with these answers. Asks again after an invalid answer. */
  function person(...answers: readonly (string | Problem)[]) {
    const shown: string[] = [];
    const left = [...answers];
    const prompter: Prompter = {
      ask: async ({ message, isSecret, problem }) => {
        for (;;) {
          shown.push(isSecret ? `secret: ${message}` : message);
          const answer = left.shift() ?? assert.fail(message);
          if (answer instanceof Problem) throw answer;
          const found = problem(answer);
          if (found === undefined) return answer;
          shown.push(found);
        }
      },
    };
    return { shown, left, prompter: async () => prompter };
  }

  test('with flags and environment, it writes the data of the server without questions', async () => {
    await using mock = await startMock({});
    const { stderr, output } = await endsSaying(
      ['init', '--url', mock.url, '--member', member, '--executed', executed, '--yes'],
      0,
      [
        /^ready for verify/m,
        /^users\[0\]\.date_joined\n {2}you typed: +nothing\n {2}the server sent: {2}"2024-02-29T23:59:59\.999Z"\n {2}in the fixture: +2024-02-29T23:59:59\.999Z$/m,
        /^deposits\[0\]\.amountInUsd\n.*\n.*\n {2}in the fixture: +\d/m,
        /Where you typed nothing, fixture\.json has what the server sent\./,
        /^wrote fixture\.json\nwrote ib-conformance\.config\.json\n/,
        // After what was compared, there are at most 15 lines.
        /\n\ntarget (?:.*\n){1,14}next: npx ib-conformance verify\n$/,
        /\nnext: npx ib-conformance verify\n$/,
      ],
      { env },
    );
    assert.equal(stderr, '');
    assert.deepEqual(readdirSync('.').toSorted(), files);
    assert.deepEqual(JSON.parse(readFileSync(CONFIG_FILE, 'utf8')), {
      $schema: './node_modules/ib-conformance/schemas/config.schema.json',
      verify: { url: mock.url, fixture: 'fixture.json' },
    });
    const fixture = await loadFixture('fixture.json', env);
    assert.equal(fixture.$schema, './node_modules/ib-conformance/schemas/fixture.schema.json');
    assert.equal(fixture.users![0]!.date_joined, '2024-02-29T23:59:59.999Z');
    assert.equal(fixture.deposits![0]!.state, 'EXECUTED');
    assert.ok(!(output + files.map((file) => readFileSync(file, 'utf8')).join('')).includes(KEY));
    // The next command needs only the written files.
    const next = await endsSaying('doctor', 0, [], { env, configFile: CONFIG_FILE });
    assert.ok(next.output.includes(`target ${mock.url}`), next.output);
  });

  test('it asks for missing values, hides the key, and repeats a question after an invalid answer', async () => {
    await using mock = await startMock({});
    const answers = ['nonsense', mock.url, 'a b', KEY, '1', member, 'yesterday', '', '', '60', '60/1m', ''];
    const { shown, left, prompter } = person(...answers);
    const next = /\nnext: export IB_API_KEY=…; npx ib-conformance verify\n$/;
    await endsSaying('init', 0, next, { prompter });
    assert.deepEqual(left, []);
    const failed = "failed lookups of user-status until 429, such as 60/1m (Enter: I don't know)";
    assert.deepEqual(shown, [
      'URL of the server ({base_url})',
      'nonsense: is not a URL; write it like https://api.example.com/gateway',
      'URL of the server ({base_url})',
      'secret: API key of the partner (is not shown, and is written to no file)',
      'a header cannot contain this key: use visible ASCII without spaces',
      'secret: API key of the partner (is not shown, and is written to no file)',
      'user_id of a user under the IB (Enter: none)',
      '1: is not a UUID of version 4',
      'user_id of a user under the IB (Enter: none)',
      'date_joined of this user in your records (Enter: take what the server says)',
      'yesterday: needs a time with its zone, such as 2024-02-29T23:59:59.999Z',
      'date_joined of this user in your records (Enter: take what the server says)',
      'reference_id of an EXECUTED deposit of that user (Enter: none)',
      failed,
      '60: needs a number and a time, such as 60/1m',
      failed,
      "requests of deposit-check until 429, such as 250/1m (Enter: I don't know)",
    ]);
    const fixture = await loadFixture('fixture.json', env);
    assert.deepEqual([fixture.users!.length, fixture.deposits!.length], [1, 0]);
    assert.deepEqual(fixture.limits, { 'user-status': { failedLookups: 60, windowSeconds: 60 } });
  });

  test('what was typed stands beside what the server sent, as it was sent, and is written', async () => {
    const behaviour = faults['date-day-and-month-swapped']!.change(reference);
    await using mock = await startMock({ behaviour });
    const wanted = '2023-01-02T03:04:05.006Z';
    const { left, prompter } = person(wanted, '0.5', '2024-01-15T10:30:00Z', '', '250/90s');
    const flags = ['--url', mock.url, '--member', 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'];
    const { code, output } = await init([...flags, '--executed', executed], { env, prompter });
    // A run can start. It finds what is wrong.
    assert.deepEqual([code, left], [0, []]);
    assert.match(
      output,
      /^users\[0\]\.date_joined\n {2}you typed: {8}2023-01-02T03:04:05\.006Z\n {2}the server sent: {2}"2023-02-01T03:04:05\.006Z" {2}\(differs\)\n {2}in the fixture: {3}2023-01-02T03:04:05\.006Z$/m,
    );
    assert.match(output, /✗ users\[0\]/);
    assert.doesNotMatch(output, /Where you typed nothing/);
    const { users, deposits, limits } = await loadFixture('fixture.json', env);
    assert.equal(users![0]!.date_joined, wanted);
    const deposit = { state: 'EXECUTED', amountInUsd: 0.5, executedAt: Date.UTC(2024, 0, 15, 10, 30) };
    assert.deepEqual(deposits, [{ reference_id: executed, user_id: users![0]!.user_id, ...deposit }]);
    assert.deepEqual(limits, { 'deposit-check': { requests: 250, windowSeconds: 90 } });
  });

  const url = 'http://127.0.0.1:9';

  /** Invalid or missing values, and the message before anything is sent. */
  const refusals: readonly (readonly [flags: string, pattern: RegExp, key?: string])[] = [
    ['', /--url is missing, and there is no terminal to ask for it/],
    ['--url nonsense', /nonsense: is not a URL/],
    [`--url ${url}`, /IB_API_KEY is missing/, ''],
    [`--url ${url}`, /a header cannot contain this key/, 'a secret'],
    [`--url ${url} --requests x`, /--requests x: needs a number and a time, such as 60\/1m/],
    [`--url ${url} --member x`, /--member x: is not a UUID of version 4/],
    [`--url ${url} --member ${member} --executed x`, /--executed x: is not a UUID/],
    [`--url ${url} --executed ${executed}`, /--executed needs --member/],
    [`--url ${url} --ca none.pem`, /--ca none\.pem: cannot be read/],
    [`--url ${url} --force --fixture ./${CONFIG_FILE}`, /--fixture \S+: this is the name of the config file/],
    [`--url ${url} --yes --fixture /dev/null/f.json`, /null\/f\.json: the fixture cannot be written/],
  ];

  for (const [flags, pattern, key = KEY] of refusals)
    test(`init ${flags} is refused: ${pattern.source}`, async () => {
      const { error } = await endsSaying(`init ${flags}`, 2, pattern, { env: { IB_API_KEY: key } });
      assert.ok(error !== '' && !error.includes('secret'));
      assert.deepEqual(readdirSync('.'), []);
    });

  test('existing files are reported before any question and kept; --force overwrites them', async () => {
    await using mock = await startMock({});
    for (const file of files) writeFileSync(file, 'mine');
    const { shown, prompter } = person();
    const refused = await init([], { prompter });
    assert.equal(refused.code, 2);
    for (const file of files) {
      assert.ok(refused.error.includes(`${file}: exists; --force`), refused.error);
      assert.equal(readFileSync(file, 'utf8'), 'mine');
    }
    assert.deepEqual(shown, []);
    assert.equal((await init(['--url', mock.url, '--yes', '--force'])).code, 0);
    for (const file of files) assert.notEqual(readFileSync(file, 'utf8'), 'mine');
  });

  test('if one file cannot be written, it writes none', async () => {
    await using mock = await startMock({});
    mkdirSync(files[1]!);
    const words = /ib-conformance\.config\.json: the config file cannot be written: it is a folder/;
    await endsSaying(`init --url ${mock.url} --yes --force`, 2, words, { env });
    assert.deepEqual(readdirSync('.'), [files[1]]);
  });

  test('if the server is unreachable, the files are written all the same', async () => {
    const words = [
      /✗ HTTP +the connection was refused/,
      /the server sent: {2}the connection was refused/,
      /in the fixture: {3}left out, because a value is missing: add it there/,
      /wrote fixture\.json[^]*\nnext: Start the server[^]*$/,
    ];
    await endsSaying(`init --url ${url} --member ${member}`, 4, words, { env });
    assert.deepEqual((await loadFixture('fixture.json', env)).users, []);
    const { prompter } = person('2024-01-01T00:00:00Z', '', '', '');
    const flags = ['--url', url, '--member', member, '--force'];
    assert.equal((await init(flags, { env, prompter })).code, 4);
    assert.equal((await loadFixture('fixture.json', env)).users![0]!.date_joined, '2024-01-01T00:00:00Z');
  });

  test('it reports a refused key and unknown ids, and writes the files', async () => {
    await using mock = await startMock({});
    const refused = [
      /✗ <key partner\/active> +refused \(401\)/,
      /\nnext: Check that the target has this key.*correct IB_API_KEY\.\n/,
    ];
    const stranger = { env: { IB_API_KEY: 'never-issued' } };
    const { output } = await endsSaying(`init --url ${mock.url}`, 2, refused, stranger);
    assert.ok(!output.includes('never-issued'));
    const others = `--member ${executed.replace(/-.{4}-/, '-1111-')} --executed ${member}`;
    const unknown = [
      /users\[0\]\.date_joined\n.*\n {2}the server sent: {2}200 .*"is_under_ib":false/,
      /deposits\[0\]\.amountInUsd\n.*\n {2}the server sent: {2}404 .*\n.*left out/,
    ];
    await endsSaying(`init --url ${mock.url} ${others} --force`, 0, unknown, { env });
    assert.deepEqual(readdirSync('.').toSorted(), files);
  });

  test('an interruption at a question or during a request writes nothing', async () => {
    const interrupted = new Problem('interrupted', 'interrupted: nothing was written');
    const { code, error } = await init([], { prompter: person(url, interrupted).prompter });
    assert.deepEqual([code, error], [130, 'ib-conformance: interrupted: nothing was written']);
    const stop = new AbortController();
    const waiting = await withServer(
      createServer(() => stop.abort()),
      (port) => {
        const argv = ['--url', `http://127.0.0.1:${port}`, '--member', member, '--yes'];
        return init(argv, { env, signal: stop.signal });
      },
    );
    assert.deepEqual([waiting.code, waiting.output], [130, '']);
    assert.ok(!files.some((file) => existsSync(file)));
  });
});
