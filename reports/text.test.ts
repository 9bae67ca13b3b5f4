import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { hostileText, anyRecord } from './testing/records.ts';
import {
  chunk,
  columns,
  count,
  duration,
  hanging,
  padded,
  printable,
  plural,
  softChunk,
  wrap,
  renderJson,
} from './text.ts';

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

for (const [text, shown] of escapes)
  test(`shown as ${shown}`, () => assert.equal(printable(text, 100), shown));

test('the result of `printable` fits the columns, has no controls, and stays the same in a second call', () => {
  fc.assert(
    fc.property(hostileText, fc.integer({ min: 1, max: 900 }), (text, most) => {
      const shown = printable(text, most);
      assert.ok(columns(shown) <= most);
      assert.doesNotMatch(shown, /\p{C}/u);
      assert.equal(printable(shown, most), shown);
    }),
  );
});

test('text is cut only if it is too long, and never inside an escape', () => {
  assert.equal(printable('abcde', 5), 'abcde');
  assert.equal(printable('abcdef', 5), 'abcd…');
  assert.equal(printable('漢字漢', 5), '漢字…');
  assert.equal(printable('abc\u0000', 7), 'abc…');
});

test('East Asian letters and emoji take two columns', () => {
  assert.deepEqual(['a', 'é', '漢', '１', '🦀', '✓', '–'].map(columns), [1, 1, 2, 2, 2, 1, 1]);
  assert.equal(padded('漢', 4), '漢  ');
});

test('words move to the next line, and are broken only if they are longer than a line', () => {
  assert.deepEqual(wrap('to be or not', 5), ['to be', 'or', 'not']);
  assert.deepEqual(wrap('a  bcdefgh i', 3), ['a', 'bcd', 'efg', 'h i']);
  assert.deepEqual(wrap('', 10), []);
  assert.deepEqual(softChunk('{"a":1,"bcd":2}', 10), ['{"a":1,', '"bcd":2}']);
  assert.deepEqual(hanging('to be or not', 7), ['to be', '  or', '  not']);
});

test('no line is too wide, and no character is lost', () => {
  const text = hostileText.map((hostile) => printable(hostile, 500));
  fc.assert(
    fc.property(text, fc.integer({ min: 3, max: 80 }), (whole, most) => {
      const soft = softChunk(whole, most);
      for (const lines of [wrap(whole, most), chunk(whole, most), soft, hanging(whole, most + 2)])
        assert.ok(lines.every((line) => columns(line) <= most + (lines[0] === line ? 0 : 2)));
      assert.deepEqual([chunk(whole, most).join(''), soft.join('')], [whole, whole]);
      assert.equal(wrap(whole, most).join('').replaceAll(' ', ''), whole.replaceAll(' ', ''));
    }),
  );
});

test('numbers with their nouns and units', () => {
  assert.deepEqual([0, 999, 1234567].map(count), ['0', '999', '1,234,567']);
  assert.deepEqual([plural(0, 'request'), plural(1, 'request')], ['0 requests', '1 request']);
  assert.deepEqual(
    [0, 49, 3200, 59_949, 59_950, 125_400, 3_600_000].map(duration).join(', '),
    '0.0 s, 0.0 s, 3.2 s, 59.9 s, 1 min 0 s, 2 min 5 s, 60 min 0 s',
  );
});

test('the JSON is indented, can be parsed, and does not affect a terminal', () => {
  fc.assert(
    fc.property(anyRecord(hostileText), (record) => {
      const text = renderJson(record);
      assert.match(text, /^\{\n {2}"format": "ib-conformance\/run\/1",\n[^]*\n\}\n$/);
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(record)));
      assert.doesNotMatch(text, /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    }),
  );
});
