import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { coveringArray, createCounter, type CoveringRow } from './covering.ts';
import type { Factor, Levels } from './factors.ts';

const factor = (name: string, levels: readonly string[], isGate = false, open: readonly string[] = []) =>
  ({ name, levels, isGate, open }) as unknown as Factor;

/** Two gates that mask everything else, and factors that are visible with plain gates. */
const table: readonly Factor[] = [
  factor('key', ['active', 'revoked', 'none'], true),
  factor('header', ['Bearer', 'bearer'], true, ['bearer']),
  factor('situation', ['own', 'other', 'unknown']),
  factor('id spelling', ['lower', 'upper']),
  factor('query', ['alone', 'before', 'after']),
  { ...factor('repetition', ['once', 'three times']), isCostly: true, includesPlain: true },
];

/** One that cannot be sent, and one missing in the data. */
const isFeasible = (levels: Partial<Levels>) =>
  !(levels.key === 'none' && levels.header === 'bearer') &&
  !(levels.situation === 'own' && levels['id spelling'] === 'upper');

const plain = (name: string) => table.find((one) => one.name === name)!.levels[0]!;

type Combination = readonly (readonly [string, string])[];

/** Every combination of `strength` levels, without plain levels of gates. */
function combinations(strength: number): readonly Combination[] {
  const extend = (from: number, left: number): readonly Combination[] =>
    left === 0
      ? [[]]
      : table
          .slice(from)
          .flatMap(({ name, levels, isGate }, at) =>
            (isGate ? levels.slice(1) : levels).flatMap((level) =>
              extend(from + at + 1, left - 1).map((rest) => [[name, level] as const, ...rest]),
            ),
          );
  return extend(0, strength).filter((one) => isFeasible(Object.fromEntries(one)));
}

/**
 * Whether a row covers a combination: it has its levels, and no other gate masks it. A repeated row also covers
 * `once`.
 */
const shows = (levels: Levels, combination: Combination) =>
  combination.every(([name, level]) => level === 'once' || levels[name as keyof Levels] === level) &&
  table.every(
    ({ name, isGate }) =>
      !isGate || levels[name] === plain(name) || combination.some(([other]) => other === name),
  );

const rows: CoveringRow[] = [];
const array = coveringArray(table, isFeasible);
for (const row of array.rows()) {
  rows.push(row);
  if (rows.filter(({ strength }) => strength === 4).length === 200) break;
}
const upTo = (strength: number) => rows.filter((row) => row.strength <= strength).map(({ levels }) => levels);

describe('rows', () => {
  for (const [strength, name] of [
    [1, 'level'],
    [2, 'pair'],
    [3, 'triple'],
  ] as const)
    test(`up to strength ${strength} cover every feasible ${name} without a mask`, () => {
      const unseen = combinations(strength).filter((one) => !upTo(strength).some((row) => shows(row, one)));
      assert.deepEqual(unseen, []);
    });
  test('come in the order levels, pairs, unmasked triples, other triples, random rows', () => {
    const order = rows.map(({ strength, depth }) => 10 * strength + depth);
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
    assert.deepEqual([...new Set(order)], [10, 20, 30, 31, 32, 43]);
  });
  test('are all feasible, the same each time, and far fewer than all combinations', () => {
    assert.ok(rows.every(({ levels }) => isFeasible(levels)));
    const again = coveringArray(table, isFeasible).rows();
    for (const row of rows) assert.deepEqual(again.next().value, row);
    assert.ok(upTo(2).length < 45, String(upTo(2).length));
  });
});

describe('a count', () => {
  test('of covered combinations matches brute force', () => {
    for (const taken of [0, 1, 5, 17, upTo(2).length, upTo(3).length]) {
      const counter = createCounter(table);
      const list = rows.slice(0, taken).map(({ levels }) => levels);
      for (const levels of list) counter.take(levels);
      const expected = [1, 2, 3].map(
        (strength) => combinations(strength).filter((one) => list.some((row) => shows(row, one))).length,
      );
      assert.deepEqual(counter.figures(), expected, `${taken} rows`);
    }
  });
  test('of feasible combinations matches brute force', () => {
    for (const strength of [1, 2, 3]) assert.equal(array.total(strength), combinations(strength).length);
  });
  test('excludes combinations that a gate masks', () => {
    const counter = createCounter(table);
    const levels = Object.fromEntries(table.map(({ name }) => [name, plain(name)]));
    const others = { key: 'revoked', situation: 'other', 'id spelling': 'upper' };
    counter.take({ ...levels, ...others } as unknown as Levels);
    const [singles, pairs] = counter.figures();
    // The key alone; the key with each of the four others.
    assert.deepEqual([singles, pairs], [1, 4]);
  });
});
