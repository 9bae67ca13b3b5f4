import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../paths.ts';
import { pages } from './parts.ts';
import { ratio, spread, table, withFigures } from './table.ts';

const rows = {
  bare: [{ ms: 100 }, { ms: 200 }, { ms: 50 }],
  ours: [{ ms: 150 }, { ms: 200 }, { ms: 200 }],
  none: [{}, {}, {}],
};

test('a table has medians with their middle half, and ratios within the same round', () => {
  assert.equal(
    table('server', [spread('ms', 'ms'), ratio('times', 'ms')], rows),
    `| server | ms | times |
| --- | --- | --- |
| bare | 100 (75 to 150) | 1 |
| ours | 200 (175 to 200) | 1.5 |
| none |  |  |
`,
  );
  assert.equal(spread('', 'ms').cell([{ ms: 52_987.55 }], []), '53,000');
});

test('only the text between the markers is replaced', () => {
  const page = 'a\n<!-- figures: one -->\n\nold\n\n<!-- end of figures -->\nb\n';
  assert.equal(withFigures(page, 'one', 'new\n'), page.replace('old', 'new'));
  assert.throws(() => withFigures(page, 'two', ''), /figures: two/);
});

test('the pages have a place for each part that they show', () => {
  for (const [file, parts] of Object.entries(pages))
    for (const part of parts) withFigures(readFileSync(join(root, file), 'utf8'), part, '');
});
