import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandsOf } from './guide.ts';

test('the commands stand under their headings; other blocks are none', () => {
  const markdown =
    '# A\n\n```sh\nfirst\n# a comment\n\nsecond\n```\n\n## B\n\n```yaml\n# no heading\n```\n\n### C\n\n```sh\nthird\n```\n';
  assert.deepEqual(
    [...commandsOf(markdown)],
    [
      ['A', 'first\n# a comment\n\nsecond\n'],
      ['C', 'third\n'],
    ],
  );
});

test('two blocks under one heading are refused, for one of them would not be run', () => {
  assert.throws(() => commandsOf('# A\n\n```sh\na\n```\n\n```sh\nb\n```\n'), /two blocks.*"A"/);
});
