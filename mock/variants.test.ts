import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { reference } from './behaviour.ts';
import { answersTo, openProbes } from './testing/probes.ts';
import { variants } from './variants.ts';

test('there are at least 25 variants with ids in kebab case and one sentence each', () => {
  assert.ok(Object.keys(variants).length >= 25);
  for (const [id, { what }] of Object.entries(variants)) {
    assert.match(id, /^[a-z0-9]+(-[a-z0-9]+)*$/);
    assert.match(what, /^\S.*\.$/, id);
  }
});

test('every variant differs from the reference', () => {
  const expected = answersTo(openProbes);
  for (const [id, { change }] of Object.entries(variants))
    assert.ok(!isDeepStrictEqual(answersTo(openProbes, change(reference)), expected), id);
});
