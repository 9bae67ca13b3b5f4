import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindsOf } from './unverified.ts';

const some = [
  "user-status, situation: third partner's",
  'user-status, data: milliseconds',
  "deposit-check, situation: third partner's pending",
  "deposit-check, situation: third partner's failed",
];

test('the worst missing kind of data comes first, and each once', () => {
  assert.equal(
    kindsOf(some, true),
    'time with milliseconds, third partner or pending or failed deposit of a third partner',
  );
  assert.equal(kindsOf(['deposit-check, colour: red'], true), 'data for "colour: red"');
});

test('only a short report cuts a long list', () => {
  const many = [...some, ...['1', '2', '3', '5', '6'].map((id) => `deposit-check, id version: ${id}`)];
  assert.match(kindsOf(many, true), /third partner, .* or 4 more kinds of data$/);
  assert.doesNotMatch(kindsOf(many, false), /more kinds/);
});
