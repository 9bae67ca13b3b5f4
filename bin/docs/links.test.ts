import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linksOf, slugOf } from './links.ts';

test('anchors are those of GitHub', () => {
  assert.equal(slugOf('Outcomes and exit codes'), 'outcomes-and-exit-codes');
  assert.equal(slugOf('valid/user-status/date-joined'), 'validuser-statusdate-joined');
  assert.equal(slugOf('1. Say what is true of your server'), '1-say-what-is-true-of-your-server');
  assert.equal(slugOf('[valid](requirements/valid.md)'), 'valid');
});

test('links are found in prose, lists and tables, and not in code', () =>
  assert.deepEqual(
    linksOf(
      '[a](a.md)\n\n- [b](b.md#c)\n\n| x |\n| - |\n| [d](d.md) |\n\n`[e](e.md)`\n\n```\n[f](f.md)\n```\n',
    ),
    ['a.md', 'b.md#c', 'd.md'],
  ));
