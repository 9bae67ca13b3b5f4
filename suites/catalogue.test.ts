import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { catalogue, suites } from './catalogue.ts';
import { suiteOf } from './requirement.ts';

const listed = catalogue.map(({ id, level, clause, title }) => ({ id, level, clause, title }));

/**
 * Ids, levels, clauses and titles are a public contract: add, but never reword and never reuse.
 * After adding one: `UPDATE_SNAPSHOT=1 node --import tsx --test suites/catalogue.test.ts`.
 */
test('the catalogue is the one that was published', () => {
  const snapshot = new URL('catalogue.snapshot.json', import.meta.url);
  matchesSnapshot(snapshot, `${JSON.stringify(listed, null, 2)}\n`);
});

test('ids are unique', () => {
  assert.equal(new Set(catalogue.map(({ id }) => id)).size, catalogue.length);
});

test('ids are of the form suite/endpoint/name, and stand in their suite', () => {
  for (const [name, requirements] of Object.entries(suites))
    for (const requirement of requirements) {
      assert.match(
        requirement.id,
        /^[a-z-]+\/(?:user-status|deposit-check|service)\/[a-z\d]+(?:-[a-z\d]+)*$/,
      );
      assert.equal(suiteOf(requirement), name);
    }
});

test('titles and clauses are one line each, and say something', () => {
  for (const { id, clause, title, reading } of catalogue)
    for (const text of [clause, title, ...(reading === undefined ? [] : [reading])])
      assert.match(text, /^\S.*\S$/, id);
});

const both = (prefix: string, ...names: readonly string[]) =>
  names.flatMap((name) => [`${prefix}/user-status/${name}`, `${prefix}/deposit-check/${name}`]);

/** What the catalogue must hold, by level. */
const expected = {
  required: [
    'valid/user-status/member',
    'valid/user-status/date-joined',
    'valid/user-status/date-joined-format',
    'valid/user-status/shape',
    'valid/user-status/uuid-case',
    'valid/user-status/repeatable',
    'valid/deposit-check/executed',
    'valid/deposit-check/amount',
    'valid/deposit-check/executed-at',
    'valid/deposit-check/shape',
    'valid/deposit-check/uuid-case',
    'valid/deposit-check/any-uuid-version',
    'valid/deposit-check/repeatable',
    'valid/service/no-user-data',
    ...both('invalid-uuid', 'missing', 'empty', 'malformed'),
    'invalid-uuid/user-status/not-v4',
    'foreign-ib/user-status/other-ib',
    'foreign-ib/user-status/unknown',
    'foreign-ib/user-status/shape',
    'foreign-ib/user-status/follows-key',
    'foreign-ib/deposit-check/other-ib',
    'foreign-ib/deposit-check/unknown',
    'foreign-ib/deposit-check/follows-key',
    'pending/deposit-check/pending',
    'pending/deposit-check/failed',
    'pending/deposit-check/becomes-executed',
    ...both('auth', 'missing', 'malformed', 'unknown-key', 'revoked', 'expired', 'non-partner'),
    ...both('auth', 'header-only', 'revocation'),
    ...both('rate-limit', 'message'),
    'rate-limit/user-status/failed-lookups',
    'rate-limit/deposit-check/requests',
    'robustness/service/concurrency',
  ],
  recommended: [
    'valid/user-status/date-joined-rfc3339',
    'valid/user-status/percent-encoding',
    'valid/deposit-check/closed',
    'valid/deposit-check/percent-encoding',
    'valid/service/json-content-type',
    ...both('invalid-uuid', 'alternative-spelling', 'hostile'),
    ...both('foreign-ib', 'indistinguishable'),
    'pending/deposit-check/indistinguishable',
    'rate-limit/user-status/spares-successes',
    ...both('rate-limit', 'recovers'),
    'robustness/service/no-5xx',
  ],
  observed: [
    ...both('foreign-ib', 'timing'),
    'pending/deposit-check/after-executed',
    ...both('auth', 'order', 'scheme-case'),
    'auth/service/www-authenticate',
    ...both('rate-limit', 'retry-after', 'threshold', 'window', 'scope'),
    'robustness/service/methods',
    'robustness/service/trailing-slash',
    'robustness/service/repeated-parameter',
    'robustness/service/unknown-parameter',
    'robustness/service/parameter-case',
    'robustness/service/head',
    'robustness/service/cors',
    'robustness/service/compression',
  ],
} as const satisfies Record<string, readonly string[]>;

describe('what the interface says is in the catalogue', () => {
  for (const [level, ids] of Object.entries(expected))
    for (const id of ids)
      test(`${id}: ${level}`, () => assert.equal(catalogue.find((one) => one.id === id)?.level, level));
});
