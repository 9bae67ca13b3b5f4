import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { decodeText, readQuery, routesUnder, splitTarget, trimBasePath } from './target.ts';

const same = (path: string) => path;

test('a target is split at its first question mark', () => {
  assert.deepEqual(splitTarget('/a/b?c=?'), { path: '/a/b', query: 'c=?' });
  assert.deepEqual(splitTarget('/a/b'), { path: '/a/b', query: '' });
  assert.deepEqual(splitTarget('*'), { path: '*', query: '' });
});

test('scheme and authority of an absolute-form target do not count', () => {
  assert.deepEqual(splitTarget('http://host:1/a?b=c'), { path: '/a', query: 'b=c' });
  assert.deepEqual(splitTarget('HTTPS://host?b=c'), { path: '', query: 'b=c' });
});

test('a path that looks like a URL behind its slash is a path', () => {
  assert.deepEqual(splitTarget('//http://host/a'), { path: '//http://host/a', query: '' });
});

test('a query is read in its order, with empty values', () => {
  assert.deepEqual(readQuery('a=1&b&a=2=3&=x&', decodeText), [
    ['a', '1'],
    ['b', ''],
    ['a', '2=3'],
    ['', 'x'],
    ['', ''],
  ]);
  assert.deepEqual(readQuery('', decodeText), []);
});

test('what cannot be decoded stays as it is', () => {
  assert.equal(decodeText('%31%2D'), '1-');
  assert.equal(decodeText('a+b'), 'a b');
  for (const broken of ['%', '%zz', '%E0%A4%A', '%C0%80', '%ED%A0%80'])
    assert.equal(decodeText(broken), broken);
});

test('encoded text is decoded to itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => decodeText(encodeURIComponent(text)) === text),
  );
});

test('a trailing slash of the base path makes no difference', () => {
  for (const base of ['/gateway/v2', '/gateway/v2/', 'gateway/v2', '//gateway/v2//'])
    assert.equal(trimBasePath(base), '/gateway/v2');
  for (const base of ['', '/', '//']) assert.equal(trimBasePath(base), '');
});

test('the endpoints stand under the base path', () => {
  assert.deepEqual(
    [...routesUnder('/gateway', same)],
    [
      ['/gateway/api/ib/user-status', 'user-status'],
      ['/gateway/api/ib/deposit-check', 'deposit-check'],
    ],
  );
});
