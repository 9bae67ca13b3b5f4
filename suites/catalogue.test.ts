import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { catalogue, suites } from './catalogue.ts';
import { clauses, matchesPattern } from './clauses.ts';
import { suiteOf } from './requirement.ts';

const listed = catalogue.map(({ id, level, clause, title }) => ({ id, level, clause, title }));

/**
 * Ids, levels, clauses and titles are a public contract: add, never reword or reuse.
 * After adding one: `UPDATE_SNAPSHOT=1 node --import tsx --test suites/catalogue.test.ts`.
 */
test('the catalogue matches the published snapshot', () => {
  const snapshot = new URL('catalogue.snapshot.json', import.meta.url);
  matchesSnapshot(snapshot, `${JSON.stringify(listed, null, 2)}\n`);
});

test('ids are unique, have the form suite/endpoint/name and belong to their suite', () => {
  assert.equal(new Set(catalogue.map(({ id }) => id)).size, catalogue.length);
  for (const [name, requirements] of Object.entries(suites))
    for (const requirement of requirements) {
      const { id } = requirement;
      assert.match(id, /^[a-z-]+\/(?:user-status|deposit-check|service)\/[a-z\d]+(?:-[a-z\d]+)*$/);
      assert.equal(suiteOf(requirement), name);
    }
});

test('every requirement covers a clause', () => {
  const patterns = clauses.flatMap(({ checkedBy }) => checkedBy);
  for (const { id } of catalogue)
    assert.ok(
      patterns.some((pattern) => matchesPattern(id, pattern)),
      id,
    );
});

test('every clause names existing requirements or says why it is not checked', () => {
  for (const { section, obligation, checkedBy, unchecked } of clauses) {
    assert.ok(checkedBy.length > 0 || unchecked !== undefined, `${section}: ${obligation}`);
    for (const pattern of checkedBy)
      assert.ok(
        catalogue.some(({ id }) => matchesPattern(id, pattern)),
        pattern,
      );
  }
});
