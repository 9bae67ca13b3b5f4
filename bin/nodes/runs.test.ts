import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs, sameEverywhere } from './runs.ts';

const everything = runs.everything();
const runtime = runs.runtime();

test('everything is every test of npm test', () => {
  for (const file of ['bin/nodes/runs.test.ts', 'mock/server.test.ts', 'schemas/split-json.test.ts'])
    assert.ok(everything.includes(file), file);
});

test('what the runtime decides is all but what is named, and each name is of a file', () => {
  const left = everything.filter((file) => !runtime.includes(file));
  for (const name of Object.keys(sameEverywhere))
    assert.ok(
      left.some((file) => file.startsWith(name)),
      name,
    );
  for (const file of left)
    assert.ok(
      Object.keys(sameEverywhere).some((name) => file.startsWith(name)),
      file,
    );
  assert.ok(runtime.length > left.length);
});
