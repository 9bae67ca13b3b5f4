import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { hostileText } from './testing/arbitraries.ts';
import { chunk, columns, hanging, printable, wrap } from './text.ts';

const text = hostileText.map((hostile) => printable(hostile, 500));
const width = fc.integer({ min: 3, max: 80 });

test('words go on the next line, and are cut only where no line holds them', () => {
  assert.deepEqual(wrap('to be or not', 5), ['to be', 'or', 'not']);
  assert.deepEqual(wrap('a  bcdefgh i', 3), ['a', 'bcd', 'efg', 'h i']);
  assert.deepEqual(wrap('', 10), []);
  assert.deepEqual(hanging('to be or not', 7), ['to be', '  or', '  not']);
});

test('no line of either is too wide, and nothing is lost', () => {
  fc.assert(
    fc.property(text, width, (whole, most) => {
      for (const lines of [wrap(whole, most), chunk(whole, most), hanging(whole, most + 2)]) {
        assert.ok(lines.every((line) => columns(line) <= most + (lines[0] === line ? 0 : 2)));
      }
      assert.equal(chunk(whole, most).join(''), whole);
      assert.equal(wrap(whole, most).join('').replaceAll(' ', ''), whole.replaceAll(' ', ''));
    }),
  );
});
