import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { aligned } from './difference.ts';
import { hostileText } from './testing/arbitraries.ts';
import { columns } from './text.ts';

const textsOf = (expected: string, actual: string, width = 40): readonly string[] =>
  aligned(expected, actual, width).map(({ of, text }) => `${of}: ${text}`);

const cases: readonly { what: string; lines: readonly string[]; expected: readonly string[] }[] = [
  {
    what: 'a letter that differs is marked',
    lines: textsOf('UNAUTHORIZED', 'UNAUTHORISED'),
    expected: ['expected: UNAUTHORIZED', 'actual: UNAUTHORISED', 'mark:          ^'],
  },
  {
    what: 'a letter that looks the same is named',
    lines: textsOf('abc', 'ab\u0441'),
    expected: ['expected: abc', 'actual: ab\u0441', 'mark:   ^', 'mark: U+0441 where U+0063 is expected'],
  },
  {
    what: 'what comes after the end is marked behind it',
    lines: textsOf('abc', 'abc\n'),
    expected: ['expected: abc', 'actual: abc\\u{a}', 'mark:    ^'],
  },
  {
    what: 'texts that share no beginning are not marked',
    lines: textsOf('200', '404'),
    expected: ['expected: 200', 'actual: 404'],
  },
  { what: 'equal texts are not marked', lines: textsOf('a', 'a'), expected: ['expected: a', 'actual: a'] },
  { what: 'an empty text is shown', lines: textsOf('a', ''), expected: ['expected: a', 'actual: '] },
  {
    what: 'long texts go on in pairs',
    lines: textsOf('abcdefgh', 'abcdefgx', 4),
    expected: ['expected: abcd', 'actual: abcd', 'expected: efgh', 'actual: efgx', 'mark:    ^'],
  },
  {
    what: 'a difference on the edge is marked on the line where it stands',
    lines: textsOf('abcde', 'abcdx', 4),
    expected: ['expected: abcd', 'actual: abcd', 'expected: e', 'actual: x', 'mark: ^'],
  },
  {
    what: 'a pair of surrogates is not torn',
    lines: textsOf('a\u{1f980}', 'a\u{1f981}'),
    expected: [
      'expected: a\u{1f980}',
      'actual: a\u{1f981}',
      'mark:  ^',
      'mark: U+1F981 where U+1F980 is expected',
    ],
  },
];

for (const { what, lines, expected } of cases) {
  test(what, () => assert.deepEqual(lines, expected));
}

test('a difference is marked however far into the texts, within the width', () => {
  fc.assert(
    fc.property(hostileText, fc.integer({ min: 1, max: 5_000 }), (hostile, times) => {
      const start = `s${hostile}${'x'.repeat(times)}`;
      const lines = aligned(`${start}a`, `${start}b`, 48);
      assert.ok(lines.every(({ text }) => columns(text) <= 48));
      const mark = lines.findIndex(({ of }) => of === 'mark');
      const column = lines[mark]?.text.indexOf('^') ?? -1;
      const at = (line: number): string | undefined => [...wide(lines[line]?.text ?? '')][column];
      assert.deepEqual([at(mark - 2), at(mark - 1)], ['a', 'b']);
    }),
  );
});

test('a long beginning is cut between characters', () => {
  const start = `s${'\u{1f980}'.repeat(200)}x`;
  const [line] = aligned(`${start}a`, `${start}b`, 100);
  assert.equal(line?.text, `…${'\u{1f980}'.repeat(15)}xa`);
});

/** The text with a filler behind every character of two columns, so that its index is its column. */
function wide(text: string): string {
  return Array.from(text, (character) => (columns(character) === 2 ? `${character}_` : character)).join('');
}
