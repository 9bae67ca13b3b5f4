import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { coveringArray, createCounter } from './covering.ts';
import type { Factor, Levels } from './factors.ts';

const factor = (name: string, names: readonly string[], isGate = false, open: readonly string[] = []) => {
  const levels = names.map((level) => [level, open.includes(level) ? { mayLetIn: true } : {}]);
  return { name, names, levels: Object.fromEntries(levels), isGate } as unknown as Factor;
};

/** Gates that mask everything else, and factors that are visible with plain gates. */
const table: readonly Factor[] = [
  factor('key', ['active', 'revoked', 'none'], true),
  factor('header', ['Bearer', 'bearer'], true, ['bearer']),
  factor('malformation', ['none', 'a character less'], true),
  factor('situation', ['own', 'other', 'unknown']),
  factor('id spelling', ['lower', 'upper']),
  factor('query', ['alone', 'before', 'after']),
  { ...factor('repetition', ['once', 'three times']), isCostly: true, includesPlain: true },
];

/** One that cannot be sent, and one missing in the data. */
const isFeasible = (levels: Partial<Levels>) =>
  !(levels.key === 'none' && levels.header === 'bearer') &&
  !(levels.situation === 'own' && levels['id spelling'] === 'upper');

const plain = (name: string) => table.find((one) => one.name === name)!.names[0]!;

type Combination = readonly (readonly [string, string])[];

/** Every combination of `strength` levels, without plain levels of gates. */
function combinations(strength: number): readonly Combination[] {
  const extend = (from: number, left: number): readonly Combination[] =>
    left === 0
      ? [[]]
      : table
          .slice(from)
          .flatMap(({ name, names, isGate }, at) =>
            (isGate ? names.slice(1) : names).flatMap((level) =>
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

const allPlain = Object.fromEntries(table.map(({ name }) => [name, plain(name)])) as unknown as Levels;
/** A row for each level, as a run sends them before the pairs. */
const singles = combinations(1).map(([[name, level] = ['', '']]) => {
  const row = { ...allPlain, [name]: level };
  return isFeasible(row) ? row : { ...row, situation: 'other' };
});
const array = coveringArray(table, isFeasible, singles);
const gatedPairs = ({ pairs }: typeof array) => [...pairs(1), ...pairs(2)];
const [open, gated, triples] = [[...array.pairs(0)], gatedPairs(array), [...array.triples()]];
const pairs = [...singles, ...open, ...gated];
const rows = [...pairs, ...triples.map(({ levels }) => levels)];
const upTo = { 1: singles, 2: pairs, 3: rows };

/** The combinations of so many levels that no row covers. */
const unseen = (list: readonly Levels[], strength: number) =>
  combinations(strength).filter((one) => !list.some((row) => shows(row, one)));

const gateCount = (levels: Levels) =>
  table.filter(({ name, isGate }) => isGate && levels[name] !== plain(name)).length;

describe('rows', () => {
  for (const [strength, name] of [
    [1, 'level'],
    [2, 'pair'],
    [3, 'triple'],
  ] as const)
    test(`up to strength ${strength} cover every feasible ${name} without a mask`, () =>
      assert.deepEqual(unseen(upTo[strength], strength), []));
  test('before them are not needed to cover each pair and triple', () => {
    const alone = coveringArray(table, isFeasible);
    const list = [...alone.pairs(0), ...gatedPairs(alone)];
    assert.deepEqual(unseen(list, 2), []);
    list.push(...[...alone.triples()].map(({ levels }) => levels));
    assert.deepEqual(unseen(list, 3), []);
  });
  test('before them spare others', () => {
    const [first] = open;
    const again = coveringArray(table, isFeasible, [...singles, ...open]);
    assert.ok(first !== undefined);
    assert.deepEqual([...again.pairs(0)], []);
  });
  test('of pairs have no gate, or at least one', () => {
    assert.ok(open.length > 0 && open.every((row) => gateCount(row) === 0));
    assert.ok(gated.length > 0 && gated.every((row) => gateCount(row) > 0));
  });
  test('with two gates begin where one of them alone may let a request in', () => {
    const mayLetIn = [...array.pairs(2)].map((row) =>
      table.some(({ name, isGate, levels }) => isGate && levels[row[name]]!.mayLetIn === true),
    );
    assert.deepEqual([...new Set(mayLetIn)], [true, false]);
    assert.ok(mayLetIn.lastIndexOf(true) < mayLetIn.indexOf(false));
  });
  test('of triples come in the order unmasked, masked by a key, other ones', () => {
    const depths = triples.map(({ depth }) => depth);
    assert.deepEqual(
      depths,
      depths.toSorted((a, b) => a - b),
    );
    assert.deepEqual([...new Set(depths)], [0, 1, 2]);
  });
  test('are all feasible, the same each time, and far fewer than all combinations', () => {
    assert.ok(rows.every(isFeasible));
    const again = coveringArray(table, isFeasible, singles);
    assert.deepEqual([...again.pairs(0), ...gatedPairs(again)], [...open, ...gated]);
    assert.deepEqual([...again.triples()], triples);
    assert.deepEqual([...array.pairs(0), ...gatedPairs(array)], [...open, ...gated]);
    assert.ok(pairs.length < 45, String(pairs.length));
    const random = array.random();
    for (let nth = 0; nth < 200; nth++) assert.ok(isFeasible(random.next().value as Levels));
  });
  test('come in another order with another seed, and cover the same', () => {
    const other = coveringArray(table, isFeasible, singles, 5);
    const list = [...other.pairs(0), ...gatedPairs(other)];
    assert.notDeepEqual(list[0], open[0]);
    assert.deepEqual(unseen([...singles, ...list], 2), []);
  });
});

describe('a row with one gate', () => {
  const gate = { ...allPlain, key: 'revoked' } as Levels;
  test('gets other levels that cover more pairs, until each is covered', () => {
    const growing = coveringArray(table, isFeasible, singles);
    const list: Levels[] = [];
    const ofGate = growing.pairsOf(gate)!;
    let before = ofGate.progress();
    assert.ok(before > 0 && before < 1, `${before}`);
    while (ofGate.progress() < 1) {
      const row = ofGate.enriched(gate);
      list.push(row);
      assert.ok(isFeasible(row) && row.key === 'revoked' && gateCount(row) === 1, JSON.stringify(row));
      assert.equal(row.repetition, 'once');
      assert.ok(ofGate.progress() > before);
      before = ofGate.progress();
    }
    const left = unseen([...singles, ...list], 2).filter(
      (one) =>
        one.some(([, level]) => level === 'revoked') &&
        one.every(([name]) => !['repetition', 'header', 'malformation'].includes(name)),
    );
    assert.deepEqual(left, []);
    const kept = [...gatedPairs(growing)].filter((row) => row.key === 'revoked' && gateCount(row) === 1);
    assert.ok(kept.every((row) => row.repetition !== 'once'));
  });
  test('and no other row, is changed', () => {
    const both = { ...gate, header: 'bearer' } as Levels;
    for (const row of [allPlain, both]) assert.equal(array.pairsOf(row), undefined);
  });
});

describe('a count', () => {
  test('of covered combinations matches brute force', () => {
    for (const taken of [0, 1, 5, 17, pairs.length, rows.length]) {
      const counter = createCounter(table);
      const list = rows.slice(0, taken);
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
    const others = { key: 'revoked', situation: 'other', 'id spelling': 'upper' };
    counter.take({ ...allPlain, ...others });
    // The key alone; the key with each of the four others.
    assert.deepEqual(counter.figures().slice(0, 2), [1, 4]);
  });
});
