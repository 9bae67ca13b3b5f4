import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import { sampleKnown as known } from '../testing/samples.ts';
import { combinationsOf, createCoverage, type Group } from './coverage.ts';
import { factors, plainLevels, type Factor } from './factors.ts';
import type { Levels } from '../rules/requirement.ts';
import { isFeasible } from './lookup-levels.ts';
import { lookupsInOrder } from './rows.ts';

/** What a pair names: levels of a group count as one. With other gates than key and header, groups are larger. */
function nameIn({ name, levels }: Factor, level: string, isWithGates: boolean): string | undefined {
  const { group = level, gateGroup = group } = levels[level]!;
  const found = isWithGates ? gateGroup : group;
  return found === 'never' ? undefined : `${name}: ${found}`;
}

/** The pairs of all feasible levels, by name. Independent of the code under test. */
function pairsOf(endpoint: Endpoint): ReadonlyMap<string, Partial<Levels>> {
  const found = new Map<string, Partial<Levels>>();
  const list = factors[endpoint];
  for (const [at, one] of list.entries())
    for (const other of list.slice(at + 1))
      for (const level of one.isGate ? one.names.slice(1) : one.names)
        for (const second of other.isGate ? other.names.slice(1) : other.names) {
          const isWithGates = one.isGate && other.isGate && (one.name !== 'key' || other.name !== 'header');
          const names = [nameIn(one, level, isWithGates), nameIn(other, second, isWithGates)];
          const levels = { [one.name]: level, [other.name]: second };
          if (!names.includes(undefined) && isFeasible(endpoint, levels, known))
            found.set(names.join(), levels);
        }
  return found;
}

/** Whether a row shows the pair of these levels: it has both, or others of their groups, and no other gate. */
function shows(endpoint: Endpoint, row: Levels, pair: Partial<Levels>): boolean {
  const chosen = factors[endpoint].filter(({ name }) => name in pair);
  const isWithGates =
    chosen.every(({ isGate }) => isGate) && chosen.some(({ name }) => name !== 'key' && name !== 'header');
  const isHidden = factors[endpoint].some(
    (one) => one.isGate && row[one.name] !== one.names[0] && !chosen.includes(one),
  );
  return (
    !isHidden &&
    chosen.every(
      (one) =>
        (one.name === 'repetition' && pair.repetition === 'once') ||
        nameIn(one, row[one.name], isWithGates) === nameIn(one, pair[one.name]!, isWithGates),
    )
  );
}

const firstRows = (endpoint: Endpoint, most: number): readonly Levels[] => {
  const rows: Levels[] = [];
  for (const { levels } of lookupsInOrder(endpoint, known, 7)) {
    if (rows.length === most) break;
    rows.push(levels);
  }
  return rows;
};

describe('the count', () => {
  for (const most of [0, 1, 7, 60, 200])
    test(`of pairs in ${most} rows matches brute force`, () => {
      const coverage = createCoverage(known);
      let expected = 0;
      let total = 0;
      for (const endpoint of endpointNames) {
        const rows = firstRows(endpoint, most);
        for (const levels of rows) coverage.take(endpoint, levels);
        const pairs = [...pairsOf(endpoint).values()];
        expected += pairs.filter((pair) => rows.some((row) => shows(endpoint, row, pair))).length;
        total += pairs.length;
      }
      assert.deepEqual(coverage.figures().coverage.pairs, [expected, total]);
    });
});

/** Numbers of levels, pairs and triples that one row shows. */
function shownBy(changes: Partial<Levels>): readonly number[] {
  const coverage = createCoverage(known);
  coverage.take('deposit-check', { ...plainLevels('deposit-check'), ...changes });
  const { pairs, triples } = coverage.figures().coverage;
  return [pairs[0], triples[0]];
}

const others = factors['deposit-check'].filter(({ isGate }) => !isGate).length;
const choose2 = (n: number) => (n * (n - 1)) / 2;
const choose3 = (n: number) => (choose2(n) * (n - 2)) / 3;

describe('a row shows', () => {
  test('every pair and triple of what no gate hides', () =>
    assert.deepEqual(shownBy({}), [choose2(others), choose3(others)]));
  test('with a gate, only combinations with this gate', () =>
    assert.deepEqual(shownBy({ key: 'revoked' }), [others, choose2(others)]));
  test('with two gates, only combinations with both', () =>
    assert.deepEqual(shownBy({ key: 'revoked', header: 'bearer' }), [1, others]));
  test('with three gates, a single triple, and with four nothing', () => {
    const three = { key: 'revoked', header: 'bearer', malformation: 'a character less' };
    assert.deepEqual(shownBy(three), [0, 1]);
    const coverage = createCoverage(known);
    coverage.take('user-status', { ...plainLevels('user-status'), ...three, 'id version': '7' });
    assert.deepEqual(coverage.figures().coverage.triples[0], 0);
  });
  test('repeated, also what the first request shows', () =>
    assert.deepEqual(shownBy({ key: 'revoked', repetition: 'three times' }), [
      others + 1,
      choose2(others) + others - 1,
    ]));
});

test('the strength is 1 only after every level, each of a group too', () => {
  const coverage = createCoverage(known);
  const left: (() => void)[] = [];
  for (const endpoint of endpointNames)
    for (const { groups } of combinationsOf(endpoint, known).byStrength[1]) {
      const [{ factor, names }] = groups as [Group];
      const levels = { ...plainLevels(endpoint), [factor.name]: names[0]! };
      left.push(() => coverage.take(endpoint, levels));
    }
  assert.equal(
    left.length,
    endpointNames.flatMap((endpoint) =>
      factors[endpoint].flatMap(({ name, names, isGate }) =>
        names.slice(isGate ? 1 : 0).filter((level) => isFeasible(endpoint, { [name]: level }, known)),
      ),
    ).length,
  );
  const last = left.findLastIndex(() => true);
  for (const [nth, take] of left.entries()) if (nth < last) take();
  assert.equal(coverage.figures().strength, 0);
  left[last]!();
  assert.equal(coverage.figures().strength, 1);
});
