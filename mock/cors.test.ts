import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answererOf } from './answer-request.ts';
import { ids, testSession, userPath } from './testing/session.ts';

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
  const answer = await answererOf(session, { cors })({ ...preflight, ...changes });
  return { ...answer, noted: entries().length };
}

test('a page may ask what it asks for, and leaves no trace by asking whether', async () => {
  const { status, headers, noted } = await ask(true);
  assert.equal(status, 204);
  assert.equal(headers['Access-Control-Allow-Origin'], '*');
  assert.equal(headers['Access-Control-Allow-Headers'], 'authorization');
  assert.equal(headers['Access-Control-Allow-Methods'], 'GET, HEAD');
  assert.equal(noted, 0);
});

test('a page may read every answer, and when to come again', async () => {
  for (const authorization of ['Bearer northwind-key', 'Bearer nope', 'Bearer fabrikam-always-limited-key']) {
    const { headers } = await ask(true, { method: 'GET', headers: { authorization } });
    assert.equal(headers['Access-Control-Allow-Origin'], '*');
    assert.match(headers['Access-Control-Expose-Headers'] ?? '', /Retry-After/);
  }
});

test('without the option nothing is different: OPTIONS is another method', async () => {
  const { status, headers } = await ask(false);
  assert.equal(status, 405);
  assert.ok(!Object.keys(headers).some((name) => name.startsWith('Access-Control')));
});

test('with it, OPTIONS that is no such question is another method', async () => {
  assert.equal((await ask(true, { headers: {} })).status, 405);
});
