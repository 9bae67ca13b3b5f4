import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { test } from 'node:test';
import { reference } from '../mock/server/handler.ts';
import { startMock } from '../mock/index.ts';
import type { Checkup, Fixture } from '../schemas/generated/types.ts';
import validate from '../schemas/generated/checkup.cjs';
import { gapsOf } from '../suites/plan/needs.ts';
import { serverFor } from '../suites/testing/against.ts';
import { catalogue, knownFrom } from '../suites/index.ts';
import { verifyMock } from './dev/testing/verify-mock.ts';
import { builtInFixture } from './dev/paths.ts';
import { builtIn } from './dev/testing/fixtures.ts';
import { flaky } from './dev/testing/hostile-servers.ts';
import { endsSaying, runCli, testRefusals } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const { fileOf } = temporaryFolder();

const call = (...argv: readonly string[]) => runCli(['doctor', ...argv]);

/** Runs `doctor --json`. Returns exit code and checkup. */
async function examined(...argv: readonly string[]) {
  const { code, output, stderr } = await call(...argv, '--json');
  assert.equal(stderr, '');
  const checkup: unknown = JSON.parse(output);
  assert.ok(validate(checkup), JSON.stringify(validate.errors));
  return { code, checkup, problems: problemsOf(checkup) };
}

/** Returns the problems as `subject: words`. */
const problemsOf = ({ checks }: Checkup) =>
  checks.flatMap(({ outcome, subject, words }) => (outcome === 'problem' ? [`${subject}: ${words}`] : []));

const fixture = ['--fixture', builtInFixture];

test('a mock with its own fixture: everything is ok and checked, and nothing changes', async () => {
  await using mock = await startMock({ basePath: '/gateway' });
  const hook = ['--state-url', `http://127.0.0.1:${mock.port}/__admin/state`];
  const { code, checkup } = await examined(`${mock.url}/`, ...fixture, ...hook);
  const { checks, verdict, gaps, requests } = checkup;
  assert.deepEqual([code, verdict, gaps], [0, 'ok', []]);
  const others = checks.filter(({ outcome }) => outcome !== 'ok');
  assert.deepEqual(others, []);
  assert.deepEqual([requests, mock.requests().length], [11, 11]);
  assert.equal(checks.filter(({ area }) => area === 'keys').length, 6);
  const [polled] = builtIn.deposits!.flatMap((one) => ('becomes' in one ? [one] : []));
  const [deposit] = mock.data({ contains: polled!.reference_id }).deposits;
  assert.equal(deposit!.pollsLeft, polled!.becomes!.afterPolls);
  const { output } = await call(mock.url, ...fixture, ...hook);
  assert.match(output, /^ready for verify: (\d+) of \1 checks ok \(11 requests in/m);
  const next = `npx ib-conformance verify ${mock.url} ${[...fixture, ...hook].join(' ')}`;
  assert.ok(output.endsWith(`\nnext: ${next}\n`));
});

test('without --fixture, a note names the built-in data; without a hook, the gaps are listed', async () => {
  await using mock = await startMock();
  await endsSaying(`doctor ${mock.url}`, 0, [
    /note: No --fixture was given/,
    /4 requirements: auth\/user-status\/revocation, auth\/user-status\/revocation-spares,\s+auth\/deposit-check\/revocation, auth\/deposit-check\/revocation-spares\n +→ Give --state-url/,
  ]);
});

test('differences between fixture and target are reported with their places', async () => {
  const wrongly: Readonly<Record<number, object>> = {
    0: { amountInUsd: 1 },
    1: { reference_id: '55555555-5555-4555-8555-555555555555' },
    4: { reference_id: 'dddddddd-dddd-4ddd-8ddd-dddddddddddd' },
  };
  const wrong = fileOf('wrong.json', {
    ...builtIn,
    apiKeys: [
      { key: 'northwind-key', partner: 'northwind', state: 'active' },
      { key: 'northwind-spare-key', partner: 'northwind', state: 'revoked' },
      { key: 'sk_never_issued', partner: 'contoso', state: 'active' },
      { key: 'northwind-revoked-key', partner: 'northwind', state: 'expired' },
    ],
    users: builtIn.users!.with(0, { ...builtIn.users![0]!, date_joined: '2024-03-02T00:00:00Z' }),
    deposits: builtIn.deposits!.map((deposit, at) => ({ ...deposit, ...wrongly[at] })),
  });
  await using mock = await startMock();
  const { code, problems: found } = await examined(mock.url, '--fixture', wrong);
  assert.equal(code, 2);
  const pattern = [
    /^users\[0\]: "date_joined": "2024-02-29T23:59:59\.999Z"; expected .*users\[0\] is a user of the IB$/,
    /^deposits\[0\]: "amountInUsd": 250\.5; expected "amountInUsd": 1, because deposits\[0\] is EXECUTED$/,
    /^deposits\[4\]: 200 .*"EXECUTED".*; expected 404 .*, because deposits\[4\] is pending$/,
    /^<key contoso\/active>: refused \(401\), but apiKeys\[2\] is active$/,
    /^<key northwind\/revoked>: accepted \(200\), but apiKeys\[1\] is revoked$/,
  ];
  assert.equal(found.length, pattern.length, found.join('\n'));
  for (const [at, words] of pattern.entries()) assert.match(found[at]!, words);
  // No key is shown.
  assert.doesNotMatch(found.join('\n'), /sk_never|northwind-\w*-?key/);
});

test('--full sends one lookup for each required requirement, and prints what verify would', async () => {
  await using mock = await startMock({ fault: 'foreign-user-with-404' });
  const found = [/foreign-ib\/user-status\/other-ib/, /404/];
  await endsSaying(['doctor', mock.url, ...fixture, '--full'], 1, found);
  assert.ok(mock.requests({ limit: 1000 }).length < 60);
  await using right = await startMock();
  await endsSaying(['doctor', right.url, ...fixture, '--full'], 0);
});

test('--wait asks again until the target answers, and no longer', async (t) => {
  let left = 3;
  const starting = flaky(builtIn, (_, socket) => left-- > 0 && socket.destroy() !== undefined);
  const url = await serverFor(t, starting);
  for (const command of ['doctor', 'verify --only auth/user-status/missing --cases 1']) {
    left = 3;
    await endsSaying(`${command} ${url} --fixture ${builtInFixture} --wait 60s`, 0);
    assert.ok(left < 0);
  }
  await endsSaying(`doctor http://127.0.0.1:9 --fixture ${builtInFixture} --wait 1ms`, 4);
});

test('exit code and next step say whether a run can start; the worst finding comes first', async (t) => {
  const answering = (status: number, body: object) =>
    createHttpServer((_, response) => response.writeHead(status).end(JSON.stringify(body)));
  await using mock = await startMock();
  const refusing = await serverFor(t, answering(401, { error: 'No' }));
  const ready = /^next: npx ib-conformance verify http:\/\/127\.\S+:\d+\S+ --fixture/;
  const noKey = /^keys\n {2}✗ <key northwind\/active>/;
  for (const [url, code, first, next] of [
    [`${mock.url}/api/ib/user-status`, 0, /^reach\n {2}✓/, ready],
    [refusing, 2, noKey, /^next: Check that the target has this key/],
    [`${mock.url}/elsewhere`, 4, /^reach\n {2}✗ URL +this is another service: 404/, /^next: Correct the URL/],
    ['http://127.0.0.1:9', 4, /^reach\n {2}✗ HTTP/, /^next: Start the server/],
  ] as const) {
    const { output } = await endsSaying(['doctor', url, ...fixture], code);
    assert.match(output.split('\n\n')[1]!, first);
    assert.match(output.slice(output.lastIndexOf('\nnext: ') + 1), next);
  }
});

test('--header is sent with every request and not shown; no Accept is sent: many clients send none', async (t) => {
  const seen = new Set<string>();
  const server = createHttpServer(({ headers }, response) => {
    seen.add(`${headers['x-gate'] as string} ${headers.accept}`);
    response.writeHead(401).end('{"error":"Unauthorized"}');
  });
  const { output } = await call(await serverFor(t, server), ...fixture, '--header', 'X-Gate: opensesame');
  assert.deepEqual([...seen], ['opensesame undefined']);
  assert.doesNotMatch(output, /opensesame/);
});

testRefusals('doctor', [
  ['', /doctor needs the URL of a server/],
  ['http://x --timeout 600001', /--timeout 600001: needs a time from 1ms to 10m/],
  ['http://x --timeout 0.5ms', /--timeout 0\.5ms: needs a time from 1ms to 10m.*without a unit: ms/],
  ['http://x --ca nowhere.pem', /--ca nowhere\.pem: cannot be read/],
]);

const { apiKeys = [], users = [], deposits = [] } = builtIn;
const ours = users.filter(({ partner }) => partner === 'northwind');
const ownDeposits = deposits.filter(({ user_id }) => ours.some((user) => user.user_id === user_id));
const inDigits = users.filter(({ user_id }) => /^[\d-]+$/.test(user_id));

/** Fixtures with missing data. The target has all data. */
const fixtures: Readonly<Record<string, Fixture>> = {
  'nothing is missing': builtIn,
  'an empty fixture': {},
  'only one partner': { ...builtIn, apiKeys: apiKeys.filter(({ partner }) => partner === 'northwind') },
  'no user under the IB': { ...builtIn, users: users.filter((one) => !ours.includes(one)), deposits: [] },
  'no letter in a user_id': { ...builtIn, users: inDigits, deposits: [] },
  'every user under the IB': { ...builtIn, users: ours, deposits: ownDeposits },
  'no deposit becomes EXECUTED': { ...builtIn, deposits: deposits.filter((one) => !('becomes' in one)) },
};

const expected: ReadonlySet<string> = new Set(['no-fixture', 'no-second-key', 'no-state-hook']);

for (const [what, poor] of Object.entries(fixtures))
  test(`doctor names the requirements that a run cannot judge: ${what}`, async () => {
    const known = knownFrom(poor);
    const run = { fixture: poor, seed: 1, cases: 1, hasStateHook: false };
    const { requirements } = await verifyMock(reference, run, builtIn);
    const open = requirements.filter(
      (row) => (row.outcome === 'inconclusive' || row.outcome === 'excluded') && expected.has(row.reason),
    );
    const gaps = gapsOf(catalogue, known, false);
    assert.deepEqual(gaps.flatMap((gap) => gap.requirements).toSorted(), open.map(({ id }) => id).toSorted());
    assert.ok(gaps.every(({ fix }) => fix !== ''));
  });
