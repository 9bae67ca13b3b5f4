import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startMock, type Mock, type MockOptions } from '../mock/server.ts';
import { tls } from '../mock/testing/certificate.ts';
import type { Checkup } from '../schemas/generated/types.ts';
import validate from '../schemas/generated/checkup.cjs';
import { runCli } from './testing/run-cli.ts';
import { builtInFixture, loadFixture } from './fixture-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-'));
const builtIn = await loadFixture(undefined, {});

function fileOf(name: string, content: unknown): string {
  const file = join(folder, name);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** Runs `doctor` with further arguments: its exit code, and what it printed. */
async function call(...argv: readonly string[]) {
  const { code, output, aside, error } = await runCli(['doctor', ...argv]);
  return { code, output, aside: aside + error };
}

/** The same as data. */
async function examined(...argv: readonly string[]) {
  const { code, output, aside } = await call(...argv, '--json');
  assert.equal(aside, '');
  const checkup: unknown = JSON.parse(output);
  assert.ok(validate(checkup), JSON.stringify(validate.errors));
  return { code, checkup, ills: ills(checkup) };
}

/** What is bad, as `subject: words`. */
const ills = ({ checks }: Checkup) =>
  checks.flatMap(({ outcome, subject, words }) => (outcome === 'bad' ? [`${subject}: ${words}`] : []));

const fixture = ['--fixture', builtInFixture.pathname];

async function withMock<Result>(options: MockOptions, use: (mock: Mock) => Promise<Result>): Promise<Result> {
  await using mock = await startMock(options);
  return await use(mock);
}

/** Gives the port of a raw server to `use`, and ends it with all its connections. */
async function withServer<Result>(server: Server, use: (port: number) => Promise<Result>): Promise<Result> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

const withHttp = <Result>(answer: RequestListener, use: (url: string) => Promise<Result>) =>
  withServer(createHttpServer(answer), (port) => use(`http://127.0.0.1:${port}`));

test('a mock with its own fixture: all is well, everything is looked at, nothing is changed', async () => {
  await withMock({ basePath: '/gateway' }, async (mock) => {
    const hook = ['--state-url', `http://127.0.0.1:${mock.port}/__admin/state`];
    const { code, checkup } = await examined(`${mock.url}/`, ...fixture, ...hook);
    assert.deepEqual(
      checkup.checks.filter(({ outcome }) => outcome !== 'good'),
      [],
    );
    assert.equal(code, 0);
    assert.equal(checkup.verdict, 'well');
    assert.deepEqual(checkup.gaps, []);
    assert.equal(checkup.requests, 15);
    assert.equal(mock.requests().length, 15);
    assert.deepEqual(checkup.checks.filter(({ area }) => area === 'keys').length, builtIn.apiKeys!.length);
    const [polled] = builtIn.deposits!.flatMap((one) => ('becomes' in one ? [one] : []));
    assert.equal(mock.deposits.get(polled!.reference_id).pollsLeft, polled!.becomes!.afterPolls);
    const text = await call(mock.url, ...fixture, ...hook);
    assert.match(text.output, /^all is well: \d+ ✓, 0 ✗, 0 \?, by 15 requests/m);
  });
});

test('fifteen requests at once are no reason for Node to warn', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => void warnings.push(name);
  process.on('warning', note);
  await withMock({}, ({ url }) => call(url, ...fixture));
  // Node warns behind everything that is ready.
  await new Promise(setImmediate);
  process.off('warning', note);
  assert.deepEqual(warnings, []);
});

test('without a fixture the built-in one is taken, and that is said; without a hook, what it costs', async () => {
  await withMock({}, async ({ url }) => {
    const { code, output } = await call(url);
    assert.equal(code, 0, output);
    assert.match(output, /note: No --fixture was given/);
    assert.match(
      output,
      /2 requirements: auth\/user-status\/revocation, auth\/deposit-check\/revocation\n +→ Give --state-url/,
    );
  });
});

test('a fixture that disagrees with the target is told by its places', async () => {
  const wrong = fileOf('wrong.json', {
    ...builtIn,
    apiKeys: [
      { key: 'northwind-key', partner: 'northwind', state: 'active' },
      { key: 'northwind-spare-key', partner: 'northwind', state: 'revoked' },
      { key: 'never-issued', partner: 'contoso', state: 'active' },
      { key: 'northwind-revoked-key', partner: 'northwind', state: 'expired' },
    ],
    users: builtIn.users!.map((user, at) =>
      at === 0 ? { ...user, date_joined: '2024-03-02T00:00:00Z' } : user,
    ),
    deposits: builtIn.deposits!.map((deposit, at) =>
      at === 0
        ? { ...deposit, amountInUsd: 1 }
        : at === 4
          ? { ...deposit, reference_id: 'dddddddd-dddd-4ddd-8ddd-dddddddddddd' }
          : at === 1
            ? { ...deposit, reference_id: '55555555-5555-4555-8555-555555555555' }
            : deposit,
    ),
  });
  await withMock({}, async ({ url }) => {
    const { code, ills: found } = await examined(url, '--fixture', wrong);
    assert.equal(code, 1);
    const says = [
      /^<key northwind\/revoked>: let in \(200\), though apiKeys\[1\] is revoked$/,
      /^<key contoso\/active>: turned away \(401\), though apiKeys\[2\] is active$/,
      /^users\[0\]: "date_joined": "2024-02-29T23:59:59\.999Z", though the fixture says/,
      /^deposits\[0\]: "amountInUsd": 250\.5, though the fixture says EXECUTED: "amountInUsd": 1$/,
      /^deposits\[4\]: 200 .*"EXECUTED".*, though the fixture says pending/,
    ];
    assert.equal(found.length, says.length, found.join('\n'));
    for (const [at, words] of says.entries()) assert.match(found[at]!, words);
  });
});

test('a key that the target does not know: that is said, and never shown', async () => {
  const secret = 'sk_secret_0123456789';
  const file = fileOf('secret.json', {
    ...builtIn,
    apiKeys: [{ key: secret, partner: 'northwind', state: 'active' }],
  });
  await withMock({}, async ({ url }) => {
    const { code, output, aside } = await call(url, '--fixture', file);
    assert.equal(code, 1);
    assert.match(output, /✗ <key northwind\/active> +turned away \(401\), though apiKeys\[0\] is active/);
    assert.ok(!(output + aside).includes(secret));
  });
});

test('a clock that is set wrong, and one that stands still, are told', async () => {
  await withMock({ clock: 'frozen' }, async (mock) => {
    mock.clock.set(Date.now() + 3_600_000);
    const { code, ills: found } = await examined(mock.url, ...fixture);
    assert.equal(code, 1);
    assert.equal(found.length, 1);
    assert.match(found[0]!, /^Date: 3[56]\d\d\.\d s ahead of this machine's$/);
  });
});

test('a limiter that is near is told with its Retry-After, and blames nothing else', async () => {
  const narrow = { ...builtIn, limits: { 'deposit-check': { requests: 1, windowSeconds: 60 } } };
  await withMock({ fixture: narrow }, async ({ url }) => {
    const { code, ills: found, checkup } = await examined(url, ...fixture);
    assert.equal(code, 1);
    assert.equal(found.length, 1);
    assert.match(found[0]!, /^429: 429 to 3 of 14 requests already, Retry-After: \d+$/);
    assert.ok(checkup.checks.some(({ words }) => words === 'limited (429) before anything could be seen'));
  });
});

test('a state hook that is not there fails on its own, and a target that is not there leaves it its say', async () => {
  await withMock({}, async ({ url, port }) => {
    const missing = await examined(url, ...fixture, '--state-url', `http://127.0.0.1:${port}/nowhere`);
    assert.equal(missing.code, 1);
    assert.match(missing.ills.join('\n'), /^teardown: the state hook at .* answered 404/);
    const gone = await examined(
      'http://127.0.0.1:9',
      ...fixture,
      '--state-url',
      `http://127.0.0.1:${port}/__admin/state`,
    );
    assert.equal(gone.code, 4);
    assert.equal(gone.checkup.checks.at(-1)!.outcome, 'good');
  });
});

/** Servers that are no partner lookup, the exit code, and what has to be said. */
const strangers: readonly (readonly [
  what: string,
  server: Server,
  url: string,
  code: number,
  says: RegExp,
])[] = [
  [
    'a login page',
    createHttpServer((_, response) => response.writeHead(302, { location: 'https://sso.example/' }).end()),
    'http://127.0.0.1:',
    1,
    /✗ user-status +302, a redirect to https:\/\/sso\.example\//,
  ],
  ['a silent one', createServer(), 'http://127.0.0.1:', 4, /✗ HTTP +no whole answer within 300 ms/],
  [
    'one that is no HTTP',
    createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')),
    'http://127.0.0.1:',
    4,
    /✗ HTTP +the answer is not HTTP/,
  ],
  [
    'one that hangs up',
    createServer((socket) => socket.destroy()),
    'http://127.0.0.1:',
    4,
    /✗ HTTP +the connection was/,
  ],
  [
    'plain HTTP, asked with TLS',
    createHttpServer((_, response) => response.end()),
    'https://127.0.0.1:',
    4,
    /✗ TLS +TLS failed: the port may speak plain HTTP[^→]*→ Write http:\/\//,
  ],
];

for (const [what, server, url, expected, says] of strangers)
  test(`behind the URL there is ${what}`, async () => {
    await withServer(server, async (port) => {
      const { code, output } = await call(`${url}${port}`, ...fixture, '--timeout', '300');
      assert.match(output, says);
      assert.equal(code, expected, output);
    });
  });

test('a port where nobody listens, and a name that nobody has', async () => {
  const refused = await call('http://127.0.0.1:9', ...fixture);
  assert.match(refused.output, /✓ name .*\n {2}✗ connection +the connection was refused/);
  assert.equal(refused.code, 4);
  const nameless = await call('http://no-such-host.invalid', ...fixture);
  assert.match(nameless.output, /✗ name +the name does not resolve/);
  assert.equal(nameless.code, 4);
});

test('a self-signed certificate is told, and --ca or --insecure lead past it', async () => {
  await withMock({ tls }, async ({ port }) => {
    const url = `https://localhost:${port}`;
    const untrusted = await call(url, ...fixture);
    assert.match(untrusted.output, /✗ TLS +its certificate is self-signed/);
    assert.equal(untrusted.code, 4);
    const ca = fileOf('ca.pem', tls.cert);
    for (const flags of [['--insecure'], ['--ca', ca]]) {
      const { code, output } = await call(url, ...fixture, ...flags);
      assert.equal(code, 0, output);
      assert.match(output, /✓ TLS +TLSv1\.3/);
    }
    const other = await call(`https://127.0.0.1:${port}`, ...fixture, '--ca', ca);
    assert.match(other.output, /✗ TLS +its certificate is for another name/);
  });
});

test('--header goes with every request, and its value is not shown', async () => {
  const seen = new Set<unknown>();
  await withHttp(
    ({ headers }, response) => {
      seen.add(headers['x-gate']);
      response.writeHead(401).end('{"error":"Unauthorized"}');
    },
    async (url) => {
      const { output } = await call(url, ...fixture, '--header', 'X-Gate: opensesame');
      assert.deepEqual([...seen], ['opensesame']);
      assert.doesNotMatch(output, /opensesame/);
    },
  );
});

/** Bad input, and what is said of it. */
const refusals: readonly (readonly [argv: readonly string[], says: RegExp])[] = [
  [[], /which server\? Give its URL, or set IB_URL/],
  [['nonsense'], /nonsense: is not a URL/],
  [['http://x', '--timeout', '9000'], /--timeout 9000: needs a whole number from 1 to 5000/],
  [['http://x', '--partner', 'nobody'], /--partner nobody/],
  [['http://x', '--fixture', 'nowhere.json'], /nowhere\.json: there is no such file/],
  [['http://x', '--ca', 'nowhere.pem'], /--ca nowhere\.pem: cannot be read/],
];

for (const [argv, says] of refusals)
  test(`refused: doctor ${argv.join(' ')}`, async () => {
    const { code, output, aside } = await call(...argv);
    assert.match(aside, says);
    assert.equal(code, 2);
    assert.equal(output, '');
  });
