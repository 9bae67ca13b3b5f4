import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';

/** Skips a test that this machine cannot run; without `ALLOW_SKIPS=1` it fails. */
export function skipWithout(t: TestContext, missing: string): void {
  assert.equal(process.env['ALLOW_SKIPS'], '1', `missing: ${missing}. ALLOW_SKIPS=1 skips the test.`);
  t.skip(`missing: ${missing}`);
}
