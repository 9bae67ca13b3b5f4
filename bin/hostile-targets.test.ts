import assert from 'node:assert/strict';
import { createSecureServer, createServer as createHttp2Server } from 'node:http2';
import { createServer, type Server } from 'node:net';
import { describe, test } from 'node:test';
import { withServer } from '../suites/testing/against.ts';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { reference } from '../mock/server/handler.ts';
import { expired, future, intermediate, leaf, root, tls } from './dev/testing/certificate.ts';
import { failedIds, verifyMock } from './dev/testing/verify-mock.ts';
import { partOf } from './dev/testing/part.ts';
import { runCli } from './dev/testing/run-cli.ts';
import { unlimited } from './dev/testing/fixtures.ts';
import { onData, slow, endless, flaky, head, json, send } from './dev/testing/hostile-servers.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

type Serve = () => Server;

/** A target, and the cause that a line of the output names. */
type Targets = Readonly<Record<string, readonly [serve: Serve, cause: RegExp]>>;

/** Text that affects a terminal: escape sequences, their one-byte form, a change of direction. */
const ESCAPE = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e\u2028\r\u0008\u0000';

const chunked = head('200 OK', json, 'Transfer-Encoding: chunked');

/** Writes this text for every request. */
const writes =
  (text: string): Serve =>
  () =>
    onData((socket) => socket.write(text));

/** Ends the connection after this text. */
const closes =
  (text: string): Serve =>
  () =>
    onData((socket) => socket.end(text));

/** Answers every request with this status and body. */
const answers =
  (status: string, body: string | Uint8Array, ...fields: readonly string[]): Serve =>
  () =>
    send(status, body, ...fields);

/** Answers every request with 200 and this JSON. */
const ok = (body: string | Uint8Array, ...fields: readonly string[]) =>
  answers('200 OK', body, json, ...fields);

/** Targets that never complete an answer. */
const silent: Readonly<Record<string, Serve>> = {
  'accepts and never answers': () => createServer(() => undefined),
  'hangs in the status line': writes('HTTP/1.1 2'),
  'hangs in its headers': writes('HTTP/1.1 200 OK\r\nA: b'),
  'hangs after the head': writes(head('200 OK', json, 'Content-Length: 99')),
  'hangs in a body': writes(`${head('200 OK', json, 'Content-Length: 99')}{"is_`),
  'hangs in a chunk': writes(`${chunked}99\r\n{"is_`),
  'drips its status line': () => slow('', 'HTTP/1.1 200 OK'),
  'drips its headers': () => slow('HTTP/1.1 200 OK\r\nX: ', 'y'),
  'drips a body': () => slow(head('200 OK', json, 'Content-Length: 9999999'), ' '),
  'sends 102 for ever': () => endless('', 'HTTP/1.1 102 Processing\r\n\r\n'),
};

const lost = /connection was (?:reset|closed)/;
const cut = /the connection was closed before the answer was complete/;
const fields = Array.from({ length: 1000 }, (_, at) => `X${at}: y`);
const negative = `${head('200 OK', json, 'Content-Length: -1')}{}`;
const longField = `X: ${'x'.repeat(1000)}\r\n`;
const continued = `HTTP/1.1 100 Continue\r\n\r\n${head('401 No', json, 'Content-Length: 2')}{}`;
const upgrade = ['Connection: upgrade', 'Upgrade: x'];

/** Targets that close the connection or do not speak HTTP. */
const broken: Targets = {
  resets: [() => onData((socket) => socket.resetAndDestroy()), lost],
  'closes at once': [() => createServer((socket) => socket.end()), lost],
  'closes in its headers': [closes('HTTP/1.1 200 OK\r\nA: b'), cut],
  'sends garbage': [writes(`${ESCAPE}garbage\r\n\r\n`), /is not HTTP: it does not begin with HTTP\//],
  'escapes in a header name': [answers('200 OK', '{}', `${ESCAPE}: x`), /HTTP: its header cannot be parsed/],
  'splits a header in two': [answers('200 OK', '{}', `X: a\rSet-Cookie: b${ESCAPE}`), /is not HTTP/],
  'has the status 099': [answers('099 Low', '{}', json), /is not HTTP: it has a status below 100/],
  'has the status -20': [answers('-20 Low', '{}', json), /is not HTTP: invalid status code/],
  'has the status 1000': [answers('1000 High', '{}', json), /is not HTTP: invalid response status/],
  'has endless headers': [() => endless('HTTP/1.1 200 OK\r\n', longField), /headers are too long/],
  'has many fields': [answers('200 OK', '{}', ...fields), /the answer has more than 100 header fields/],
  'sends less than its Content-Length': [closes(`${head('200 OK', json, 'Content-Length: 50')}{}`), cut],
  'sends two lengths': [ok('{}', 'Content-Length: 3'), /not as long as Content-Length says|is not HTTP/],
  'sends a negative length': [writes(negative), /is not HTTP: invalid character in content-length/],
  'sends an invalid chunk': [writes(`${chunked}zz\r\n`), /is not HTTP: invalid character in chunk size/],
  'sends 100 for ever': [writes('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)), /sent 100 Continue unasked/],
  'sends 100 unasked': [writes(continued), /HTTP allows that, but this program cannot read what comes/],
  'changes the protocol': [answers('101 Switching', '', ...upgrade), /answer switches to another protocol/],
};

const html = 'Content-Type: text/html';
const webPage = /another service: both endpoints answer 200 with a web page/;
const sso = 'Location: https://sso.example/in?to=\u009b31m';
const toSso =
  /another service: both endpoints answer 302, a redirect to https:\/\/sso\.example\/in\?to=\?+31m; check the base/;
const portal = /the target answers everything with 511 \([^]*--wait waits until/;
const noPath = '404 Not Found';

/** Targets that are another service. */
const others: Targets = {
  'redirects for ever': [answers('302 Found', '', sso), toSso],
  'is a web page': [answers('200 OK', `<!DOCTYPE html><title>${ESCAPE}Log in</title>`, html), webPage],
  'is a long web page': [answers('200 OK', `<!doctype html>${'<p>wait</p>'.repeat(10_000)}`, html), webPage],
  'has no such path': [
    answers(noPath, 'nope', 'Content-Type: text/plain'),
    /404 without JSON; check the base/,
  ],
  'says so in JSON': [answers(noPath, '{"message":"No"}', json), /404 with another message; check the base/],
  'is a login portal': [answers('511 Network Authentication Required', `<html>${ESCAPE}`, html), portal],
};

const bad = /nonconformant/;
const TOO_LONG = /the body has more than 16384 bytes/;
/** Targets whose bodies are too large. */
const large: Targets = {
  'answers with 20 MB of JSON': [() => send('200 OK', `{"a":"${'x'.repeat(20_000_000)}"}`, json), TOO_LONG],
  'nests deeply': [ok('['.repeat(9000)), /the body is not JSON/],
  'sends more than its length': [writes(`${head('200 OK', json, 'Content-Length: 2')}{}${ESCAPE}`), bad],
};

const fieldsOfBoth = '{"is_under_ib":true,"status":"EXECUTED"}';
const twice = '"is_under_ib":false,"is_under_ib":true';
/** Bodies with unusual content. */
const oddBodies: Readonly<Record<string, readonly [body: string | Uint8Array, cause: RegExp]>> = {
  'answers with infinity': ['{"status":"EXECUTED","amountInUsd":1e400,"executedAt":1e400}', /amountInUsd/],
  'has duplicate fields': [`{"__proto__":{"is_under_ib":true},${twice}}`, /valid\/user-status/],
  'has fields only in a prototype': [`{"__proto__":${fieldsOfBoth},"constructor":1}`, /__proto__/],
  'is not UTF-8': [Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), /the body is not UTF-8/],
  'sends terminal escapes in its messages': [JSON.stringify({ error: ESCAPE }), bad],
  'sends terminal escapes in its body': [`{"error":"${ESCAPE}"}`, /\\u\{1b\}/],
};
const odd: Targets = {
  ...Object.fromEntries(Object.entries(oddBodies).map(([name, [body, cause]]) => [name, [ok(body), cause]])),
  'sends terminal escapes in its reason phrase': [answers('200 \u001b]0;owned\u0007', '{}', json), bad],
  'sends escapes in its headers': [ok('{}', 'X: \u009b31m\u0085', 'Content-Language: \u009b2J'), bad],
  'answers 200 {} to everything': [ok('{}'), bad],
  'has only deposits': [
    answers(noPath, '{"error":"Deposit not found"}', json),
    /id +valid\/user-status\/member$/,
  ],
  'refuses all keys': [
    answers('401 No', '{"error":"Unauthorized"}', json),
    /answers every request .* with 401/,
  ],
};

const usedUp = /already used up when this run began \(Retry-After 1440 min\)/;
const unusual = Object.values(oddBodies).map(([body]) => body);
/** Targets with unusual answers to the requests of all suites: one sends the unusual bodies in turn. */
const strange: Targets = {
  'has the status 999': [answers('999 High', '{}', json), /status +999|999 \{\}/],
  'answers differently each time': [() => send('200 OK', unusual, json), bad],
  'limits for ever': [answers('429 No', '{"error":"Too many requests"}', json, 'Retry-After: 86400'), usedUp],
};

/** Targets that send as fast as they can, so they get only one requirement. */
const endlessly: Targets = {
  'never ends a body': [() => endless(chunked, `400\r\n${'x'.repeat(1024)}\r\n`), TOO_LONG],
  'never ends a body in chunks of one byte': [() => endless(chunked, '1\r\nx\r\n'.repeat(1000)), TOO_LONG],
};

const mainRows = '--only valid/user-status/member --only valid/deposit-check/executed';

/** Targets that end a run without a timeout: exit code, and flags of the run. */
const loud: readonly (readonly [Targets, code: number, flags: string])[] = [
  [broken, 4, ''],
  [others, 4, ''],
  [large, 1, mainRows],
  [endlessly, 1, '--only valid/user-status/member --cases 1'],
  [odd, 1, '--only valid'],
  [strange, 1, ''],
];

const { fileOf } = temporaryFolder();
const fixtureFile = fileOf('fixture.json', unlimited);

/** Characters that affect a terminal or are invisible, except for line breaks. */
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** Asserts that a run ends with this exit code and cause. It has few cases unless `--cases` is given. */
async function ends(url: string, code: number, cause: RegExp, flags = ''): Promise<void> {
  const cases = flags.includes('--cases') ? '' : '--cases 3';
  const short = `${cases} --max-duration 1m --seed 1`;
  const run = await runCli(`verify ${url} --fixture ${fixtureFile} ${short} ${flags}`);
  const output = run.output + run.stderr;
  assert.equal(run.code, code, output);
  // Long lines are wrapped.
  const lines = output.replaceAll(/\n {4,}/g, ' ').split('\n');
  assert.ok(
    lines.some((line) => cause.test(line)),
    `no line says ${cause}: ${output}`,
  );
  // The cause, and the next step.
  if (code === 4) assert.match(run.error, /^[^\n]+\nnext: npx ib-conformance doctor [^\n]+$/);
  assert.doesNotMatch(output, /^\s+at /m, 'no stack');
  assert.doesNotMatch(output, UNPRINTABLE, 'no terminal escapes');
  assert.ok(output.length < 200_000, 'bounded');
}

const noAnswer = /accepts connections but does not answer: no complete answer within 100 ms/;

// Many of them wait for a timeout.
describe('a target that', { concurrency: 4 }, () => {
  for (const [name, serve] of partOf(Object.entries(silent), 3))
    test(`${name}: exit code 3`, { timeout: 60_000 }, () =>
      withServer(serve(), (port) => ends(`http://127.0.0.1:${port}`, 3, noAnswer, '--timeout 100')),
    );
  for (const [targets, code, flags] of loud)
    for (const [name, [serve, cause]] of partOf(Object.entries(targets), 3))
      test(`${name}: exit code ${code}`, { timeout: 60_000 }, () =>
        withServer(serve(), (port) =>
          ends(`http://127.0.0.1:${port}`, code, cause, `--timeout 20000 ${flags}`),
        ),
      );
});

describe('TLS:', () => {
  const ca = fileOf('ca.pem', expired.cert);
  const ownCa = fileOf('own-ca.pem', tls.cert);
  const speaks = (options: TlsOptions) => createTlsServer(options, () => undefined);
  const own = () => speaks(tls);
  const plainHttp = () => send('200 OK', '{}', json);
  const rootCa = `--ca ${fileOf('root.pem', root.cert)}`;
  const chain = { ...leaf, cert: leaf.cert + intermediate.cert };
  const whole = { ...chain, cert: chain.cert + root.cert };
  const noRoot = `--ca ${fileOf('intermediate.pem', intermediate.cert)}`;
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' } as const;
  const alone = /sends its certificate alone[^]*intermediate[^]*--ca/;
  const [https, plain] = ['https://localhost', 'http://localhost'];
  for (const [what, serve, cause, flags = '', origin = https, code = 4] of [
    ['a self-signed certificate', own, /its certificate is self-signed: give --ca or --insecure/],
    ['an expired certificate', () => speaks(expired), /its certificate has expired/, `--ca ${ca}`],
    ['a certificate for another name', own, /for another name/, `--ca ${ownCa}`, 'https://127.0.0.1'],
    ['https to an HTTP port', plainHttp, /TLS failed: the port may speak plain HTTP/],
    ['https to a port that never answers', createServer, /does not answer/, '--timeout 100', https, 3],
    ['a missing intermediate certificate', () => speaks(leaf), alone, rootCa],
    ['an unknown root', () => speaks(whole), /unknown authority/],
    ['a --ca that is no root', () => speaks(chain), /--ca is no root/, noRoot],
    ['a certificate of tomorrow', () => speaks(future), /not valid yet: by the clock.*20\d\d-/, rootCa],
    ['TLS 1.1', () => speaks({ ...chain, ...old }), /no TLS version from 1\.2 on/, '--insecure'],
    ['HTTP/2 by ALPN', () => createSecureServer(chain), /only HTTP\/2/, rootCa],
    ['HTTP/2 in plain text', createHttp2Server, /only HTTP\/2/, '', plain],
    ['http to a TLS port', own, /closed|reset|not HTTP/, '', plain],
  ] as const)
    test(`${what}: exit code ${code}`, () =>
      withServer(serve(), (port) => ends(`${origin}:${port}`, code, cause, flags)));
});

test('the target restarts: lost requests are sent again, and nothing fails', () =>
  withServer(
    flaky(unlimited, (nth, socket) => nth > 50 && nth < 53 && socket.resetAndDestroy() !== undefined),
    (port) => {
      const flags = '--timeout 20000 --only valid --only auth --cases 100';
      return ends(`http://127.0.0.1:${port}`, 0, /^conformant/, flags);
    },
  ));

test('if the target refuses the key, only the lookups that show it fail', async () => {
  const apiKeys = unlimited.apiKeys!.map(({ key, ...one }) =>
    one.partner === 'northwind' ? { ...one, key: `${key}-wrong` } : { ...one, key },
  );
  const options = { fixture: { ...unlimited, apiKeys }, seed: 1, cases: 100, hasStateHook: false };
  const record = await verifyMock(reference, options, unlimited);
  assert.deepEqual(failedIds(record), [
    'valid/user-status/member',
    'valid/deposit-check/executed',
    'auth/user-status/active-key',
    'auth/deposit-check/active-key',
  ]);
  assert.match(record.notes.join(), /with 401\. Check that the target\s+has this key/);
});
