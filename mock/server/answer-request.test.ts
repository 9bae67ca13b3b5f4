import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createAnswerer } from './answer-request.ts';
import { startMock, type Mock } from '../index.ts';
import { sendRaw } from '../testing/sockets.ts';
import { ids, testSession, userPath } from '../testing/session.ts';

describe('CORS', () => {
  const preflight = {
    method: 'OPTIONS',
    target: userPath(ids.member),
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    },
  };
  async function ask(cors: boolean, changes: object = {}) {
    const { session, entries } = testSession();
    const answer = createAnswerer(session, { cors, hasPage: true })({ ...preflight, ...changes });
    return { ...answer, noted: entries().length };
  }

  test('a preflight gets the headers that it requests, and is not in the journal', async () => {
    const { status, headers, noted } = await ask(true);
    assert.equal(status, 204);
    assert.equal(headers['Access-Control-Allow-Origin'], '*');
    assert.equal(headers['Access-Control-Allow-Headers'], 'authorization');
    assert.equal(headers['Access-Control-Allow-Methods'], 'GET, HEAD');
    assert.equal(noted, 0);
  });
  test('a page may read a response and its Retry-After', async () => {
    const authorization = 'Bearer fabrikam-always-limited-key';
    const { headers } = await ask(true, { method: 'GET', headers: { authorization } });
    assert.equal(headers['Access-Control-Allow-Origin'], '*');
    assert.match(headers['Access-Control-Expose-Headers'] ?? '', /Retry-After/);
  });
  test('OPTIONS gets 405 without the option, and if it is no preflight', async () => {
    const { status, headers } = await ask(false);
    assert.equal(status, 405);
    assert.ok(!Object.keys(headers).some((name) => name.startsWith('Access-Control')));
    assert.equal((await ask(true, { headers: {} })).status, 405);
  });
});

describe('no other spelling of a path reaches an endpoint or the admin API', () => {
  let mock: Mock;
  before(async () => (mock = await startMock({ keepsProcess: true })));
  after(() => mock.close({ force: true }));
  const ask = async (target: string) => {
    const head = 'Host: localhost\r\nAuthorization: Bearer northwind-key\r\nConnection: close';
    const { bytes } = await sendRaw(mock.port, [`GET ${target} HTTP/1.1\r\n${head}\r\n\r\n`]);
    return { status: Number(bytes.slice(9, 12)), body: bytes.split('\r\n\r\n')[1] };
  };
  for (const target of [
    '/../../etc/passwd',
    '/..%2f..%2fetc%2fpasswd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/..\\..\\etc\\passwd',
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
    '/api/ib/user-status/../../../__admin/clock',
    '*/__admin/clock',
    '/api/ib%2fuser-status',
    '/api//ib/user-status',
    '/api/ib/./user-status',
    '/api/ib/user-status/',
    '//api/ib/user-status',
    'http://x//api/ib/user-status',
    '/api/ib/user%2dstatus',
    '/api/ib\\user-status',
    '/api/ib/user-status;x=1',
    '/api/ib/user-status.json',
    '/api/ib/user-status%20',
    '/x/..;/api/ib/user-status',
    '/API/ib/user-status',
  ])
    test(target, async () => {
      const { status, body } = await ask(`${target}?user_id=${ids.member}`);
      assert.deepEqual([status, body], [404, '{"error":"Not found"}']);
    });
  test('the right spelling does', async () => assert.equal((await ask('/__admin/clock?world=')).status, 200));
});
