import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, headingsOf, linksOf } from './markdown.ts';

const page =
  '```sh\nfirst\n```\n\n# A `b`\n\n```sh\nsecond\n# a comment\n\nthird\n```\n\n## C\n\n- a list\n\n  ~~~\n  plain\n  ~~~\n';

test('blocks come in their order, with the heading above them and what they are written in', () => {
  assert.deepEqual(blocksOf(page), [
    { heading: '', language: 'sh', text: 'first\n' },
    { heading: 'A `b`', language: 'sh', text: 'second\n# a comment\n\nthird\n' },
    { heading: 'C', language: '', text: 'plain\n' },
  ]);
});

test('what looks like a heading in a block is none', () =>
  assert.deepEqual(headingsOf(page), ['A `b`', 'C']));

test('links are found in prose, lists and tables, and not in code', () =>
  assert.deepEqual(
    linksOf(
      '[a](a.md)\n\n- [b](b.md#c)\n\n| x |\n| - |\n| [d](d.md) |\n\n`[e](e.md)`\n\n```\n[f](f.md)\n```\n',
    ),
    ['a.md', 'b.md#c', 'd.md'],
  ));
