import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue } from './catalogue.ts';
import { clauses, matchesPattern } from './clauses.ts';

test('every requirement stands for a clause', () => {
  const patterns = clauses.flatMap(({ checkedBy }) => checkedBy);
  const homeless = catalogue.filter(({ id }) => !patterns.some((pattern) => matchesPattern(id, pattern)));
  assert.deepEqual(
    homeless.map(({ id }) => id),
    [],
  );
});

test('every clause is checked by requirements that there are, or says why not', () => {
  for (const { section, binds, checkedBy, unchecked } of clauses) {
    assert.ok(checkedBy.length > 0 || unchecked !== undefined, `${section}: ${binds}`);
    for (const pattern of checkedBy)
      assert.ok(
        catalogue.some(({ id }) => matchesPattern(id, pattern)),
        pattern,
      );
  }
});
