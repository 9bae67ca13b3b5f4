import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainLevels } from '../plan/factors.ts';
import { userStatus } from '../request.ts';
import { known } from './testing/fake-target.ts';
import { commonTo, valuesOf } from './values.ts';

test('the lookup that failed first counts if no other one failed', () => {
  const [first, ...others] = known.members.map(({ user_id }) => userStatus(user_id));
  const probes = others.slice(0, 3).map((request) => ({ request, hasFailed: false }));
  const levels = plainLevels('user-status');
  const base = { levels, probes, share: { failed: 0, of: 3 }, isRandom: false };
  const { words, ids } = valuesOf(base, { probes, isMixed: false }, known, first!);
  assert.equal(words, '1 of 4 ids');
  assert.deepEqual([ids?.failing.length, ids?.passing.length], [1, 3]);
});

test('what values have in common that fail, and none that passes', () => {
  for (const [failing, passing, words] of [
    [['{a}', '{b}', '{c}'], ['a', '(b)', 'c'], 'has "{"'],
    [['{a}', '{b}', 'c'], ['a', '(b)', 'c'], undefined],
    [['aB', 'Bc', 'bC'], ['ab', 'bc', '1'], 'has a capital letter'],
    [['1a', '1b', '1c'], ['2a', '2b', 'c1'], 'starts with "1"'],
    [['a1', 'b1', 'c1'], ['a2', '1b', '1c'], 'ends with "1"'],
    [['abc', 'bbcd', 'cbcde'], ['a', 'bb', 'cc'], 'has 3 or more characters'],
    [['a', 'bb', 'cc'], ['abc', 'bbcd', 'cbcde'], 'has at most 2 characters'],
    // Two values may be alike by chance.
    [['1a', '1b'], ['2a', '2b', 'c1'], undefined],
    [['1a', '1b', '1c'], ['2a', '2b'], undefined],
  ] as const)
    assert.equal(commonTo(failing, passing), words, failing.join(' '));
});
