import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { endpointNames } from '../../schemas/endpoints.ts';
import { matchesSnapshot } from '../../schemas/testing/snapshot.ts';
import { catalogue, checkEndpoints, checkNames, suites, table } from './catalogue.ts';
import type { Facts } from '../rules/facts.ts';
import { tableOf } from '../rules/table.ts';
import { everyKind } from '../rules/kinds.ts';
import { isLookupRow, rankOf, type Scenario } from '../rules/requirement.ts';
import { checkLevels } from '../plan/needs.ts';
import { answerOf, sampleKnown } from '../testing/samples.ts';

const listed = catalogue.map((row) => {
  const { id, level, clause, title } = row;
  return { id, level, rank: rankOf(row), clause, title };
});

/**
 * Ids, levels, ranks, clauses and titles are a public contract: add, never reword or reuse.
 * After adding one: `UPDATE_SNAPSHOT=1 node --import tsx --test suites/requirements/catalogue.test.ts`.
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
      assert.ok(id.startsWith(`${name}/`), id);
    }
});

/** Ids of earlier requirements. Reports and baselines of users may have them, so they are never used again. */
const retired = new Set([
  'invalid-uuid/deposit-check/nil-and-max',
  'invalid-uuid/deposit-check/variant',
  'foreign-ib/user-status/timing',
  'foreign-ib/deposit-check/timing',
  'pending/deposit-check/after-executed',
  'auth/user-status/two-fields',
  'auth/deposit-check/two-fields',
  ...['user-status', 'deposit-check'].flatMap((endpoint) =>
    ['counts-at-once', 'window', 'scope', 'order'].map((row) => `rate-limit/${endpoint}/${row}`),
  ),
  'robustness/service/parameter-case',
  'robustness/service/compression',
  'robustness/service/accept',
]);

test('no retired id is used again', () => {
  const again = catalogue.filter(({ id }) => retired.has(id));
  assert.deepEqual(again, []);
});

describe('an unknown name is an error at once', () => {
  const [first] = catalogue as [(typeof catalogue)[0]];
  for (const [name, row, error] of [
    ['of a row that proves another', { ...first, provedBy: ['valid/user-status/membr'] }, /membr/],
    ['of a refined row', { ...first, refines: ['valid/user-status/x'] }, /unknown requirement.*x/],
  ] as const)
    test(name, () => assert.throws(() => checkNames([row as typeof first]), error));
  test('and so is an id that is used twice', () => assert.throws(() => checkNames([first, first]), /two/));
  test('and one of a level that a scenario needs', () => {
    const needs: Scenario['needs'] = [['user-status', { situation: 'none' }]];
    const row = { ...catalogue.find(({ kind }) => kind === 'scenario')!, needs } as Scenario;
    assert.throws(() => checkLevels([row]), /situation: none/);
  });
});

const kinds = endpointNames.flatMap(everyKind);
const rows = catalogue.filter(isLookupRow);

test('every kind of lookup has an answer, and required rows of the plain reading agree on it', () => {
  for (const facts of kinds) {
    const { right } = table.coverOf(facts);
    const plain = right.filter(({ isPlain }) => isPlain);
    assert.ok(plain.length > 0, facts.kind);
    const answers = new Set(
      plain.filter(({ row }) => row.level === 'required').map(({ answer }) => answer.name),
    );
    assert.ok(answers.size <= 1, `${facts.kind}: ${[...answers].join(', ')}`);
  }
});

test('every row is about some kind of lookup', () => {
  const reached = new Set(kinds.flatMap((facts) => table.coverOf(facts).rows));
  const others = rows.filter((row) => !reached.has(row)).map(({ id }) => id);
  assert.deepEqual(others, []);
});

test('a leak has at most one owner, and of two special cases one refines the other', () => {
  for (const facts of kinds) {
    const { right, refinements } = table.coverOf(facts);
    assert.ok(right.filter(({ row }) => row.owns === 'leak').length <= 1, facts.kind);
    const ids = refinements.map(({ row }) => row.id);
    const last = refinements.filter(
      ({ row }) => !refinements.some((one) => one.row.refines?.includes(row.id)),
    );
    assert.ok(last.length <= 1, `${facts.kind}: ${ids.join(', ')}`);
  }
});

const answers = [
  ...[200, 302, 400, 401, 403, 404, 409, 422, 500].flatMap((status) =>
    ['Invalid user_id format', 'UNAUTHORIZED', 'Deposit not found', 'no'].map((error) =>
      answerOf(status, { error }),
    ),
  ),
  answerOf(200, { is_under_ib: true, date_joined: '2024-02-29T23:59:59.999Z' }),
  answerOf(200, { is_under_ib: false, date_joined: null }),
  answerOf(200, { status: 'EXECUTED', amountInUsd: 250.5, executedAt: 1705314600000 }),
  answerOf(200, '[]'),
];

/** The same lookup of a known entity, for rows that compare values. */
const withEntity = (facts: Facts): Facts => ({
  ...facts,
  user: facts.entity === 'own user' ? sampleKnown.members[0] : undefined,
  deposit: facts.entity === 'EXECUTED' ? sampleKnown.executed[0] : undefined,
});

test('the order of the rows does not matter', () => {
  const orders = fc.array(fc.nat(), { minLength: rows.length, maxLength: rows.length });
  fc.assert(
    fc.property(orders, (weights) => {
      const shuffled = tableOf(
        rows.toSorted((a, b) => weights[rows.indexOf(a)]! - weights[rows.indexOf(b)]!),
      );
      for (const facts of kinds)
        for (const answer of answers) {
          const failedIn = (of: typeof table) =>
            of
              .judge(withEntity(facts), answer, sampleKnown)
              .flatMap(({ row, verdict }) => (verdict.kind === 'failed' ? [row.id] : []))
              .toSorted();
          assert.deepEqual(failedIn(shuffled), failedIn(table), `${facts.kind}: ${answer.text}`);
        }
    }),
    { numRuns: 10, endOnFailure: true },
  );
});

test('a table that leaves a lookup open, or judges it by the row of another endpoint, is refused', () => {
  const without = (id: string) => rows.filter((row) => row.id !== id);
  assert.throws(() => tableOf(without('auth/user-status/unknown-key')), /no row answers: user-status/);
  assert.throws(() => tableOf(without('valid/user-status/repeatable')), /no row repeats: user-status/);
  const renamed = rows.map((row) =>
    row.id === 'valid/user-status/member' ? { ...row, id: 'valid/deposit-check/member' } : row,
  );
  assert.throws(
    () => checkEndpoints(tableOf(renamed)),
    /valid\/deposit-check\/member is about another endpoint: user-status/,
  );
});
