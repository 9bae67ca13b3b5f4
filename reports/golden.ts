import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';

/** Holds a text against the file that it was written down in; `UPDATE_SNAPSHOT=1` writes it down anew. */
export function matchesGolden(file: string, text: string): void {
  const url = new URL(file, import.meta.url);
  if (process.env['UPDATE_SNAPSHOT'] === '1') writeFileSync(url, text);
  assert.equal(text, readFileSync(url, 'utf8'));
}
