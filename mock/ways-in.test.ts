import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readAnswers, say } from './testing/sockets.ts';
import { builtIn, START } from './testing/probes.ts';
import { ids, userPath } from './testing/session.ts';
import { startMock, type Mock } from './server.ts';

let mock: Mock;
before(async () => {
  mock = await startMock({ fixture: builtIn, clock: { now: () => START } });
});
after(() => mock.close());

/** Status and body of the answer to a request, as it stands. */
async function ask(line: string, fields: readonly string[] = ['Host: localhost'], body = '') {
  const all = [...fields, 'Authorization: Bearer northwind-key', 'Connection: close'];
  const head = all.map((field) => `${field}\r\n`).join('');
  const { bytes } = await say(mock.port, [`${line} HTTP/1.1\r\n${head}\r\n${body}`]);
  const [answer, ...more] = readAnswers(bytes);
  assert.deepEqual(more, []);
  return `${answer?.status} ${answer?.body}`;
}

describe('no other spelling of a path leads anywhere', () => {
  for (const target of [
    '/..',
    '/../',
    '/../../etc/passwd',
    '/..%2f..%2fetc%2fpasswd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/....//etc/passwd',
    '/..\\..\\etc\\passwd',
    '/%5c..%5cetc',
    '/\\etc\\passwd',
    '/package.json',
    'file:///etc/passwd',
    '//localhost/__admin/clock',
    '//__admin/clock',
    '/./__admin/clock',
    '/x/../__admin/clock',
    '/%5f%5fadmin/clock',
    '/__admin%2fclock',
    '/__ADMIN/clock',
    '/__admin;/clock',
    'http://localhost/__admin/clock',
    'HTTP://127.0.0.1/__admin/reset',
    'http:/__admin/clock',
    '/api/ib/../../__admin/clock',
    '/api/ib/user-status/../../../__admin/clock',
    '*/__admin/clock',
    '/api/ib%2fuser-status',
    '/api//ib/user-status',
    '/api/ib/./user-status',
    '/api/ib/user-status/',
    '//api/ib/user-status',
    'http://x//api/ib/user-status',
    '/api/ib/user%2dstatus',
    '/API/ib/user-status',
  ])
    test(target, async () =>
      assert.match(
        await ask(`GET ${target}?user_id=${ids.member}`),
        /^(?:404 \{"error":"Not found"\}|400 \{"error":"Bad Request"\})$/,
      ),
    );
});

describe('no other host or page leads to the admin API', () => {
  const reset = 'POST /__admin/reset';
  const refused = /^40[135] \{"error":"/;
  for (const fields of [
    ['Host: evil.example'],
    ['Host: evil.example:4010'],
    ['Host: localhost.evil.example'],
    ['Host: 127.0.0.1.evil.example'],
    ['Host: localhost@evil.example'],
    ['Host: evil.example', 'X-Forwarded-Host: localhost', 'Forwarded: host=localhost'],
    ['Host:'],
    [],
    ['Host: localhost', 'Origin: http://evil.example'],
    ['Host: localhost', 'Origin: null'],
    ['Host: localhost', 'Origin: http://localhost:3000'],
    ['Host: localhost', 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors'],
    ['Host: localhost', 'Sec-Fetch-Site: same-site', 'Sec-Fetch-Mode: no-cors'],
  ])
    test(fields.join(', ') || 'no Host', async () => {
      await ask(`GET ${userPath(ids.member)}`);
      const kept = mock.requests().length;
      for (const line of [reset, 'GET /__admin/requests', 'DELETE /__admin/requests'])
        assert.match(await ask(line, fields), refused);
      const form = [...fields, 'Content-Type: text/plain', 'Content-Length: 2'];
      assert.match(await ask('POST /__admin/clock/advance', form, '{}'), refused);
      assert.equal(mock.requests().length, kept, 'the journal is as it was');
    });
  test('a form without an Origin does not either, but for its media type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      assert.match(
        await ask(reset, ['Host: localhost', `Content-Type: ${type}`, 'Content-Length: 2'], '{}'),
        /^415 /,
      );
  });
  test('while a program of this machine is let in', async () =>
    assert.equal(await ask(reset), '200 {"reset":"all"}'));
});
