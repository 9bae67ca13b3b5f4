import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixes, fixOf } from '../reports/unverified.ts';
import type { Exclusion, Reason } from '../suites/rules/verdict.ts';

/** These do not compile if a reason has no fix, or a fix has no reason. */
const ofEveryReason: Readonly<Record<Reason | Exclusion, string>> = fixes;
const isReason = (known: keyof typeof fixes): known is Reason | Exclusion => known in ofEveryReason;

test('every reason has a fix, and an unknown reason has none', () => {
  for (const reason of Object.keys(fixes)) {
    assert.ok(isReason(reason as keyof typeof fixes));
    assert.notEqual(fixOf(reason) ?? '', '', reason);
  }
  assert.equal(fixOf('toString'), undefined);
});
