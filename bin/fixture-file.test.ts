import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readFixture } from '../schemas/fixture.ts';
import { builtInFixture, loadFixture } from './fixture-file.ts';

test('the built-in fixture is good: it is loaded without a check', async () => {
  const checked = readFixture(readFileSync(builtInFixture, 'utf8'), 'the built-in fixture', {});
  assert.deepEqual(await loadFixture(undefined, {}), checked);
});
