import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { expired, tls } from '../mock/test-certificate.ts';
import { createMock } from '../mock/index.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { called } from './called.ts';
import { loadFixture } from './fixture-file.ts';
import { answerWith } from './front.ts';

// No time is spent on limiters that nobody has.
const { limits: _, ...fixture }: Fixture = await loadFixture(undefined, {});
const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-'));
const place = (name: string) => join(folder, name);
const fixtureFile = place('fixture.json');
writeFileSync(fixtureFile, JSON.stringify(fixture));

/** Runs verify against a URL: a short run. */
async function verify(url: string, ...flags: readonly string[]) {
  const short = ['--cases', '3', '--max-duration', '1m', '--no-canary', '--seed', '1'];
  const { code, output, aside, error } = await called([
    'verify',
    url,
    '--fixture',
    fixtureFile,
    ...short,
    ...flags,
  ]);
  return { code, output, error: aside + error };
}

async function against<Result>(server: Server, use: (port: number) => Promise<Result>): Promise<Result> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Writes the same to every request, whatever it asks for. */
const always = (write: (socket: Socket) => void) =>
  createServer((socket) => socket.on('data', () => write(socket)));
const answer = (status: string, body: string | Buffer, ...fields: readonly string[]) => {
  const head = [`HTTP/1.1 ${status}`, `Content-Length: ${Buffer.byteLength(body)}`, ...fields].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), Buffer.from(body)]);
};
const json = 'Content-Type: application/json';
const says = (status: string, body: string | Buffer, ...fields: readonly string[]) =>
  always((socket) => socket.write(answer(status, body, ...fields)));
/** Writes on for as long as anybody reads. */
const endlessly = (start: string, more: string) =>
  always((socket) => {
    socket.write(start);
    const go = () => {
      while (!socket.destroyed && socket.write(more));
    };
    socket.on('drain', go);
    go();
  });

const ESCAPE = '\u001b]0;owned\u0007\u001b[2J';

/** A heavy answer is worth a suite, not a whole run. */
const brief = ['--suite', 'valid'];

/** What a target does, and how the run has to end: the exit code, and the cause in a line. */
const targets: Readonly<
  Record<string, readonly [server: () => Server, code: number, cause: RegExp, ...flags: readonly string[]]>
> = {
  resets: [
    () => always((socket) => socket.resetAndDestroy()),
    4,
    /connection was reset|connection was closed/,
  ],
  'closes at once': [
    () => createServer((socket) => socket.end()),
    4,
    /connection was closed|connection was reset/,
  ],
  'accepts and says nothing': [
    () => createServer(() => undefined),
    3,
    /accepts connections but does not answer/,
  ],
  'hangs in the status line': [() => always((socket) => socket.write('HTTP/1.1 2')), 3, /does not answer/],
  'hangs in its headers': [
    () => always((socket) => socket.write('HTTP/1.1 200 OK\r\nA: b')),
    3,
    /does not answer/,
  ],
  'hangs in a body': [
    () => always((socket) => socket.write(`HTTP/1.1 200 OK\r\n${json}\r\nContent-Length: 99\r\n\r\n{"is_`)),
    3,
    /does not answer/,
  ],
  'talks garbage': [() => always((socket) => socket.write(`${ESCAPE}garbage\r\n\r\n`)), 4, /is not HTTP/],
  'never ends its headers': [
    () => endlessly('HTTP/1.1 200 OK\r\n', `X: ${'x'.repeat(1000)}\r\n`),
    4,
    /headers are too long/,
  ],
  'never ends a body': [
    () =>
      endlessly(
        `HTTP/1.1 200 OK\r\n${json}\r\nTransfer-Encoding: chunked\r\n\r\n`,
        `400\r\n${'x'.repeat(1024)}\r\n`,
      ),
    1,
    /the body is longer than 1048576 bytes/,
    ...brief,
  ],
  'sends a gzip bomb': [
    () => says('200 OK', gzipSync(Buffer.alloc(50_000_000)), json, 'Content-Encoding: gzip'),
    1,
    /the body is longer than 1048576 bytes/,
    ...brief,
  ],
  'sends less than it says': [
    () => always((socket) => socket.end(`HTTP/1.1 200 OK\r\n${json}\r\nContent-Length: 50\r\n\r\n{}`)),
    4,
    /closed before the answer was whole|not as long as/,
  ],
  'redirects for ever': [
    () => says('302 Found', '', 'Location: /'),
    4,
    /not this interface: 302, a redirect/,
  ],
  'says 100 for ever': [
    () => always((socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(3))),
    4,
    /127\.0\.0\.1/,
  ],
  'says 102 for ever': [() => endlessly('', 'HTTP/1.1 102 Processing\r\n\r\n'), 3, /does not answer/],
  'is a web page': [
    () => says('200 OK', `<!DOCTYPE html><title>${ESCAPE}Log in</title>`, 'Content-Type: text/html'),
    4,
    /not this interface: 200 with a web page/,
  ],
  'knows no such path': [
    () => says('404 Not Found', 'nope', 'Content-Type: text/plain'),
    4,
    /404 without JSON.*base_url/,
  ],
  'nests for ever': [() => says('200 OK', '['.repeat(500_000), json), 1, /the body is not JSON/, ...brief],
  'answers with 20 MB of JSON': [
    () => says('200 OK', `{"a":"${'x'.repeat(20_000_000)}"}`, json),
    1,
    /longer than 1048576/,
    ...brief,
  ],
  'answers with infinity': [
    () => says('200 OK', '{"status":"EXECUTED","amountInUsd":1e400,"executedAt":1e400}', json),
    1,
    /amountInUsd/,
  ],
  'names its fields twice, and a prototype': [
    () => says('200 OK', '{"__proto__":{"is_under_ib":true},"is_under_ib":false,"is_under_ib":true}', json),
    1,
    /valid\/user-status/,
  ],
  'is not UTF-8': [
    () => says('200 OK', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), json),
    1,
    /the body is not UTF-8/,
  ],
  'says 200 {} to everything': [() => says('200 OK', '{}', json), 1, /nonconformant/],
  'speaks to the terminal': [() => says('200 OK', `{"error":"${ESCAPE}"}`, json), 1, /nonconformant/],
  'refuses every key': [
    () => says('401 Unauthorized', '{"error":"Unauthorized"}', json),
    1,
    /answers every request .* with 401/,
  ],
  'limits for ever': [
    () => says('429 Too Many Requests', '{"error":"Too many requests"}', json, 'Retry-After: 86400'),
    3,
    /limited|Retry-After|rate-limited/,
  ],
};

/** How every such run has to end. */
async function ends(url: string, code: number, cause: RegExp, ...flags: readonly string[]): Promise<void> {
  const run = await verify(url, ...flags);
  const told = run.output + run.error;
  assert.match(told, cause);
  assert.equal(run.code, code, told);
  assert.doesNotMatch(told, /^ {4}at /m, 'no stack');
  // oxlint-disable-next-line no-control-regex -- that is what must not be there
  assert.doesNotMatch(told, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/, 'nothing that a terminal acts on');
  assert.ok(told.length < 200_000, 'bounded');
}

describe('a target that', () => {
  for (const [name, [server, code, cause, ...flags]] of Object.entries(targets))
    test(`${name}: ${code}`, () =>
      against(server(), (port) =>
        ends(`http://127.0.0.1:${port}`, code, cause, '--timeout', '300', ...flags),
      ));
});

describe('TLS:', () => {
  const ca = place('ca.pem');
  writeFileSync(ca, expired.cert);
  const speaks = (certificate: typeof tls) => createTlsServer(certificate, () => undefined);
  test('a certificate that nobody signed: 4', () =>
    against(speaks(tls), (port) =>
      ends(`https://localhost:${port}`, 4, /self-signed: give --ca or --insecure/),
    ));
  test('one that has expired: 4', () =>
    against(speaks(expired), (port) => ends(`https://localhost:${port}`, 4, /has expired/, '--ca', ca)));
  test('one for another name: 4', () =>
    against(speaks(expired), (port) => ends(`https://127.0.0.1:${port}`, 4, /certificate/, '--ca', ca)));
  test('https to a plain port: 4', () =>
    against(says('200 OK', '{}', json), (port) =>
      ends(`https://localhost:${port}`, 4, /TLS failed: the port may speak plain HTTP/),
    ));
  test('http to a TLS port: 4', () =>
    against(speaks(tls), (port) => ends(`http://localhost:${port}`, 4, /closed|reset|not HTTP/)));
});

/** A mock whose front fails: `meets` sees how many requests there were, and may do something else. */
function faltering(meets: (nth: number, socket: Socket) => boolean): Server {
  const mock = createMock({ fixture });
  let requests = 0;
  return createHttpServer((request, response) => {
    if (meets(++requests, request.socket)) return;
    request.resume();
    void answerWith(mock, request, response);
  });
}

describe('in the middle of the run', () => {
  const patient = ['--timeout', '20000', '--suite', 'valid', '--suite', 'auth'];
  test('the target goes away for good: 3, and it says so', () =>
    against(
      faltering((nth, socket) => nth > 50 && socket.resetAndDestroy() !== undefined),
      (port) =>
        ends(`http://127.0.0.1:${port}`, 3, /the target stopped answering|connection was/, ...patient),
    ));
  test('it restarts: what was under way is sent again, and nothing is held against it', () =>
    against(
      faltering((nth, socket) => nth > 50 && nth < 53 && socket.resetAndDestroy() !== undefined),
      (port) => ends(`http://127.0.0.1:${port}`, 0, /^conformant/m, ...patient),
    ));
});
