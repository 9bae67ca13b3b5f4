import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf } from './blocks.ts';

test('a block stands under the heading above it, and knows its language', () => {
  const page =
    '```\nfirst\n```\n\n# A `b`\n\n~~~sh\n# no heading\n\nsecond\n~~~\n\ntext\n\n## C\n\n```yaml\nthird\n```\n';
  assert.deepEqual(blocksOf(page), [
    { heading: '', language: '', text: 'first' },
    { heading: 'A b', language: 'sh', text: '# no heading\n\nsecond' },
    { heading: 'C', language: 'yaml', text: 'third' },
  ]);
});
