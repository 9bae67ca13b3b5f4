import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { html, source, visible } from './markup.ts';
import { hostileText } from '../testing/arbitraries.ts';
import { parsedPart, textIn } from '../testing/parsers.ts';
import { printable } from '../text.ts';

test('escapes are set off from letters that look like them', () => {
  assert.equal(source(visible('a\u0000b\\u{0}', 100)), 'a<i>\\u{0}</i>b\\u{0}');
});

test('a line break is seen, and obeyed', () => {
  assert.equal(source(visible('a\n\nb', 100)), ['a', '', 'b'].join('<i class="quiet">\\u{a}</i><br />'));
});

test('what does not fit is cut, also where the text goes on with an ellipsis', () => {
  assert.equal(source(visible('abc\u0000', 4)), 'abc…');
  assert.equal(source(visible('abcd…f', 5)), 'abcd…');
  assert.equal(source(visible('', 5)), '');
});

test('it reads as on a terminal', () => {
  fc.assert(
    fc.property(hostileText, fc.integer({ min: 1, max: 900 }), (value, most) => {
      const { elements, errors } = parsedPart(source(html`<code>${visible(value, most)}</code>`));
      assert.deepEqual(errors, []);
      assert.equal(textIn(elements[0]!), printable(value, most));
      assert.ok(elements.slice(1).every(({ tagName }) => tagName === 'i' || tagName === 'br'));
    }),
  );
});
