import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { difference, type Stretch } from '../difference.ts';
import { hostileText } from '../testing/arbitraries.ts';

/** What differs in brackets, what was cut as an ellipsis. */
const drawn = (stretches: readonly Stretch[]) =>
  stretches.map(({ is, text }) => (is === 'cut' ? '…' : is === 'other' ? `[${text}]` : text)).join('');

const examples: readonly (readonly [expected: string, actual: string, ...drawn: [string, string]])[] = [
  ['same', 'same', 'same', 'same'],
  ['2023-01-02T03', '2023-02-01T03', '2023-0[1]-0[2]T03', '2023-0[2]-0[1]T03'],
  ['"Unauthorized"', '"Un\u0430uthorized"', '"Un[a]uthorized"', '"Un[\u0430]uthorized"'],
  [
    '"error":"Unauthorized"',
    '"error":"UNAUTHORIZED"',
    '"error":"U[nauthorized]"',
    '"error":"U[NAUTHORIZED]"',
  ],
  ['TOO_MANY_REQUESTS', 'TOO_MANY_REQUESTS.', 'TOO_MANY_REQUESTS[]', 'TOO_MANY_REQUESTS[.]'],
  ['aab', 'ab', 'a[a]b', 'a[]b'],
  ['401', '404', '40[1]', '40[4]'],
  // They have nothing in common: nothing to point at.
  ['application/json', 'text/html; charset=utf-8', 'application/json', 'text/html; charset=utf-8'],
  ['', 'x', '[]', '[x]'],
  // Halves of pairs are not torn apart.
  ['ab🦀', 'ab🦁', 'ab[🦀]', 'ab[🦁]'],
  ['\ud83d\ude00cd', '\ud83e\ude00cd', '[\ud83d\ude00]cd', '[\ud83e\ude00]cd'],
];

for (const [expected, actual, left, right] of examples)
  test(`${JSON.stringify(expected)} and ${JSON.stringify(actual)}`, () => {
    const found = difference(expected, actual);
    assert.deepEqual([drawn(found.expected), drawn(found.actual)], [left, right]);
  });

test('nothing is added and nothing is lost, and what is said to be the same is', () => {
  const text = fc.oneof(hostileText, fc.string({ unit: fc.constantFrom('a', 'b', '🦀', '\ud83e') }));
  fc.assert(
    fc.property(text, text, text, text, (before, one, other, after) => {
      const [expected, actual] = [before + one + after, before + other + after];
      fc.pre(Math.max(expected.length, actual.length) <= 300);
      const found = difference(expected, actual);
      const joined = (stretches: readonly Stretch[]) => stretches.map((stretch) => stretch.text).join('');
      assert.deepEqual([joined(found.expected), joined(found.actual)], [expected, actual]);
      const others = [...found.expected, ...found.actual].filter(({ is }) => is === 'other');
      if (expected === actual) assert.deepEqual(others, []);
      if (others.length === 0) return;
      assert.notEqual(expected, actual);
      const same = (stretches: readonly Stretch[]) => joined(stretches.filter(({ is }) => is === 'same'));
      assert.equal(same(found.expected), same(found.actual));
    }),
  );
});

test('what is the same is cut where it is long', () => {
  const long = 'x'.repeat(10_000_000);
  const found = difference(`${long}a${long}`, `${long}b${long}`);
  const near = 'x'.repeat(60);
  assert.equal(drawn(found.expected), `…${near}[a]${near}…`);
  assert.equal(drawn(found.actual), `…${near}[b]${near}…`);
});
