import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';

/** Skips a test for which the machine lacks something. Fails it unless `ALLOW_SKIPS=1`. */
export function skipWithout(t: TestContext, missing: string): void {
  assert.equal(process.env['ALLOW_SKIPS'], '1', `missing: ${missing}. ALLOW_SKIPS=1 skips the test.`);
  t.skip(`missing: ${missing}`);
}
