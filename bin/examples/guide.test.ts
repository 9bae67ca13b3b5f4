import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tablesOf } from '../fixture/tables.ts';
import { root } from '../package/paths.ts';
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

test('the guide names the tables and columns that there are, where nothing becomes of a deposit', () => {
  const guide = readFileSync(join(root, 'docs/provide-data.md'), 'utf8');
  const rows = [...guide.matchAll(/^\| `(\w+)` +\| (.*?) +\|$/gm)];
  assert.deepEqual(
    rows.map(([, name, columns]) => [name, [...columns!.matchAll(/`(\w+)`/g)].map(([, column]) => column)]),
    tablesOf({}).map(({ name, columns }) => [
      name,
      columns.map((column) => column.name).filter((column) => !column.startsWith('becomes_')),
    ]),
  );
});
