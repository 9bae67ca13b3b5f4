import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, headingsOf } from './blocks.ts';

const page =
  '```sh\nfirst\n```\n\n# A `b`\n\n```sh\nsecond\n# a comment\n\nthird\n```\n\n## C\n\n- a list\n\n~~~\nplain\n~~~\n';

test('blocks come in their order, with the heading above them and what they are written in', () => {
  assert.deepEqual(blocksOf(page), [
    { heading: '', language: 'sh', text: 'first\n' },
    { heading: 'A `b`', language: 'sh', text: 'second\n# a comment\n\nthird\n' },
    { heading: 'C', language: '', text: 'plain\n' },
  ]);
});

test('what looks like a heading in a block is none', () =>
  assert.deepEqual(headingsOf(page), ['A `b`', 'C']));
