import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remedies, remedyOf } from '../reports/verdict.ts';
import type { Exclusion, Reason } from '../suites/verdict.ts';

/** These do not compile if a reason has no fix, or a fix has no reason. */
const ofEveryReason: Readonly<Record<Reason | Exclusion, string>> = remedies;
const isReason = (known: keyof typeof remedies): known is Reason | Exclusion => known in ofEveryReason;

test('every reason has a fix, and an unknown reason has none', () => {
  for (const reason of Object.keys(remedies)) {
    assert.ok(isReason(reason as keyof typeof remedies));
    assert.notEqual(remedyOf(reason) ?? '', '', reason);
  }
  assert.equal(remedyOf('toString'), undefined);
});
