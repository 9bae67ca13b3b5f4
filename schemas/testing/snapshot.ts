import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';

/** Compares a text with a recorded file. `UPDATE_SNAPSHOT=1` records it again. */
export function matchesSnapshot(file: URL, text: string): void {
  if (process.env['UPDATE_SNAPSHOT'] === '1') {
    // In CI, recording would hide a failure.
    if (process.env['CI']) throw new Error('UPDATE_SNAPSHOT is not allowed in CI');
    writeFileSync(file, text);
  }
  assert.equal(text, readFileSync(file, 'utf8'));
}
