import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RunRecord } from '../schemas/generated/types.ts';
import validateRunRecord from '../schemas/generated/run-record.cjs';
import { runCli } from './testing/run-cli.ts';
import { commandLine } from './command-line.ts';
import { commands } from './commands/index.ts';
import { builtInFixture } from './fixture-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-'));
const fixtureText = readFileSync(builtInFixture, 'utf8');

function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const call = (
  argv: readonly string[],
  env: Record<string, string> = {},
  signal = new AbortController().signal,
) => runCli(argv, { env, signal });

const words = (text: string) => text.split(' ');
const broken = (change: (text: string) => string) =>
  fileOf(`broken-${Math.random()}.json`, change(fixtureText));

/** Bad input: the exit code, and what the one line must say. */
const refusals: readonly (readonly [argv: readonly string[], code: number, says: RegExp])[] = [
  [words('verify nonsense'), 2, /nonsense: is not a URL; write it like/],
  [words('verify ftp://here'), 2, /needs http or https, not ftp/],
  [words('verify http://user:secret@here'), 2, /keys belong into the fixture/],
  [words('verify http://here/?a=b'), 2, /no query/],
  [
    words('verify http://127.0.0.1:9'),
    4,
    /127\.0\.0\.1:9\/: the connection was refused: nothing listens there/,
  ],
  [words('verify http://no-such-host.invalid'), 4, /the name does not resolve/],
  [words('verify --cases 0'), 2, /--cases 0: needs a whole number from 1/],
  [words('verify --cases 1.5'), 2, /--cases 1\.5/],
  [words('verify --seed'), 2, /Not enough arguments following: seed/],
  [words('verify --seed 1 --seed 2'), 2, /--seed was given more than once/],
  [words('verify -- http://127.0.0.1:1'), 2, /nothing goes behind --/],
  [words('verify --max-duration soon'), 2, /--max-duration soon: needs a time/],
  [words('verify --max-requests 0'), 2, /--max-requests 0: needs a whole number from 1/],
  [words('verify --max-requests 1.5'), 2, /--max-requests 1\.5/],
  [words('verify --max-requests'), 2, /Not enough arguments following: max-requests/],
  [words('verify --rate 0'), 2, /--rate 0: needs a number above 0, up to/],
  [words('verify --rate 1e3'), 2, /--rate 1e3: needs a number above 0/],
  [words('verify --rate fast'), 2, /--rate fast/],
  [words('verify --plan --rate 1 --rate 2'), 2, /--rate was given more than once/],
  [words('verify --sute auth'), 2, /sute; did you mean --suite/],
  [words('verify --suite auht'), 2, /--suite auht: there is no such suite; did you mean auth/],
  [words('verify --only auth/user-status/mising'), 2, /did you mean auth\/user-status\/missing/],
  [words('verify --skip nothing'), 2, /--skip nothing/],
  [words('verify --only auth/user-status/revocation'), 2, /leave nothing to check/],
  [
    words('verify --only auth/user-status/missing --skip auth/user-status/missing'),
    2,
    /leave nothing to check/,
  ],
  [words('verify --replay 0'), 2, /--replay speaks of one requirement/],
  [words('verify --only auth/user-status/missing --replay x'), 2, /--replay x: is not a path/],
  [words('verify --partner nobody'), 2, /--partner nobody.*northwind/],
  [words('verify --report jsn'), 2, /there is no format jsn; did you mean json/],
  [words('verify --report json --report console'), 2, /two reports would be written to standard output/],
  [
    ['verify', '--report', `json=${join(folder, 'no', 'x.json')}`],
    2,
    /x\.json: the report cannot be written: its folder does not exist/,
  ],
  [['verify', '--report', `json=${folder}`], 2, /it is a folder/],
  [['verify', '--header', 'nonsense'], 2, /--header needs 'name: value'/],
  [words('verify --ca nowhere.pem'), 2, /--ca nowhere\.pem: cannot be read/],
  [words('verify --fixture nowhere.json'), 2, /nowhere\.json: there is no such file/],
  [
    ['verify', '--fixture', fileOf('cut.json', fixtureText.slice(0, 400))],
    2,
    /cut\.json:\d+:\d+: is not JSON/,
  ],
  [
    ['verify', '--fixture', broken((text) => text.replace('"partners"', '"partner"'))],
    2,
    /unknown key "partner"; known are/,
  ],
  [
    ['verify', '--fixture', broken((text) => text.replace('11111111-1111-4111', '11111111-1111-1111'))],
    2,
    /users\[0\]\.user_id is not a UUID of version 4/,
  ],
  [
    ['verify', '--fixture', broken((text) => text.replace('"northwind-key"', '"${UNSET_KEY}"'))],
    2,
    /apiKeys\[0\]\.key needs the environment variable UNSET_KEY/,
  ],
  [words('mock --port 70000'), 2, /--port 70000/],
  [words('mock --fault nonsense'), 2, /--fault nonsense: there is no such fault/],
  [words('mock --limits perhaps'), 2, /limits/],
  [words('verfy'), 2, /did you mean verify/],
  [[], 2, /which command/],
];

for (const [argv, expected, says] of refusals)
  test(`refused: ${argv.join(' ').replaceAll(folder, '…')}`, async () => {
    const { code, output, error } = await call(argv);
    assert.match(error, says);
    assert.equal(code, expected);
    assert.equal(output, '');
    assert.doesNotMatch(error, /\n\s+at /);
  });

test('nothing is left behind where a second report cannot be written', async () => {
  const before = readdirSync(folder).length;
  await call([
    'verify',
    '--report',
    `json=${join(folder, 'first.json')}`,
    '--report',
    `console=${join(folder, 'no', 'x')}`,
  ]);
  assert.equal(readdirSync(folder).length, before);
});

test('a port in use is told', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const { code, error } = await call(['mock', '--port', String(port)]);
  server.close();
  assert.equal(code, 2);
  assert.match(
    error,
    new RegExp(`cannot listen on 127.0.0.1:${port}: the port is in use; give another --port`),
  );
});

test('a target that refuses the keys of the built-in fixture is asked for a fixture at once', async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"Unauthorized"}');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { code, error } = await call(['verify', `http://127.0.0.1:${port}`, '--no-canary']);
  server.close();
  assert.equal(code, 2);
  assert.match(error, /does not know the keys of the built-in fixture; give --fixture/);
  assert.equal(requests, 2);
});

/** Starts the mock, gives its URL to `use`, and stops it. */
async function withMock(flags: readonly string[], use: (url: string) => Promise<void>): Promise<string> {
  const stop = new AbortController();
  let output = '';
  let ready: (url: string) => void = () => undefined;
  const url = new Promise<string>((resolve) => (ready = resolve));
  const done = commandLine(['mock', '--port', '0', ...flags], {
    env: {},
    signal: stop.signal,
    print: async (text) => {
      output += text;
      const [, listening] = /^listening on (\S+)\n/.exec(output) ?? [];
      if (listening !== undefined) ready(listening);
    },
    writeError: assert.fail,
    isTerminal: false,
    terminal: { color: false, width: 100 },
  });
  try {
    await use(await url);
  } finally {
    stop.abort();
    assert.equal(await done, 0);
  }
  return output;
}

test('verify without a URL: every required requirement of the mock, but those that need a state hook', async () => {
  const file = join(folder, 'run.json');
  const { code, output } = await call([
    'verify',
    '--seed',
    '5',
    '--report',
    'console',
    '--report',
    `json=${file}`,
  ]);
  assert.equal(code, 0, output);
  const record: unknown = JSON.parse(readFileSync(file, 'utf8'));
  assert.ok(validateRunRecord(record), JSON.stringify(validateRunRecord.errors));
  const unpassed = record.requirements.filter(
    ({ level, outcome }) => level === 'required' && outcome !== 'passed',
  );
  assert.deepEqual(
    unpassed.map(({ id, outcome }) => `${id} ${outcome}`),
    ['auth/user-status/revocation excluded', 'auth/deposit-check/revocation excluded'],
  );
  assert.match(output, /auth\/user-status\/revocation \(no-state-hook\)/);
  assert.equal(record.seed, 5);
});

test('the mock in one process and verify in another agree, also behind a prefix', async () => {
  // Limiters in real time are left out: how many requests fit into a window is the machine's affair.
  const { limits: _, ...unlimited } = JSON.parse(fixtureText) as Record<string, unknown>;
  const fixture = fileOf(
    'unlimited.json',
    JSON.stringify(unlimited).replace('"afterSeconds":5', '"afterSeconds":0.5'),
  );
  const suites = ['valid', 'invalid-uuid', 'foreign-ib', 'pending', 'auth', 'robustness'].flatMap((name) => [
    '--suite',
    name,
  ]);
  await withMock(['--fixture', fixture, '--base-path', '/gateway/v2', '--log', 'silent'], async (url) => {
    assert.match(url, /\/gateway\/v2$/);
    const run = await call(['verify', `${url}/`, '--fixture', fixture, '--cases', '20', ...suites]);
    assert.equal(run.code, 0, run.output + run.error);
    assert.match(run.output, /conformant: 46 of 48 required verified/);
    // The second run finds the deposits that become EXECUTED as the first one left them, and still agrees.
    const again = await call(['verify', url, '--fixture', fixture, '--cases', '5', ...suites]);
    assert.equal(again.code, 0, again.output + again.error);
  });
});

test('a key never shows, neither in the log of the mock nor in a record that is full of failures', async () => {
  const log = await withMock(['--limits', 'off', '--log', 'json'], async (url) => {
    for (const target of ['?user_id=x&key=northwind-key', '?user_id=northwind-spare-key'])
      await fetch(`${url}/api/ib/user-status${target}`);
  });
  assert.match(log, /<key northwind\/active>/);
  assert.doesNotMatch(log, /northwind-(?:spare-)?key/);
  const server = createServer((request, response) =>
    response.end(JSON.stringify({ error: request.headers.authorization ?? request.url })),
  );
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { code, output, error } = await call([
    'verify',
    `http://127.0.0.1:${port}`,
    '--fixture',
    builtInFixture.pathname,
    '--report',
    'json',
    '--cases',
    '5',
    '--skip',
    'rate-limit/user-status/failed-lookups',
  ]);
  server.close();
  server.closeAllConnections();
  assert.equal(code, 1, error);
  assert.doesNotMatch(output, /(?:northwind|contoso|jane-personal)-(?:\w+-)?key/);
});

test('replay sends the one input that a report names', async () => {
  await withMock(['--fault', 'g-in-last-group-of-reference-id', '--log', 'silent'], async (url) => {
    const only = [
      '--only',
      'invalid-uuid/deposit-check/malformed',
      '--report',
      'json',
      '--fixture',
      builtInFixture.pathname,
    ];
    const first = await call(['verify', url, ...only]);
    assert.equal(first.code, 1);
    const [failed] = (
      JSON.parse(first.output) as {
        requirements: [{ replay: { seed: number; path: string }; counterexample: { curl: string } }];
      }
    ).requirements;
    const again = await call([
      'verify',
      url,
      ...only,
      '--seed',
      String(failed.replay.seed),
      '--replay',
      failed.replay.path,
    ]);
    const [replayed] = (JSON.parse(again.output) as { requirements: [typeof failed] }).requirements;
    assert.deepEqual(replayed.counterexample.curl, failed.counterexample.curl);
  });
});

test('the plan is printed, and nothing is sent', async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    response.end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const file = join(folder, 'of-a-plan.json');
  const planned = (...flags: readonly string[]) =>
    call([
      'verify',
      url,
      '--fixture',
      builtInFixture.pathname,
      '--plan',
      '--report',
      `json=${file}`,
      ...flags,
    ]);
  const whole = await planned();
  assert.equal(whole.code, 0, whole.error);
  assert.match(
    whole.output,
    /^plan: about [\d,]+ requests, about [\d.]+ s of waiting.*\n {2}user-status: \d+ that count; 60 pass in 3\.0 s.*2 keys\n {2}deposit-check: .*\n$/,
  );
  for (const [flag, value] of [
    ['--max-requests', '2000'],
    ['--max-duration', '15s'],
  ] as const)
    assert.match(
      (await planned(flag, value)).output,
      new RegExp(`to fit ${flag}, a requirement gets at most`),
    );
  assert.match((await planned('--rate', '10')).output, /about \d min \d+ s of waiting/);
  server.close();
  assert.equal(requests, 0);
  assert.ok(!readdirSync(folder).includes('of-a-plan.json'));
});

test('a verdict on a part says so, in the record and in every report', async () => {
  const one = words('verify --only valid/user-status/member --cases 1 --seed 1 --no-canary --report');
  const note = /Narrowed by --suite or --only: the verdict is on 1 requirement, not on all\./;
  for (const [format, says] of [
    ['json', note],
    ['html', note],
    ['console', note],
    ['ndjson', /"selection":\{"whole":false,/],
  ] as const) {
    const { code, output } = await call([...one, format]);
    assert.equal(code, 0);
    assert.match(output.replaceAll(/\s+/g, ' '), says, format);
  }
  // What is skipped stands in the report as such.
  const skipped = await call(
    words('verify --skip valid/user-status/member --cases 1 --seed 1 --no-canary --report json'),
  );
  assert.doesNotMatch(skipped.output, /the verdict is on/);
});

test('no more is sent than --max-requests, the cut is even, though one endpoint is slower, and is said', async () => {
  const { output, error } = await call(
    words('verify --suite invalid-uuid --seed 1 --max-requests 300 --no-canary --report json'),
  );
  const record = JSON.parse(output) as RunRecord;
  assert.ok(record.requests <= 300, error);
  assert.match(record.notes.join(), /Shallower than asked for/);
  const [one, other] = ['user-status', 'deposit-check'].map((endpoint) =>
    record.requirements.find(({ id }) => id === `invalid-uuid/${endpoint}/malformed`),
  );
  assert.ok(one!.cases > 10 && other!.cases > 10);
  assert.ok(Math.max(one!.cases, other!.cases) <= 4 * Math.min(one!.cases, other!.cases));
});

test('an interrupted run is reported, and ends with 130', async () => {
  await withMock(['--log', 'silent'], async (url) => {
    const stop = new AbortController();
    const running = call(['verify', url, '--report', 'json'], {}, stop.signal);
    stop.abort();
    const { code, output } = await running;
    assert.equal(code, 130);
    assert.equal((JSON.parse(output) as { interrupted: boolean }).interrupted, true);
  });
});

const named = ({ usage }: { readonly usage: string }) => usage.split(' ')[0]!;
const everyCommand = commands.flatMap((one) =>
  'commands' in one
    ? one.commands.map(({ flags, ...command }) => ({ words: [one.usage, named(command)], flags }))
    : [{ words: [named(one)], flags: one.flags }],
);

for (const { words: command, flags } of everyCommand)
  test(`the help of ${command.join(' ')} fits a screen of 24 lines and 80 columns; with --all it has every flag`, async () => {
    const help = async (...more: readonly string[]) =>
      (await runCli([...command, '--help', ...more], { terminal: { color: false, width: 80 } })).output
        .trimEnd()
        .split('\n');
    const lines = await help();
    assert.ok(lines.length <= 24, lines.join('\n'));
    assert.ok(Math.max(...lines.map(({ length }) => length)) <= 80, lines.join('\n'));
    const all = (await help('--all')).join('\n');
    for (const flag of Object.keys(flags)) assert.match(all, new RegExp(`--${flag}\\b`));
    const left = Object.values(flags).filter(({ isRare }) => isRare === true).length;
    if (left > 0)
      assert.ok(lines.some((line) => line.includes(`--all`) && line.includes(`${left} more flags`)));
  });

test('--all without help is refused: whoever means all that can be verified has that already', async () => {
  const { code, error } = await call(['verify', '--all']);
  assert.equal(code, 2);
  assert.match(error, /--all goes with --help/);
});

test('help names every exit code, and each command shows examples', async () => {
  const { code, output } = await call(['--help']);
  assert.equal(code, 0);
  for (const exitCode of [0, 1, 2, 3, 4, 70, 130]) assert.match(output, new RegExp(`^ +${exitCode}  `, 'm'));
  for (const command of ['verify', 'mock'])
    assert.match((await call([command, '--help'])).output, /Examples:/);
});
