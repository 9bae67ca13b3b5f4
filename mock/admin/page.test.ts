import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testSession } from '../testing/session.ts';
import type { Access } from './guard.ts';
import { answerAdmin } from './router.ts';

const ask = async (target: string, access?: Access) => {
  const { session } = testSession();
  const answer = await answerAdmin(session, access, { method: 'GET', target, headers: {} });
  assert.ok('body' in answer);
  return answer;
};

test('the page is there with and without the slash, under a policy of its own', async () => {
  for (const target of ['/__admin', '/__admin/', '/__admin/?world=mine']) {
    const { status, headers, body } = await ask(target);
    assert.equal(status, 200);
    assert.equal(headers['Content-Type'], 'text/html; charset=utf-8');
    assert.match(headers['Content-Security-Policy'] ?? '', /^default-src 'none'; script-src 'sha256-/);
    assert.equal(headers['X-Content-Type-Options'], 'nosniff');
    assert.match(String(body), /^<!doctype html>/);
  }
});

test('it is open to whoever has no token yet: it holds no data', async () => {
  const { status, body } = await ask('/__admin/', { kind: 'token', token: 'the-token' });
  assert.equal(status, 200);
  assert.doesNotMatch(String(body), /northwind|the-token/);
});
