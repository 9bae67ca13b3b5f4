import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { xmlErrors } from './testing/xml-errors.ts';
import { element, xmlDocument } from './xml.ts';

test('elements are indented, text is left as it is', () => {
  assert.equal(
    xmlDocument(
      element('a', { b: 1, c: undefined }, [
        element('d', {}),
        element('e', { f: '<&>"\n' }, ['one\n two & ', element('g', {})]),
      ]),
    ),
    '<?xml version="1.0" encoding="UTF-8"?>\n<a b="1">\n  <d/>\n  <e f="&lt;&amp;&gt;&quot;&#10;">one\n two &amp; <g/></e>\n</a>\n',
  );
});

test('what XML cannot hold is shown', () => {
  assert.match(
    xmlDocument(element('a', { b: '\0\ud800' }, ['\u001b[2J\r\ufffe\udc00'])),
    /<a b="\\u\{0\}\\u\{d800\}">\\u\{1b\}\[2J\\u\{d\}\\u\{fffe\}\\u\{dc00\}<\/a>/,
  );
});

test('the judge of these tests finds what is malformed', async () => {
  for (const body of [
    '<a>',
    '<a></b>',
    '<a>\0</a>',
    '<a>&</a>',
    '<a b="<"/>',
    '<a/><a/>',
    '<a b="" b=""/>',
    '',
  ])
    assert.notDeepEqual(await xmlErrors([body]), [], body);
  assert.deepEqual(await xmlErrors(['<a b="&lt;"><c/>x</a>']), []);
});

const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.constantFrom(
        ']]>',
        '<!--',
        '&amp;',
        '&#0;',
        '"',
        "'",
        '\r\n',
        '\t',
        '<![CDATA[',
        '\u0085',
        '\u2028',
      ),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''));

test('a document is well-formed whatever is in it', async () => {
  const documents = fc
    .sample(fc.tuple(text, text, text), { seed: 7, numRuns: 1000 })
    .map(([a, b, c]) => xmlDocument(element('a', { a }, [element('b', { b }, [b, c]), element('c', {})])));
  assert.deepEqual(await xmlErrors(documents), []);
});
