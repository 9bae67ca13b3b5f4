import assert from 'node:assert/strict';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { test } from 'node:test';
import { reference } from '../mock/server/handler.ts';
import { createMock, startMock } from '../mock/index.ts';
import { tls } from './dev/testing/certificate.ts';
import type { Checkup, Fixture } from '../schemas/generated/types.ts';
import validate from '../schemas/generated/checkup.cjs';
import { gapsOf } from '../suites/plan/needs.ts';
import { serverFor, withServer } from '../suites/testing/against.ts';
import { catalogue, knownFrom } from '../suites/index.ts';
import { verifyMock } from './dev/testing/verify-mock.ts';
import { builtInFixture } from './dev/paths.ts';
import { loadFixture } from './input-files.ts';
import { runCli, testRefusals } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const { fileOf } = temporaryFolder();
const builtIn = await loadFixture(undefined, {});

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
  const others = checkup.checks.filter(({ outcome }) => outcome !== 'ok');
  assert.deepEqual(others, []);
  assert.equal(code, 0);
  assert.equal(checkup.verdict, 'ok');
  assert.deepEqual(checkup.gaps, []);
  assert.equal(checkup.requests, 11);
  assert.equal(mock.requests().length, 11);
  assert.deepEqual(checkup.checks.filter(({ area }) => area === 'keys').length, 6);
  const [polled] = builtIn.deposits!.flatMap((one) => ('becomes' in one ? [one] : []));
  assert.equal(
    mock.data({ contains: polled!.reference_id }).deposits[0]!.pollsLeft,
    polled!.becomes!.afterPolls,
  );
  const text = await call(mock.url, ...fixture, ...hook);
  assert.match(text.output, /^ready for verify: (\d+) of \1 checks ok \(11 requests in/m);
  assert.ok(
    text.output.endsWith(
      `\nnext: npx ib-conformance verify ${mock.url} ${[...fixture, ...hook].join(' ')}\n`,
    ),
  );
});

test('without --fixture, a note names the built-in data; without a hook, the gaps are listed', async () => {
  await using mock = await startMock();
  const { url } = mock;
  const { code, output } = await call(url);
  assert.equal(code, 0, output);
  assert.match(output, /note: No --fixture was given/);
  assert.match(
    output,
    /4 requirements: auth\/user-status\/revocation, auth\/user-status\/revocation-spares,\s+auth\/deposit-check\/revocation, auth\/deposit-check\/revocation-spares\n +→ Give --state-url/,
  );
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
    users: builtIn.users!.map((user, at) =>
      at === 0 ? { ...user, date_joined: '2024-03-02T00:00:00Z' } : user,
    ),
    deposits: builtIn.deposits!.map((deposit, at) => ({ ...deposit, ...wrongly[at] })),
  });
  await using mock = await startMock();
  const { url } = mock;
  const { code, problems: found } = await examined(url, '--fixture', wrong);
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
  const { code, output } = await call(mock.url, ...fixture, '--full');
  assert.equal(code, 1, output);
  assert.match(output, /foreign-ib\/user-status\/other-ib/);
  assert.match(output, /404/);
  assert.ok(mock.requests({ limit: 1000 }).length < 60);
  await using right = await startMock();
  assert.equal((await call(right.url, ...fixture, '--full')).code, 0);
});

test('--wait asks again until the target answers, and no longer', async (t) => {
  const mock = createMock();
  let left = 3;
  const starting = createHttpServer((request, response) => {
    if (left-- > 0) return void request.socket.destroy();
    const { url: path = '', headers } = request;
    const authorization = headers.authorization ?? '';
    void mock
      .fetch(`http://mock${path}`, { headers: { authorization } })
      .then(async (answer) =>
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text()),
      );
  });
  const url = await serverFor(t, starting);
  const commands = [['doctor'], ['verify', '--only', 'auth/user-status/missing', '--cases', '1']];
  for (const command of commands) {
    left = 3;
    const { code, output } = await runCli([...command, url, ...fixture, '--wait', '60s']);
    assert.equal(code, 0, output);
    assert.ok(left < 0);
  }
  assert.equal((await call('http://127.0.0.1:9', ...fixture, '--wait', '1ms')).code, 4);
});

test('a self-signed certificate is reported; --ca or --insecure accepts it', async (t) => {
  const mock = createMock();
  const pass = async ({ url = '', headers: { authorization = '' } }: IncomingMessage, to: ServerResponse) => {
    const answer = await mock.fetch(`http://mock${url}`, { headers: { authorization } });
    to.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  };
  const server = createTlsServer(tls, (request, response) => void pass(request, response));
  const { port } = new URL(await serverFor(t, server));
  const url = `https://localhost:${port}`;
  const untrusted = await call(url, ...fixture);
  assert.match(untrusted.output, /✗ HTTP +its certificate is self-signed/);
  assert.equal(untrusted.code, 4);
  const ca = fileOf('ca.pem', tls.cert);
  for (const flags of [['--insecure'], ['--ca', ca]]) {
    const { code, output } = await call(url, ...fixture, ...flags);
    assert.equal(code, 0, output);
    assert.match(output, /✓ HTTP +401/);
  }
  const other = await call(`https://127.0.0.1:${port}`, ...fixture, '--ca', ca);
  assert.match(other.output, /✗ HTTP +its certificate is for another name/);
});

test('exit code and next step say whether a run can start; the worst finding comes first', async (t) => {
  const answering = (status: number, body: object) =>
    createHttpServer((_, response) => response.writeHead(status).end(JSON.stringify(body)));
  await using mock = await startMock();
  const targets: readonly (readonly [url: string, code: number, first: RegExp, next: RegExp])[] = [
    [
      `${mock.url}/api/ib/user-status`,
      0,
      /^reach\n {2}✓/,
      /^next: npx ib-conformance verify http:\/\/127\.\S+:\d+\S+ --fixture/,
    ],
    [
      await serverFor(t, answering(401, { error: 'No' })),
      2,
      /^keys\n {2}✗ <key northwind\/active>/,
      /^next: Check that the target has this key/,
    ],
    [`${mock.url}/elsewhere`, 4, /^reach\n {2}✗ URL +this is another service: 404/, /^next: Correct the URL/],
    ['http://127.0.0.1:9', 4, /^reach\n {2}✗ HTTP/, /^next: Start the server/],
  ];
  for (const [url, expectedCode, first, next] of targets) {
    const { code, output } = await call(url, ...fixture);
    assert.equal(code, expectedCode, output);
    assert.match(output.split('\n\n')[1]!, first);
    assert.match(output.slice(output.lastIndexOf('\nnext: ') + 1), next);
  }
});

test('--header is sent with every request, and its value is not shown', async () => {
  const seen = new Set<unknown>();
  const server = createHttpServer(({ headers }, response) => {
    seen.add(headers['x-gate']);
    response.writeHead(401).end('{"error":"Unauthorized"}');
  });
  await withServer(server, async (port) => {
    const header = ['--header', 'X-Gate: opensesame'];
    const { output } = await call(`http://127.0.0.1:${port}`, ...fixture, ...header);
    assert.deepEqual([...seen], ['opensesame']);
    assert.doesNotMatch(output, /opensesame/);
  });
});

test('no Accept is sent unless it is wanted: many clients send none', async () => {
  const seen = new Set<unknown>();
  const server = createHttpServer(({ headers }, response) => {
    seen.add(headers.accept);
    response.writeHead(401).end('{"error":"Unauthorized"}');
  });
  await withServer(server, async (port) => {
    await call(`http://127.0.0.1:${port}`, ...fixture);
    assert.deepEqual([...seen], [undefined]);
  });
});

testRefusals('doctor', [
  ['', /doctor needs the URL of a server/],
  ['http://x --timeout 600001', /--timeout 600001: needs a whole number from 1 to 600000/],
  ['http://x --ca nowhere.pem', /--ca nowhere\.pem: cannot be read/],
]);

const { apiKeys = [], users = [], deposits = [] } = builtIn;
const isOurs = (user_id: string) => users.find((user) => user.user_id === user_id)?.partner === 'northwind';

/** Fixtures with missing data. The target has all data. */
const fixtures: Readonly<Record<string, Fixture>> = {
  'nothing is missing': builtIn,
  'an empty fixture': {},
  'only one partner': { ...builtIn, apiKeys: apiKeys.filter(({ partner }) => partner === 'northwind') },
  'no user under the IB': {
    ...builtIn,
    users: users.filter(({ partner }) => partner !== 'northwind'),
    deposits: [],
  },
  'no letter in a user_id': {
    ...builtIn,
    users: users.filter(({ user_id }) => /^[\d-]+$/.test(user_id)),
    deposits: [],
  },
  'every user under the IB': {
    ...builtIn,
    users: users.filter(({ partner }) => partner === 'northwind'),
    deposits: deposits.filter(({ user_id }) => isOurs(user_id)),
  },
  'no pending deposit becomes EXECUTED': {
    ...builtIn,
    deposits: deposits.filter((one) => !('becomes' in one)),
  },
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
