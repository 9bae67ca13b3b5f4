import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parts } from './parts/index.ts';
import { withFigures } from './readme.ts';

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

test('the README has a place for each part', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  for (const part of Object.keys(parts)) assert.doesNotThrow(() => withFigures(readme, part, ''));
});
