import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reference } from './behaviour.ts';
import { faultEntries, faults } from './faults.ts';
import { answersTo, deposit, user } from './testing/session.ts';
import { variants } from './variants.ts';

test('each fault has an id of its own', () => {
  assert.equal(Object.keys(faults).length, faultEntries.length);
});

test('ids are in kebab case and descriptions are one sentence', () => {
  for (const [id, { what }] of [...faultEntries, ...Object.entries(variants)]) {
    assert.match(id, /^[a-z0-9]+(-[a-z0-9]+)*$/);
    assert.match(what, /^\S.*\.$/, id);
  }
});

test('what a fault remembers, it remembers per server', () => {
  const lookups = [
    user('11111111-1111-4111-8111-111111111111'),
    deposit('44444444-4444-4444-8444-444444444444'),
  ].flatMap((one) => [one, one, one]);
  for (const [id, { change }] of faultEntries) {
    const first = answersTo(lookups, change(reference));
    assert.deepEqual(answersTo(lookups, change(reference)), first, id);
  }
});
