import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Request } from '../request.ts';
import { formsOfRequests } from './forms.ts';

const target = '/api/ib/user-status?user_id=x';
const plain: Request = {
  endpoint: 'user-status',
  method: 'GET',
  target,
  headers: {},
  credential: { as: 'none' },
};

// Faults of the mock show the other forms.
test('every form that a server may read as the plain request is among them', () => {
  const changes = formsOfRequests.map(({ change }) => change(plain));
  const texts = new Set(changes.map((one) => JSON.stringify(one)));
  for (const expected of [
    { method: 'POST' },
    { method: 'POST', headers: { 'x-http-method-override': 'GET' } },
    { target: '/?user_id=x', headers: { 'x-rewrite-url': target } },
    { headers: { 'x-original-url': '/', 'x-rewrite-url': '/' } },
    { headers: { 'x-forwarded-prefix': '/internal' } },
  ])
    assert.ok(texts.has(JSON.stringify(expected)), JSON.stringify(expected));
  for (const address of ['127.0.0.1', '10.', '172.16.', '192.168.'])
    for (const name of ['x-forwarded-for', 'x-real-ip', 'true-client-ip', 'cf-connecting-ip'])
      assert.ok(
        changes.some(({ headers }) => headers?.[name]?.startsWith(address)),
        `${name}: ${address}`,
      );
});
