import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue, isLookupRow } from '../../suites/index.ts';
import { requirementsTable } from './requirements.ts';

const lines = requirementsTable().split('\n');

test('the table names every row about lookups, but for repetitions', () => {
  const named = lines.flatMap((line) =>
    [...line.matchAll(/`([\w-]+\/[\w-]+\/[\w-]+)`/g)].map(([, id]) => id!),
  );
  const rows = catalogue.filter((row) => isLookupRow(row) && row.kind !== 'repetition');
  assert.deepEqual([...new Set(named)].toSorted(), rows.map(({ id }) => id).toSorted());
});

test('a row has the plain answer first, then those that are right too', () => {
  const rowOf = (...cells: readonly string[]) =>
    lines.find((line) => line.startsWith(`| ${cells.join(' | ')} |`)) ?? assert.fail(cells.join());
  assert.match(rowOf('accepted', 'own user', 'user_id'), /\| member \| `valid\/user-status\/member` /);
  assert.match(
    rowOf('accepted', 'foreign', 'alternative-spelling'),
    /\| invalid \(recommended\), or not a member \|/,
  );
  assert.match(rowOf('accepted', '', 'missing'), /\| invalid \| `invalid-uuid\/user-status\/missing` \|/);
});
