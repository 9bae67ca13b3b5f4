import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startMock } from './server.ts';
import { FOUND, builtIn, depositPath, ids, START, userPath } from '../testing/session.ts';
import { sendRaw } from '../testing/sockets.ts';

const DATE = 'Wed, 15 Jan 2025 12:00:00 GMT';

/** Returns all bytes that a request gets, up to the end of the connection. */
async function bytesFor(line: string, ...fields: readonly string[]): Promise<string> {
  await using mock = await startMock({ fixture: builtIn, clock: { now: () => START }, keepsProcess: true });
  const sent = [`${line} HTTP/1.1`, 'Host: ib.example', ...fields, 'Connection: close'].join('\r\n');
  return (await sendRaw(mock.port, [`${sent}\r\n\r\n`])).bytes;
}

const KEY = 'Authorization: Bearer northwind-key';

/** The exact bytes of a response. */
function answer(status: string, body: string, extra: readonly string[] = []) {
  const fields = [
    `Date: ${DATE}`,
    'Content-Type: application/json',
    'Cache-Control: no-store',
    ...extra,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  return `HTTP/1.1 ${status}\r\n${fields.join('\r\n')}\r\n\r\n${body}`;
}

const cases: readonly (readonly [name: string, sent: readonly [string, ...string[]], received: string])[] = [
  [
    'no key',
    [`GET ${userPath(ids.member)}`],
    answer('401 Unauthorized', '{"error":"Unauthorized"}', ['WWW-Authenticate: Bearer']),
  ],
  [
    'a limited key',
    [`GET ${depositPath(ids.executed)}`, 'Authorization: Bearer fabrikam-always-limited-key'],
    answer('429 Too Many Requests', '{"error":"TOO_MANY_REQUESTS"}', ['Retry-After: 3']),
  ],
  ['HEAD', [`HEAD ${userPath(ids.member)}`, KEY], answer('200 OK', FOUND).slice(0, -FOUND.length)],
];

for (const [name, sent, received] of cases)
  test(`${name}: exactly these bytes`, async () => assert.equal(await bytesFor(...sent), received));
