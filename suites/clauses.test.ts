import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue } from './catalogue.ts';
import { clauses, matchesPattern } from './clauses.ts';

test('every requirement covers a clause', () => {
  const patterns = clauses.flatMap(({ checkedBy }) => checkedBy);
  const homeless = catalogue.filter(({ id }) => !patterns.some((pattern) => matchesPattern(id, pattern)));
  assert.deepEqual(
    homeless.map(({ id }) => id),
    [],
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
