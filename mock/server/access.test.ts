import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HttpRequest } from './exchange.ts';
import { checkAccess, type Access } from '../control/admin.ts';
import { Refusal } from './refusal.ts';

const loopback: Access = { token: undefined };
const token: Access = { token: 'the-token' };
const good: HttpRequest = {
  method: 'POST',
  target: '/__admin/state',
  headers: { host: '127.0.0.1:8080', 'content-type': 'application/json' },
  body: '{}',
};

/** Returns the status of the refusal; 0: allowed. */
function statusOf(access: Access, headers: HttpRequest['headers'], changes: Partial<HttpRequest> = {}) {
  try {
    checkAccess(access, { ...good, ...changes, headers: { ...good.headers, ...headers } });
    return 0;
  } catch (error) {
    assert.ok(error instanceof Refusal && error.message.length > 9);
    return error.status;
  }
}

describe('on loopback', () => {
  for (const host of ['localhost', 'LOCALHOST:80', '127.0.0.1', '127.8.9.10:8080', '[::1]', '[::1]:8080'])
    test(`a call to the host ${host} is allowed`, () => assert.equal(statusOf(loopback, { host }), 0));
  const lookalikes = ['localhost.mock.example', '127.0.0.1.mock.example', 'mock.example:127.0.0.1'];
  for (const host of [undefined, '', 'mock.example', ...lookalikes, '10.0.0.1:8080', '::1', 'user@localhost'])
    test(`a call to the host ${host ?? '(none)'} is refused`, () => {
      assert.equal(statusOf(loopback, { host }), 403);
      assert.equal(statusOf(loopback, { host }, { method: 'GET' }), 403);
    });
  for (const origin of ['http://site.example', 'null', 'http://127.0.0.1:8081', 'http://localhost:8080', ''])
    test(`a page of ${origin === '' ? 'an empty origin' : origin} is refused`, () =>
      assert.equal(statusOf(loopback, { origin }), 403));
  describe('Sec-Fetch headers of a browser', () => {
    const status = (site: string, mode: string, dest: string) => {
      const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest };
      return statusOf(loopback, headers, { method: 'GET' });
    };
    for (const site of ['cross-site', 'same-site'])
      test(`${site}: a link is allowed, the rest is refused`, () => {
        assert.equal(status(site, 'navigate', 'document'), 0);
        assert.equal(status(site, 'navigate', 'iframe'), 403);
        for (const dest of ['image', 'script', 'empty']) assert.equal(status(site, 'no-cors', dest), 403);
      });
    for (const site of ['same-origin', 'none'])
      test(`${site}: is allowed`, () => assert.equal(status(site, 'cors', 'empty'), 0));
  });
  test('its own page is allowed', () =>
    assert.equal(statusOf(loopback, { origin: 'http://127.0.0.1:8080' }), 0));
  for (const type of [undefined, 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])
    test(`a body of ${type ?? 'no media type'} is refused`, () =>
      assert.equal(statusOf(loopback, { 'content-type': type }), 415));
  test('a media type may have a charset', () =>
    assert.equal(statusOf(loopback, { 'content-type': 'application/json; charset=utf-8' }), 0));
  test('a call without a body needs no media type', () => {
    const { body: _, ...without } = good;
    checkAccess(loopback, { ...without, headers: { host: 'localhost' } });
  });
});

describe('with a token', () => {
  const bearer = (authorization: string | undefined) => statusOf(token, { authorization, host: 'mock:4010' });
  test('callers with the token are allowed, for any host', () => {
    assert.equal(bearer('Bearer the-token'), 0);
    assert.equal(bearer('bearer the-token'), 0);
  });
  const nearMisses = ['Bearer', 'Bearer the-toke', 'Bearer the-tokens', 'the-token', 'Basic the-token'];
  for (const wrong of [undefined, '', ...nearMisses])
    test(`${wrong ?? 'nothing'} is refused`, () => assert.equal(bearer(wrong), 401));
  test('the token is needed on loopback too', () => assert.equal(statusOf(token, {}), 401));
  test('pages of other origins are refused', () =>
    assert.equal(statusOf(token, { authorization: 'Bearer the-token', origin: 'http://site.example' }), 403));
});
