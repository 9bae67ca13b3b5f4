import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { alignTexts, diffTexts } from './text-difference.ts';
import { hostileText } from './testing/records.ts';
import { columns, printable } from './text.ts';

const long = 'x'.repeat(1_000_000);

/** Two texts, and what stands below them: a mark below the difference, and its name. */
const comparisons: readonly (readonly [
  what: string,
  expected: string,
  actual: string,
  ...marks: readonly string[],
])[] = [
  ['a different letter is marked', 'UNA', 'UNB', '  ^'],
  ['a letter with the same look is named', 'abc', 'ab\u0441', '  ^', 'U+0441 instead of U+0063'],
  [
    'a fraction of another length is named',
    '"T00:00:00.917773Z"',
    '"T00:00:00.917Z"',
    '              ^',
    '6 fraction digits expected, 3 given',
  ],
  ['additional text is marked', 'abc', 'abc!', '   ^'],
  ['texts with different beginnings are not marked', '200', '404'],
  ['equal texts are not marked', 'a', 'a'],
  ['an empty text is shown', 'a', ''],
  ['a surrogate pair is not split', 'a\u{1f980}', 'a\u{1f981}', ' ^', 'U+1F981 instead of U+1F980'],
];

const drawnLines = (expected: string, actual: string, width: number) =>
  alignTexts(expected, actual, width).map(({ label, text }) => `${label || 'mark'}: ${text}`);

for (const [what, expected, actual, ...marks] of comparisons)
  test(what, () => {
    const lines = [`expected: ${expected}`, `actual: ${actual}`, ...marks.map((one) => `mark: ${one}`)];
    assert.deepEqual(drawnLines(expected, actual, 40), lines);
  });

test('invisible characters are shown', () => {
  const [, actual] = drawnLines('abc', 'abc\n', 40);
  assert.equal(actual, 'actual: abc\\u{a}');
});

test('long texts have several pairs of lines, with the mark below the difference', () => {
  const pairs = ['expected: abcd', 'actual: abcd'];
  assert.deepEqual(drawnLines('abcdefgh', 'abcdefgx', 4), [
    ...pairs,
    'expected: efgh',
    'actual: efgx',
    'mark:    ^',
  ]);
  assert.deepEqual(drawnLines('abcde', 'abcdx', 4), [...pairs, 'expected: e', 'actual: x', 'mark: ^']);
});

test('aligned texts are broken after words', () => {
  assert.deepEqual(drawnLines('one two three four five', 'one two three four fiv', 16), [
    'expected: one two three ',
    'actual: one two three ',
    'expected: four five',
    'actual: four fiv',
    'mark:         ^',
  ]);
});

test('a difference is marked at any place of the texts, within the width', () => {
  /** Adds a filler after every wide character, so that an index is a column. */
  const wide = (text: string) =>
    Array.from(text, (character) => (columns(character) === 2 ? `${character}_` : character)).join('');
  fc.assert(
    fc.property(hostileText, fc.integer({ min: 1, max: 5_000 }), (hostile, times) => {
      const start = `s${hostile}${'x'.repeat(times)}`;
      const lines = alignTexts(`${start}a`, `${start}b`, 48);
      assert.ok(lines.every(({ text }) => columns(text) <= 48));
      const mark = lines.findIndex(({ label }) => label === '');
      const column = lines[mark]?.text.indexOf('^') ?? -1;
      const at = (line: number) => [...wide(lines[line]?.text ?? '')][column];
      assert.deepEqual([at(mark - 2), at(mark - 1)], ['a', 'b']);
    }),
  );
});

test('a long beginning is cut between characters', () => {
  const start = `s${'\u{1f980}'.repeat(200)}x`;
  const [line] = alignTexts(`${start}a`, `${start}b`, 100);
  assert.equal(line?.text, `…${'\u{1f980}'.repeat(39)}xa`);
});

const differences: readonly (readonly [expected: string, actual: string, drawn: string])[] = [
  ['same', 'same', 'same[|]'],
  ['2023-01-02T03', '2023-02-01T03', '2023-0[1-02|2-01]T03'],
  ['"e":"Unauthorized"', '"e":"UNAUTHORIZED"', '"e":"U[nauthorized|NAUTHORIZED]"'],
  ['TOO_MANY_REQUESTS', 'TOO_MANY_REQUESTS.', 'TOO_MANY_REQUESTS[|.]'],
  ['aab', 'ab', 'a[a|]b'],
  // Numbers are marked whole, but not in words and times.
  ['401 {}', '404 {}', '[401|404] {}'],
  ['"amountInUsd": 250.5', '"amountInUsd": 25050', '"amountInUsd": [250.5|25050]'],
  ['{"a":1250,"b":1}', '{"a":3250,"b":1}', '{"a":[1250|3250],"b":1}'],
  ['{"a":250.5,"b":1}', '{"a":"250.5","b":1}', '{"a":[250.5|"250.5"],"b":1}'],
  ['"2024-02-29T23:59:59.999Z"', '"2024-02-29T23:59:59Z"', '"2024-02-29T23:59:59[.999|]Z"'],
  ['key1a', 'key2a', 'key[1|2]a'],
  ['', 'x', '[|x]'],
  // Texts without anything in common have no marked difference.
  ['application/json', 'text/html; charset=utf-8', '[application/json|text/html; charset=utf-8]'],
  ['abcdefghi', 'axxxxxxxi', '[abcdefghi|axxxxxxxi]'],
  // Surrogate pairs are not split.
  ['ab🦀', 'ab🦁', 'ab[🦀|🦁]'],
  ['\ud83d\ude00cd', '\ud83e\ude00cd', '[\ud83d\ude00|\ud83e\ude00]cd'],
  // Long common parts are cut.
  [`${long}a${long}`, `${long}b${long}`, `…${'x'.repeat(40)}[a|b]${'x'.repeat(40)}…`],
];

for (const [expected, actual, drawn] of differences)
  test(`the difference of ${expected.slice(0, 20)} and ${actual.slice(0, 20)}`, () => {
    const found = diffTexts(expected, actual);
    assert.equal(`${found.before}[${found.expected}|${found.actual}]${found.after}`, drawn);
  });

test('the parts of a difference give the original texts', () => {
  const text = fc.oneof(hostileText, fc.string({ unit: fc.constantFrom('a', 'b', '🦀', '\ud83e') }));
  fc.assert(
    fc.property(text, text, text, text, (start, one, other, end) => {
      const [expected, actual] = [start + one + end, start + other + end];
      fc.pre(columns(printable(expected, 400)) <= 300);
      const { before, after, ...middle } = diffTexts(expected, actual);
      assert.deepEqual(
        [before + middle.expected + after, before + middle.actual + after],
        [expected, actual],
      );
    }),
  );
});
