import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainLevels } from '../plan/factors.ts';
import { userStatus } from '../request.ts';
import { known } from './testing/fake-target.ts';
import { valuesOf } from './values.ts';

test('the lookup that failed first counts if no other one failed', () => {
  const [first, ...others] = known.members.map(({ user_id }) => userStatus(user_id));
  const probes = others.slice(0, 3).map((request) => ({ request, hasFailed: false }));
  const levels = plainLevels('user-status');
  const base = { levels, probes, share: { failed: 0, of: 3 }, isRandom: false };
  const { words, ids } = valuesOf(base, { probes, isMixed: false }, known, first!);
  assert.equal(words, '1 of 4 ids');
  assert.deepEqual([ids?.failing.length, ids?.passing.length], [1, 3]);
});
