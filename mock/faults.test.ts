import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { reference } from './behaviour.ts';
import { faultEntries, faults } from './faults.ts';
import { probes } from './probes.ts';
import { answersTo } from './run-probes.ts';

/** The required and the recommended requirements of the catalogue. */
const catalogue = [
  ...['member', 'date-joined', 'date-joined-format', 'date-joined-rfc3339', 'shape', 'uuid-case'].map(
    (row) => `valid/user-status/${row}`,
  ),
  ...['percent-encoding', 'repeatable'].map((row) => `valid/user-status/${row}`),
  ...['executed', 'amount', 'executed-at', 'shape', 'closed', 'uuid-case', 'any-uuid-version'].map(
    (row) => `valid/deposit-check/${row}`,
  ),
  ...['percent-encoding', 'repeatable'].map((row) => `valid/deposit-check/${row}`),
  'valid/service/json-content-type',
  'valid/service/no-user-data',
  ...['missing', 'empty', 'malformed', 'not-v4', 'alternative-spelling', 'hostile'].map(
    (row) => `invalid-uuid/user-status/${row}`,
  ),
  ...['missing', 'empty', 'malformed', 'alternative-spelling', 'hostile'].map(
    (row) => `invalid-uuid/deposit-check/${row}`,
  ),
  ...['other-ib', 'unknown', 'shape', 'indistinguishable', 'follows-key'].map(
    (row) => `foreign-ib/user-status/${row}`,
  ),
  ...['other-ib', 'unknown', 'indistinguishable', 'follows-key'].map(
    (row) => `foreign-ib/deposit-check/${row}`,
  ),
  ...['pending', 'failed', 'indistinguishable', 'becomes-executed'].map(
    (row) => `pending/deposit-check/${row}`,
  ),
  ...['user-status', 'deposit-check'].flatMap((endpoint) =>
    [
      'missing',
      'malformed',
      'unknown-key',
      'revoked',
      'expired',
      'non-partner',
      'header-only',
      'revocation',
    ].map((row) => `auth/${endpoint}/${row}`),
  ),
  ...['message', 'failed-lookups', 'spares-successes', 'recovers'].map(
    (row) => `rate-limit/user-status/${row}`,
  ),
  ...['message', 'requests', 'recovers'].map((row) => `rate-limit/deposit-check/${row}`),
  'robustness/service/concurrency',
  'robustness/service/no-5xx',
];

const expected = new Map(Object.entries(probes).map(([id, requests]) => [id, answersTo(requests)]));

test('there are at least a hundred faults, each under an id of its own', () => {
  assert.ok(Object.keys(faults).length >= 100);
  assert.equal(Object.keys(faults).length, faultEntries.length);
});

test('ids are in kebab case and descriptions are one sentence', () => {
  for (const [id, { what }] of faultEntries) {
    assert.match(id, /^[a-z0-9]+(-[a-z0-9]+)*$/);
    assert.match(what, /^\S.*\.$/, id);
  }
});

test('every fault fails something, and every requirement is failed by some fault', () => {
  for (const [id, { fails }] of faultEntries) assert.notDeepEqual(fails, [], id);
  const failed = new Set(faultEntries.flatMap(([, { fails }]) => fails));
  assert.deepEqual([...failed].toSorted(), [...catalogue].toSorted());
});

test('there are probes for every requirement', () => {
  assert.deepEqual([...expected.keys()].toSorted(), [...catalogue].toSorted());
});

for (const [id, { what, fails, change }] of faultEntries)
  test(`${id}: ${what}`, () => {
    for (const requirement of fails) {
      // What a fault remembers begins anew with each change.
      const actual = answersTo(probes[requirement] ?? [], change(reference));
      assert.ok(!isDeepStrictEqual(actual, expected.get(requirement)), `does not show in ${requirement}`);
    }
  });

test('the reference is not changed by its changes', () => {
  for (const [id, requests] of Object.entries(probes))
    assert.deepEqual(answersTo(requests), expected.get(id));
});
