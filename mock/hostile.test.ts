import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as fc from 'fast-check';
import { say } from './raw-socket.ts';
import { builtIn, START } from './testing/probes.ts';
import { startMock, type Mock } from './server.ts';

let mock: Mock;
before(async () => {
  mock = await startMock({ fixture: builtIn, clock: { now: () => START } });
});
after(() => mock.close());

/** What comes back for some bytes until the connection ends; `half` closes our side behind them. */
async function send(bytes: string | Uint8Array, half = false): Promise<string> {
  return (await say(mock.port, [bytes], { half })).bytes;
}

const get = (target: string, ...fields: readonly string[]) =>
  [
    'GET ',
    target,
    ' HTTP/1.1\r\nHost: x\r\nConnection: close\r\n',
    ...fields.map((field) => `${field}\r\n`),
    '\r\n',
  ].join('');
const key = 'Authorization: Bearer northwind-key';

async function isAlive(): Promise<void> {
  assert.match(await send(get('/api/ib/user-status?user_id=', key)), /\{"error":"Invalid user_id format"\}$/);
}

const cases: Readonly<Record<string, readonly [bytes: string, status: number, body: string]>> = {
  'a malformed request line': ['NONSENSE\r\n\r\n', 400, '{"error":"Bad Request"}'],
  'no path': ['GET HTTP/1.1\r\n\r\n', 400, '{"error":"Bad Request"}'],
  'HTTP/2 prior knowledge': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, '{"error":"Bad Request"}'],
  'a TLS handshake': ['\x16\x03\x01\x02\x00\x01\x00', 400, '{"error":"Bad Request"}'],
  'a control character in a header': [get('/', 'X: a\x00b'), 400, '{"error":"Bad Request"}'],
  'two lengths': [get('/', 'Content-Length: 1', 'Content-Length: 2'), 400, '{"error":"Bad Request"}'],
  'huge header fields': [
    get('/', `X: ${'a'.repeat(70_000)}`),
    431,
    '{"error":"Request Header Fields Too Large"}',
  ],
  'a huge target': [get(`/${'a'.repeat(70_000)}`), 431, '{"error":"Request Header Fields Too Large"}'],
  'a path of broken percent-encoding': [get('/%'), 404, '{"error":"Not found"}'],
  'a path that climbs': [get('/../../etc/passwd'), 404, '{"error":"Not found"}'],
  'a value of broken percent-encoding': [
    get('/api/ib/user-status?user_id=%E0%A4%A', key),
    400,
    '{"error":"Invalid user_id format"}',
  ],
  'an array parameter': [
    get('/api/ib/deposit-check?reference_id[]=x', key),
    400,
    '{"error":"Invalid reference_id format"}',
  ],
  'a parameter of 48 KiB': [
    get(`/api/ib/user-status?user_id=${'%00'.repeat(16_384)}`, key),
    400,
    '{"error":"Invalid user_id format"}',
  ],
  'five thousand parameters': [
    get(`/api/ib/user-status?${'a&'.repeat(5000)}user_id=x`, key),
    400,
    '{"error":"Invalid user_id format"}',
  ],
  'an absolute-form target': [
    get('http://elsewhere/api/ib/user-status?user_id=33333333-3333-4333-8333-333333333333', key),
    200,
    '{"is_under_ib":false,"date_joined":null}',
  ],
  'no Host': [
    `GET /api/ib/user-status HTTP/1.1\r\nConnection: close\r\n\r\n`,
    401,
    '{"error":"Unauthorized"}',
  ],
  'HTTP/1.0': ['GET /api/ib/deposit-check HTTP/1.0\r\n\r\n', 401, '{"error":"UNAUTHORIZED"}'],
  'OPTIONS *': ['OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404, '{"error":"Not found"}'],
  CONNECT: ['CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', 404, '{"error":"Not found"}'],
  'an upgrade': [
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n',
    404,
    '{"error":"Not found"}',
  ],
  'a key of other bytes': [
    get('/api/ib/user-status', 'Authorization: Bearer \xff\xfe'),
    401,
    '{"error":"Unauthorized"}',
  ],
};

for (const [name, [bytes, status, body]] of Object.entries(cases))
  test(`${name}: ${status}`, async () => {
    const answer = await send(Buffer.from(bytes, 'latin1'));
    assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), answer);
    assert.ok(answer.endsWith(`\r\n\r\n${body}`), answer);
    assert.match(answer, /content-type: application\/json\r\n/i);
    await isAlive();
  });

test('a body that breaks off does no harm', async () => {
  await send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n12', true);
  const answer = await send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
  assert.match(answer, /^HTTP\/1\.1 400 .*\{"error":"Bad Request"\}$/s);
  await isAlive();
});

test('rubbish behind a request does no harm', async () => {
  assert.doesNotMatch(await send(`GET / HTTP/1.1\r\nHost: x\r\n\r\n\0\0\0\0`), /HTTP\/1\.1 5/);
  await isAlive();
});

const noServerError = (answer: string) => assert.doesNotMatch(answer, /HTTP\/1\.[01] 5/);

test('random bytes get no 5xx and do not kill the mock', async () => {
  const bytes = fc.uint8Array({ maxLength: 300 });
  const prefixes = fc.constantFrom(
    '',
    'GET / HTTP/1.1\r\n',
    'GET /api/ib/user-status?user_id=',
    `${get('/').trim()}\r\n`,
  );
  await fc.assert(
    fc.asyncProperty(prefixes, bytes, async (prefix, random) => {
      noServerError(await send(Buffer.concat([Buffer.from(prefix), random]), true));
    }),
    { numRuns: 300 },
  );
  await isAlive();
});

test('random targets, methods and fields are answered, and never with 5xx', async () => {
  const visible = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  });
  const target = fc.tuple(
    fc.constantFrom('/', '*', 'http://', '/api/ib/user-status?', '/api/ib/deposit-check?reference_id=%'),
    visible,
  );
  const method = fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'get');
  const body = fc.string({ unit: 'binary-ascii' });
  await fc.assert(
    fc.asyncProperty(method, target, visible, body, async (verb, [start, rest], value, content) => {
      const answer = await send(
        `${verb} ${start}${rest} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${value}\r\n` +
          `Content-Length: ${content.length}\r\n\r\n${content}`,
      );
      assert.match(answer, /^HTTP\/1\.1 4\d\d /);
      noServerError(answer);
    }),
    { numRuns: 300 },
  );
  await isAlive();
});
