import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { builtIn, START } from './testing/probes.ts';
import { depositPath, ids, userPath } from './testing/session.ts';
import { startMock, type MockOptions } from './server.ts';

const DATE = 'Wed, 15 Jan 2025 12:00:00 GMT';

/** Everything that comes back for so many bytes, up to the end of the connection. */
async function bytesFor(sent: string, options: MockOptions = {}): Promise<string> {
  const mock = await startMock({ fixture: builtIn, clock: { now: () => START }, ...options });
  try {
    const socket = connect(mock.port, '127.0.0.1');
    socket.write(sent);
    return await text(socket.setEncoding('latin1'));
  } finally {
    await mock.close();
  }
}

/** The lines of a request; the last of a connection closes it. */
const request = (line: string, ...fields: readonly string[]) =>
  `${[`${line} HTTP/1.1`, 'Host: ib.example', ...fields].join('\r\n')}\r\n\r\n`;
const KEY = 'Authorization: Bearer northwind-key';
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
const NOT_UNDER_IB = '{"is_under_ib":false,"date_joined":null}';
const EXECUTED = '{"status":"EXECUTED","amountInUsd":250.5,"executedAt":1705314600000}';
const challenge = ['WWW-Authenticate: Bearer'];

const cases: readonly (readonly [name: string, sent: string, received: string])[] = [
  ['a member', last(`GET ${userPath(ids.member)}`, KEY), answer('200 OK', MEMBER)],
  ['a foreign user', last(`GET ${userPath(ids.foreignUser)}`, KEY), answer('200 OK', NOT_UNDER_IB)],
  ['an unknown user', last(`GET ${userPath(ids.nobody)}`, KEY), answer('200 OK', NOT_UNDER_IB)],
  [
    'a malformed user_id',
    last(`GET ${userPath('x')}`, KEY),
    answer('400 Bad Request', '{"error":"Invalid user_id format"}'),
  ],
  [
    'no key',
    last(`GET ${userPath(ids.member)}`),
    answer('401 Unauthorized', '{"error":"Unauthorized"}', challenge),
  ],
  ['an EXECUTED deposit', last(`GET ${depositPath(ids.executed)}`, KEY), answer('200 OK', EXECUTED)],
  [
    'a pending deposit',
    last(`GET ${depositPath(ids.pending)}`, KEY),
    answer('404 Not Found', '{"error":"Deposit not found"}'),
  ],
  [
    'a key that is always limited',
    last(`GET ${depositPath(ids.executed)}`, 'Authorization: Bearer fabrikam-always-limited-key'),
    answer('429 Too Many Requests', '{"error":"TOO_MANY_REQUESTS"}', ['Retry-After: 3']),
  ],
  [
    'a preferred status',
    last(`GET ${depositPath(ids.executed)}`, KEY, 'Prefer: code=429'),
    answer('429 Too Many Requests', '{"error":"TOO_MANY_REQUESTS"}', [
      'Retry-After: 1',
      'Preference-Applied: code=429',
    ]),
  ],
  ['another path', last('GET /nowhere'), answer('404 Not Found', '{"error":"Not found"}')],
  ['a target that is no path', last('OPTIONS *'), answer('404 Not Found', '{"error":"Not found"}')],
  [
    'another method, with a body',
    `${last(`POST ${userPath(ids.member)}`, KEY, 'Content-Length: 3')}abc`,
    answer('405 Method Not Allowed', '{"error":"Method not allowed"}', ['Allow: GET, HEAD']),
  ],
  ['HEAD', last(`HEAD ${userPath(ids.member)}`, KEY), answer('200 OK', MEMBER).slice(0, -MEMBER.length)],
  [
    'a connection that stays open, and requests that do not wait for their answers',
    [
      request(`GET ${userPath(ids.member)}`, KEY),
      `${request(`POST ${userPath(ids.member)}`, KEY, 'Content-Length: 3')}abc`,
      last(`GET ${depositPath(ids.executed)}`, KEY),
    ].join(''),
    [
      answer('200 OK', MEMBER, [], 'keep-alive'),
      answer('405 Method Not Allowed', '{"error":"Method not allowed"}', ['Allow: GET, HEAD'], 'keep-alive'),
      answer('200 OK', EXECUTED),
    ].join(''),
  ],
];

for (const [name, sent, received] of cases)
  test(`${name}: these bytes, and no others`, async () => assert.equal(await bytesFor(sent), received));

test('a page that may read: these bytes, and no others', async () => {
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
  assert.equal(new Set(times.map((at) => Math.floor(at / 1000))).size > 1, true);
  assert.deepEqual(
    [...dates.matchAll(/^Date: (.*)\r$/gm)].map(([, date]) => date),
    times.map((at) => new Date(at).toUTCString()),
  );
});
