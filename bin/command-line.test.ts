import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { reference } from '../mock/server/handler.ts';
import { faults } from '../mock/deviations/faults.ts';
import { startMock } from '../mock/server/server.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import { readFixture } from '../schemas/fixture.ts';
import { reportFormats } from '../reports/document.ts';
import { endsSaying, runCli, testRefusals } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';
import { nameOf } from './commands/command.ts';
import { loadCommands } from './command-line.ts';
import { builtInFixture } from './dev/paths.ts';

const { folder, fileOf } = temporaryFolder();
const builtIn = builtInFixture;
const fixtureText = readFileSync(builtIn, 'utf8');

const broken = (part: string, replacement: string) =>
  fileOf(`broken-${part.length}.json`, fixtureText.replace(part, replacement));

testRefusals('', [
  ['verify nonsense', /nonsense: is not a URL; write it like/],
  ['verify http://no-such-host.invalid', /the name does not resolve/, 4],
  ['verify --cases 0', /--cases 0: needs a whole number from 1/],
  ['verify --concurrency 257', /--concurrency 257: needs a whole number from 1 to 256/],
  ['verify --seed', /--seed needs a value \(see --help\)/],
  ['verify --seed 1 --seed 2', /--seed was given more than once/],
  ['verify -- http://127.0.0.1:1', /-- takes no arguments here/],
  ['verify --all', /Unknown argument: all/],
  ['hasOwnProperty', /Unknown argument: hasOwnProperty \(see --help\)/],
  ['verify --max-duration soon', /--max-duration soon: needs a time/],
  ['verify --rate 0', /--rate 0: needs a number above 0, up to/],
  ['verify --olny auth', /olny; did you mean --only/],
  ['fixture --report html', /^ib-conformance: Unknown argument: report \(see --help\)/],
  ['verify --only auht', /--only auht: there is no such requirement or suite; did you mean auth/],
  ['verify --only auth/user-statsu', /did you mean auth\/user-status/],
  ['verify --skip valid/user-status/mem', /there is no such requirement or suite; did you mean/],
  ['verify --only auth/user-status/mising', /did you mean auth\/user-status\/missing/],
  ['verify http://127.0.0.1:9 --only auth/user-status/revocation', /leave nothing to check/],
  ['verify --only valid/user-status/member --skip valid/user-status/member', /leave nothing to check/],
  ['verify --replay auth/user-status/mising', /mising: there is no such requirement or lookup; copy it/],
  ['verify --replay auth', /--replay auth: there is no such requirement/],
  ['verify --partner nobody', /--partner nobody.*northwind/],
  ['verify --report xml', /there is no format xml \(known: console/],
  [`verify --report json=${builtIn}/no/x.json`, /x\.json: the report cannot be written: a part of its path/],
  [`verify --report json=${folder}`, /it is a folder/],
  ['verify --header nonsense', /--header needs 'name: value'/],
  ['verify --header expect:x', /--header: expect is not allowed: the client sets it for each connection/],
  [`verify --fixture ${fileOf('cut.json', fixtureText.slice(0, 400))}`, /cut\.json:\d+:\d+: is not JSON/],
  [`verify --fixture ${broken('"partners"', '"partner"')}`, /unknown key "partner"; known are/],
  [
    `verify --fixture ${broken('"northwind-key"', '"${UNSET_KEY}"')}`,
    /apiKeys\[0\]\.key needs the environment variable UNSET_KEY/,
  ],
  ['answers', /an argument is missing: npx ib-conformance answers <request>/],
  [`verify --ca ${fileOf('key.pem', '-----BEGIN PRIVATE KEY-----')}`, /key\.pem: is a private key; give/],
  [`verify --ca ${builtIn}`, /has no certificate in PEM; give the file that begins with/],
  ['mock --fault lisst', /--fault lisst: there is no such fault; did you mean list\?/],
  ['mock --fault nonsense', /--fault nonsense: there is no such fault/],
  ['mock --limits perhaps', /--limits perhaps: choose from "on", "off"/],
  ['verfy', /did you mean verify/],
  ['mok', /mok; did you mean mock\?/],
  ['', /give a command/],
  ['help verfy', /Unknown argument: verfy; did you mean verify/],
  ['verify --grace 5', /--grace 5: needs a time above 0 with a unit, such as/],
]);

// Without limits: the number of requests in a window depends on the speed of the machine.
const soon = fixtureText.replace(/("afterSeconds": *)5/, '$10.5');
const { limits: _, ...unlimited } = readFixture(soon, 'soon', {});
const unlimitedFile = fileOf('unlimited.json', unlimited);

test('verify passes the mock, also with a base path', async () => {
  const suites = 'valid invalid-uuid foreign-ib pending auth robustness'.replaceAll(/\S+/g, '--only $&');
  await using mock = await startMock({ fixture: unlimited, basePath: '/gateway/v2' });
  const flags = `--fixture ${unlimitedFile} --cases 100 ${suites}`;
  const all = /conformant \(narrowed by --only\): 50 of 52 required verified/;
  await endsSaying(`verify ${mock.url}/ ${flags}`, 0, all);
  // In the second run, the deposits that become EXECUTED are EXECUTED from the start. Nothing else differs.
  await endsSaying(`verify ${mock.url} ${flags}`, 3, [
    /^ {2}\? 1 fixture-outdated {2}every deposit [^]* the data of\s+the fixture, or give --state-url$/m,
    /^next: restart the target with the data of the fixture/m,
  ]);
});

test('a failure says what to add to the command of the run to send the one input again', async () => {
  const behaviour = faults['any-letter-accepted']!.change(reference);
  await using mock = await startMock({ fixture: unlimited, behaviour });
  const failed = async (words: readonly string[]) => {
    const { output } = await endsSaying([...words, '--verbose'], 1);
    const [run = '', next = '', replay, request] = [/^run: npx \S+ (.*)/m, /^next: npx \S+ (.*)/m]
      .concat(['replay', 'request'].map((name) => new RegExp(`^ {2}${name} +(.*)`, 'm')))
      .map((pattern) => pattern.exec(output)?.[1]);
    return { run, next, replay, request, output };
  };
  const flags = `--fixture ${unlimitedFile} --only invalid-uuid --skip robustness --cases 100 --rate 9000`;
  const { run, next, replay, request, output } = await failed(`verify ${mock.url} ${flags}`.split(' '));
  assert.equal(run.replace(/ --seed \d+$/, ''), `verify ${mock.url} ${flags}`);
  assert.equal(next, `${run} ${replay}`);
  assert.equal(output.match(/ verify /g)?.length, 2);
  const words = next.match(/(?:'[^']*'|\S)+/g) ?? [];
  const again = await failed(words.map((word) => word.replaceAll("'", '')));
  assert.match(again.output, /narrowed by --replay\): 1 of 1 required failed/);
  assert.deepEqual([again.request, again.run, again.replay], [request, '', undefined], 'it is a replay');
  for (const other of ['rate-limit/deposit-check/requests user-status;@1', 'auth/user-status/missing 3'])
    await endsSaying(['verify', '--replay', other], 2, /no (?:such requirement or )?lookup.*; copy/);
});

test('every format says that a run was narrowed, and that it verified the mock', async () => {
  const one = 'verify --only valid/user-status/member --cases 1 --seed 1 --report';
  for (const format of reportFormats) {
    const { code, output } = await runCli(`${one} ${format}`);
    const isNarrowed = format === 'json' ? /"whole": false/ : /narrowed by --only/;
    const isMock = format === 'json' ? /"mock": true/ : /run verified the built-in mock/;
    for (const text of [isNarrowed, isMock]) assert.match(output.replaceAll(/\s+/g, ' '), text, format);
    assert.equal(code, 0);
  }
});

test('if no required requirement was verified, no flag gives exit code 0', async () => {
  const run = 'verify mock --seed 1';
  const one = '--max-requests 1 --only foreign-ib/user-status/unknown --allow-incomplete';
  for (const flags of [one, '--only valid/deposit-check/closed --cases 1'])
    await endsSaying(`${run} ${flags}`, 3, /^incomplete/m);
  await endsSaying(`${run} --only valid --max-requests 60 --allow-incomplete`, 0);
});

test('in CI, verify needs a URL or `mock`', async () => {
  const codeIn = async (env: Record<string, string>, url = '') =>
    (await runCli(`verify ${url} --cases 1 --only valid/user-status/member`, { env })).code;
  for (const CI of ['true', '1', 'yes']) {
    assert.equal(await codeIn({ CI }), 2);
    assert.equal(await codeIn({ CI }, 'mock'), 0);
    assert.equal(await codeIn({ CI, IB_CONFORMANCE_URL: 'mock' }), 0);
    assert.equal(await codeIn({ CI }, 'http://127.0.0.1:1'), 4);
  }
  for (const CI of ['', '0', 'false']) assert.equal(await codeIn({ CI }), 0);
  const { error } = await runCli(['verify'], { env: { CI: 'true' } });
  assert.match(error, /no URL was given.*IB_CONFORMANCE_URL.*verify mock/);
});

test('--max-requests is kept, and both endpoints get a similar number of cases', async () => {
  const line = 'verify --only invalid-uuid --seed 1 --max-requests 300 --report json';
  const { output, error } = await runCli(line);
  const record = JSON.parse(output) as RunRecord;
  assert.ok(record.requests <= 300, error);
  assert.ok(record.strength! < 2);
  const [one, other] = ['user-status', 'deposit-check'].map((endpoint) =>
    record.requirements.find(({ id }) => id === `invalid-uuid/${endpoint}/malformed`),
  );
  assert.ok(one!.cases > 10 && other!.cases > 10);
  assert.ok(Math.max(one!.cases, other!.cases) <= 4 * Math.min(one!.cases, other!.cases));
});

/** Add new verbs here, and only verbs. */
const verbs = new RegExp(
  `^(?:${'accept allow answer apply ask break change check choose create disable end evaluate exit expect export fail generate grade group inject keep limit list listen overwrite print read reload rename render repeat run send serve set show skip stop test trust use validate verify wait write require'.replaceAll(' ', '|')})\\b`,
);
test('every help text begins with a verb', async () => {
  for (const { what, flags } of await loadCommands())
    for (const text of [what, ...Object.values(flags).map(({ describe }) => describe)])
      assert.match(text, verbs);
});

for (const { usage, flags } of await loadCommands())
  test(`the help of ${nameOf({ usage })} shows every flag and fits in 80 columns`, async () => {
    const terminal = { color: false, width: 80 };
    const { output } = await runCli([nameOf({ usage }), '--help'], { terminal });
    assert.ok(Math.max(...output.split('\n').map(({ length }) => length)) <= 80, output);
    for (const flag of Object.keys(flags)) assert.match(output, new RegExp(`^ +(?:-\\w, )?--${flag} `, 'm'));
  });
