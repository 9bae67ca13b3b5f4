import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cell, fenced, prose } from './markdown-text.ts';

const texts: readonly (readonly [text: string, shown: string])[] = [
  ['A user of the caller’s IB (required): 200, "yes"', 'A user of the caller’s IB (required): 200, "yes"'],
  ['date_joined is null', String.raw`date\_joined is null`],
  ['a *b*', '`a *b*`'],
  ['see http://evil.example', '`see http://evil.example`'],
  ['www.evil.example', '`www.evil.example`'],
  ['@octocat', '`@octocat`'],
  ['fixes #1', '`fixes #1`'],
  ['GH-1', '`GH-1`'],
  ['at 0123abc', '`at 0123abc`'],
  [':tada:', '`:tada:`'],
  ['<img src=x>', '`<img src=x>`'],
  ['$x$', '`$x$`'],
  ['`', '`` ` ``'],
  ['', '(blank)'],
];

for (const [text, shown] of texts) test(`prose: ${text}`, () => assert.equal(prose(text, 100), shown));

test('no cell and no fence ends before its text', () => {
  assert.equal(cell('a|b', 100), '`a\\u{7c}b`');
  assert.equal(fenced('text', ['a', '```', 'b']), '````text\na\n```\nb\n````');
});
