import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../dev/paths.ts';
import { parts } from './parts/index.ts';
import { pages, withFigures } from './figures.ts';

const text = `a
<!-- figures: one -->

old

<!-- end of figures -->
b
<!-- figures: two -->
<!-- end of figures -->
`;

test('what stands between the markers is replaced, and nothing else, however often', () => {
  const once = withFigures(text, 'one', 'new\n');
  assert.equal(once, text.replace('old', 'new'));
  assert.equal(withFigures(once, 'one', 'new\n'), once);
  assert.equal(withFigures(text, 'two', 'new\n'), text.replace('two -->\n', 'two -->\n\nnew\n\n'));
  assert.throws(() => withFigures(text, 'three', ''), /figures: three/);
});

for (const [name, isShown] of Object.entries(pages))
  test(`${name} has a place for each part that it shows`, () => {
    const page = readFileSync(join(root, name), 'utf8');
    const shown = Object.keys(parts).filter(isShown);
    assert.ok(shown.length > 0);
    for (const part of shown) assert.doesNotThrow(() => withFigures(page, part, ''));
  });
