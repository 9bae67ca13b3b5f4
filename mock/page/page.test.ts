import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { curl, dateAndTime, escapeText, number } from './format.ts';
import { page } from './generated/page.ts';

test('the page is one file, without references and without code in attributes', () => {
  const markup = page.replace(/<(script|style)>[^]*?<\/\1>/g, '');
  assert.equal(page.match(/<script>/g)?.length, 1);
  assert.equal(page.match(/<style>/g)?.length, 1);
  assert.doesNotMatch(markup, /<script|<iframe|\ssrc=|\son\w+=|\sstyle=/);
  for (const [, to] of markup.matchAll(/href="([^"]*)"/g)) assert.match(to!, /^data:/);
  assert.doesNotMatch(page, /document\.write|\beval\(|@import|\burl\(/);
});

test('numbers show every digit, and times in UTC', () => {
  const numbers = ['16,777,217.01', '1,000', '0.07', '0.30000000000000004'];
  assert.deepEqual([16777217.01, 1000, 0.07, 0.1 + 0.2].map(number), numbers);
  assert.equal(dateAndTime(1705314600000), '2024-01-15 10:30:00 UTC');
  assert.equal(dateAndTime(9e15), '9000000000000000');
});

test("invisible characters of a client's text are escaped", () => {
  assert.equal(escapeText('/a\u202Eb\u0000\u200Dc\u2028'), '/a\\u{202e}b\\u{0}\\u{200d}c\\u{2028}');
});

test('a curl line contains a public key or reads a secret one, and quotes the world name', () => {
  const url = 'http://127.0.0.1:4010/api/ib/user-status?user_id=1';
  assert.equal(curl(url, {}, ''), `curl -i "${url}"`);
  assert.equal(curl(url, { key: 'the-key' }, ''), `curl -i -H "Authorization: Bearer the-key" "${url}"`);
  const env = { IB_OTHER_KEY: 'a-secret' };
  for (const world of ['', `$(echo>&2)\`id\`'";|&$HOME!\\`])
    for (const key of [{ key: 'the-key' }, { variable: 'IB_OTHER_KEY' }]) {
      const script = curl(url, key, world).replace(/^curl/, `printf '%s\\n'`);
      const words = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', env }).trimEnd().split('\n');
      const suffix = world === '' ? '' : `~${world}`;
      assert.deepEqual(words, ['-i', '-H', `Authorization: Bearer ${key.key ?? 'a-secret'}${suffix}`, url]);
    }
});
