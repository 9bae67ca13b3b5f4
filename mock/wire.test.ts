import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startMock, type MockOptions } from './server.ts';
import { builtIn, START } from './testing/probes.ts';
import { depositPath, ids, userPath } from './testing/session.ts';
import { say } from './testing/sockets.ts';

const DATE = 'Wed, 15 Jan 2025 12:00:00 GMT';

/** Everything that comes back for so many bytes, up to the end of the connection. */
async function bytesFor(sent: string, options: MockOptions = {}): Promise<string> {
  await using mock = await startMock({ fixture: builtIn, clock: { now: () => START }, ...options });
  return (await say(mock.port, [sent])).bytes;
}

const request = (line: string, ...fields: readonly string[]) =>
  `${[`${line} HTTP/1.1`, 'Host: ib.example', ...fields].join('\r\n')}\r\n\r\n`;
const KEY = 'Authorization: Bearer northwind-key';
/** A request that closes its connection. */
const last = (line: string, ...fields: readonly string[]) => request(line, ...fields, 'Connection: close');

/** An answer of the interface, byte for byte. */
function answer(status: string, body: string, extra: readonly string[] = [], connection = 'close') {
  const fields = [
    `Date: ${DATE}`,
    'Content-Type: application/json',
    'Cache-Control: no-store',
    ...extra,
    `Content-Length: ${body.length}`,
    `Connection: ${connection}`,
    ...(connection === 'close' ? [] : ['Keep-Alive: timeout=5']),
  ];
  return `HTTP/1.1 ${status}\r\n${fields.join('\r\n')}\r\n\r\n${body}`;
}

const MEMBER = '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}';
const EXECUTED = '{"status":"EXECUTED","amountInUsd":250.5,"executedAt":1705314600000}';
const NOT_ALLOWED = [
  '405 Method Not Allowed',
  '{"error":"Method not allowed"}',
  ['Allow: GET, HEAD'],
] as const;
const post = (fields: string) => `POST ${userPath(ids.member)} HTTP/1.1\r\nHost: x\r\n${fields}\r\nabc`;

const cases: readonly (readonly [name: string, sent: string, received: string])[] = [
  [
    'no key',
    last(`GET ${userPath(ids.member)}`),
    answer('401 Unauthorized', '{"error":"Unauthorized"}', ['WWW-Authenticate: Bearer']),
  ],
  [
    'a preferred status',
    last(`GET ${depositPath(ids.executed)}`, KEY, 'Prefer: code=429'),
    answer('429 Too Many Requests', '{"error":"TOO_MANY_REQUESTS"}', [
      'Retry-After: 1',
      'Preference-Applied: code=429',
    ]),
  ],
  ['HEAD', last(`HEAD ${userPath(ids.member)}`, KEY), answer('200 OK', MEMBER).slice(0, -MEMBER.length)],
  [
    'pipelined requests on a connection that stays open',
    [
      request(`GET ${userPath(ids.member)}`, KEY),
      post('Content-Length: 3\r\n'),
      last(`GET ${depositPath(ids.executed)}`, KEY),
    ].join(''),
    [
      answer('200 OK', MEMBER, [], 'keep-alive'),
      answer(...NOT_ALLOWED, 'keep-alive'),
      answer('200 OK', EXECUTED),
    ].join(''),
  ],
];

for (const [name, sent, received] of cases)
  test(`${name}: exactly these bytes`, async () => assert.equal(await bytesFor(sent), received));

test('an answer that a page may read: exactly these bytes', async () => {
  const open = [
    'Access-Control-Allow-Origin: *',
    'Access-Control-Expose-Headers: Date, Retry-After, WWW-Authenticate',
  ];
  const [head = '', body = ''] = answer('200 OK', MEMBER).split('\r\n\r\n');
  const readable = head.replace('\r\nConnection', `\r\n${open.join('\r\n')}\r\nConnection`);
  const sent = last(`GET ${userPath(ids.member)}`, KEY, 'Origin: https://app.example');
  assert.equal(await bytesFor(sent, { cors: true }), `${readable}\r\n\r\n${body}`);
});

test('the Date of each answer is that of its own time', async () => {
  let now = START;
  const times: number[] = [];
  const dates = await bytesFor(
    request(`GET ${userPath(ids.member)}`, KEY).repeat(3) + last(`GET ${userPath(ids.member)}`, KEY),
    { clock: { now: () => (now += 400) }, onExchange: ({ at }) => times.push(at) },
  );
  assert.ok(new Set(times.map((at) => Math.floor(at / 1000))).size > 1);
  assert.deepEqual(
    [...dates.matchAll(/^Date: (.*)\r$/gm)].map(([, date]) => date),
    times.map((at) => new Date(at).toUTCString()),
  );
});
