import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parseFragment } from 'parse5';
import { html, toText, text, type Markup } from './markup.ts';
import { attribute, parsed, textIn } from './testing/parsers.ts';
import { hostileText } from './testing/records.ts';
import { printable } from './text.ts';

test('texts are escaped, markup is not, and undefined is empty', () => {
  const inner = html`<b>${'<b>'}</b>`;
  assert.equal(
    toText(html`<p title="${`"'&`}">${inner}${[inner, 'x']}${1}${undefined}</p>`),
    '<p title="&quot;&#39;&amp;"><b>&lt;b&gt;</b><b>&lt;b&gt;</b>x1</p>',
  );
});

test('invisible characters are made visible, and long text is cut', () => {
  assert.equal(toText(html`${'a\u0000\u202e\n'}`), 'a\\u{0}\\u{202e}\\u{a}');
  assert.equal(toText(html`${'x'.repeat(601)}`), `${'x'.repeat(599)}…`);
  assert.equal(toText(text('<<<<', 3)), '&lt;&lt;…');
});

test('a record cannot contain markup: nothing parsed from JSON counts as markup', () => {
  const forged = JSON.parse('{"markup": "<b>", "Symbol(markup)": "<b>", "made": "<b>"}') as Markup;
  assert.throws(() => html`${forged}`, TypeError);
});

test('a browser shows any text like a terminal', () => {
  const texts = fc.oneof(hostileText, fc.string(), fc.constantFrom('"><b>', '</p>', '&lt;', '&#60;'));
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 900 }), (value, most) => {
      const markup = html`<code title="${value}">${text(value, most)}</code>`;
      const { elements, errors } = parsed(toText(markup), parseFragment);
      assert.deepEqual(errors, []);
      assert.equal(textIn(elements[0]!), printable(value, most));
      assert.equal(attribute(elements[0]!, 'title'), printable(value, 600));
      assert.equal(elements.length, 1);
    }),
  );
});
