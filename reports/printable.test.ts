import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { hostileText } from './testing/arbitraries.ts';
import { columns, padded, printable } from './text.ts';

const escapes: readonly (readonly [text: string, shown: string])[] = [
  ['plain ASCII ~', 'plain ASCII ~'],
  ['é 漢字 🦀 …', 'é 漢字 🦀 …'],
  ['a\nb\tc', 'a\\u{a}b\\u{9}c'],
  ['\u001b[31mred', '\\u{1b}[31mred'],
  ['\u0000\u007f\u009b', '\\u{0}\\u{7f}\\u{9b}'],
  ['\u202eabc\u2069', '\\u{202e}abc\\u{2069}'],
  ['a\u200bb\ufeff', 'a\\u{200b}b\\u{feff}'],
  ['\ud800x\udc00', '\\u{d800}x\\u{dc00}'],
  ['a\u00a0b\u3000', 'a\\u{a0}b\\u{3000}'],
  ['e\u0301', 'e\\u{301}'],
  ['\u{e0041}', '\\u{e0041}'],
];

for (const [text, shown] of escapes) {
  test(`shown as ${shown}`, () => assert.equal(printable(text, 100), shown));
}

test('printable text is well formed, within its columns, and printable already', () => {
  fc.assert(
    fc.property(hostileText, fc.integer({ min: 1, max: 900 }), (text, most) => {
      const shown = printable(text, most);
      assert.ok(columns(shown) <= most);
      assert.doesNotMatch(shown, /\p{C}/u);
      assert.equal(printable(shown, most), shown);
    }),
  );
});

test('text is cut only where it does not fit, and never in an escape', () => {
  assert.equal(printable('abcde', 5), 'abcde');
  assert.equal(printable('abcdef', 5), 'abcd…');
  assert.equal(printable('漢字漢', 5), '漢字…');
  assert.equal(printable('abc\u0000', 7), 'abc…');
});

test('East Asian letters and emoji take two columns', () => {
  assert.deepEqual(['a', 'é', '漢', '１', '🦀', '✓', '–'].map(columns), [1, 1, 2, 2, 2, 1, 1]);
  assert.equal(padded('漢', 4), '漢  ');
});
