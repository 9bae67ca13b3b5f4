import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reference } from '../../../mock/server/handler.ts';
import type { Exchange } from '../../../mock/server/exchange.ts';
import { faults } from '../../../mock/deviations/faults.ts';
import { crash, on } from '../../../mock/deviations/deviate.ts';
import { variants } from '../../../mock/deviations/variants.ts';
import { catalogue, isLookupRow } from '../../../suites/index.ts';
import { defaults } from '../../commands/flags.ts';
import { onePartOf, part } from '../testing/part.ts';
import { ENOUGH_CASES, verifyMock } from '../testing/verify-mock.ts';
import { loadFixture } from '../../input-files.ts';
import { sampleFailure } from '../../../reports/testing/records.ts';
import {
  gaps,
  combinedGaps,
  combinedRuns,
  entries,
  faultRun,
  judgedIds,
  missedKills,
  namesAll,
  namesOnly,
  type FaultRun,
  type CombinedRun,
} from './matrix.ts';
import { readKillMatrix, removals, strayEntries, updated } from './kill-matrix.ts';

const fixture = await loadFixture(undefined, {});
const matrix = readKillMatrix();

/** The faults and variants of which one part runs here. `npm run self-test` runs all of them. */
const PARTS = 32;

test(`each fault of a part fails its owner, and each variant passes (PART=${part})`, async () => {
  assert.ok(Object.keys(faults).length >= 100);
  assert.ok(Object.keys(variants).length >= 25);
  const kills: FaultRun[] = [];
  for (const one of onePartOf(entries, PARTS))
    kills.push(await faultRun(fixture, part, one, one.kind === 'variant' ? [] : matrix[one.id]));
  assert.ok(kills.length > 10);
  assert.deepEqual(gaps(kills, []), []);
});

test('generated faults are caught, with no conditions that they have not', async () => {
  const runs = await combinedRuns(fixture, 3, 1);
  assert.equal(runs.length, 4);
  // Which of those with two conditions are caught is luck. The self-test has more of them.
  const single = runs.filter(({ conditions }) => conditions === 1);
  assert.deepEqual(combinedGaps(single), []);
  assert.ok(runs.every(({ isTrue }) => isTrue));
});

test('a run of few requests tries other keys and crowds too', async () => {
  const outcomes = async (change: (from: typeof reference) => typeof reference) => {
    const options = { fixture, seed: 1, cases: 1500, maxRequests: 420, isBrief: true };
    const { requirements } = await verifyMock(change(reference), options);
    const some = ['auth/user-status/no-way-around', 'robustness/service/concurrency'];
    return some.map((id) => requirements.find((one) => one.id === id)?.outcome);
  };
  assert.deepEqual(await outcomes((from) => from), ['passed', 'passed']);
  assert.equal((await outcomes(faults['forwarded-host-unscoped']!.change))[0], 'failed');
});

for (const hasStateHook of [false, true])
  test(`as many requests as a record calls enough are enough, ${hasStateHook ? 'with' : 'without'} a state hook`, async () => {
    const options = { fixture, seed: 3, cases: 1500, isBrief: true, hasStateHook };
    const { needs = [] } = await verifyMock(reference, {
      ...options,
      isBrief: false,
      maxRequests: 100,
    });
    assert.deepEqual(
      needs.map(({ reaches }) => reaches),
      ['strength 1', 'strength 2', 'everything'],
    );
    for (const { reaches, requests } of needs) {
      const { strength, requirements } = await verifyMock(reference, { ...options, maxRequests: requests });
      assert.equal(strength, reaches === 'strength 1' ? 1 : 2, `${requests}`);
      const isOpen = requirements.some((one) => 'reason' in one && one.reason === 'budget');
      assert.equal(isOpen, reaches !== 'everything', `${requests}`);
    }
  });

const row = (
  kind: FaultRun['kind'],
  failed: readonly string[],
  expected: FaultRun['expected'],
  unsettled: readonly string[] = [],
): FaultRun => ({
  kind,
  id: 'x',
  seed: 2,
  failed,
  expected,
  unsettled,
});

test('gaps of the matrix are reported', () => {
  assert.deepEqual(gaps([row('fault', ['a'], ['a'])], ['a']), []);
  // What a fault fails besides its owner depends on the seed.
  const missing = [row('fault', ['b'], ['b', 'a'])];
  assert.deepEqual(gaps(missing, ['b']), []);
  assert.match(missedKills(missing)[0]!, /a did not catch the fault x with --seed 2/);
  assert.deepEqual(gaps([row('fault', ['b', 'c'], ['b'])], []), []);
  assert.match(gaps([row('fault', ['b'], ['a', 'b'])], [])[0]!, /a did not catch the fault x with --seed 2/);
  assert.match(gaps([row('fault', [], ['a'])], [])[0]!, /nothing caught the fault x with --seed 2/);
  assert.match(gaps([row('fault', ['a'], [])], [])[0]!, /no requirement catches the fault x with each seed/);
  assert.match(gaps([row('fault', ['a'], undefined)], [])[0]!, /the kill matrix lacks the fault x/);
  assert.match(gaps([row('fault', ['a', 'b'], ['a', 'b'])], ['a'])[0]!, /no fault fails a and nothing else/);
  assert.match(gaps([row('variant', ['a'], [])], [])[0]!, /a failed for the variant x with --seed 2/);
  assert.match(
    gaps([{ ...row('fault', ['a'], ['a']), excused: ['outage'] }], [])[0]!,
    /the fault x was excused with --seed 2: outage/,
  );
  assert.match(
    gaps([row('variant', [], [], ['a'])], [])[0]!,
    /a could not judge the variant x with --seed 2/,
  );
});

test('an update keeps what was not run, and tells what it removes', () => {
  const before = { x: ['a', 'b'], y: ['c'], gone: ['d'] };
  const after = updated(before, [row('fault', ['e', 'a'], undefined)], ['x', 'y', 'new']);
  assert.deepEqual(after, { x: ['a', 'e'], y: ['c'] });
  assert.deepEqual(removals(before, after), ['b for the fault x', 'the fault gone']);
  assert.deepEqual(removals(before, before), []);
  assert.match(strayEntries(before, ['x', 'y'])[0]!, /the kill matrix has gone, which is no fault/);
});

test('a fault has what fails with each seed, first the owner that it had, or what the fewest faults fail', () => {
  const runs = [row('fault', ['a', 'b', 'c'], undefined), row('fault', ['d', 'c', 'b'], undefined)];
  const others = { y: ['b'], z: ['b'] };
  const ids = ['x', 'y', 'z'];
  assert.deepEqual(updated(others, runs, ids), { x: ['c', 'b'], ...others });
  assert.deepEqual(updated({ x: ['b'], ...others }, runs, ids), { x: ['b', 'c'], ...others });
  assert.deepEqual(updated({ x: ['a'], ...others }, runs, ids), { x: ['c', 'b'], ...others });
});

test('the kill matrix has every fault, and names only requirements', () => {
  assert.deepEqual(Object.keys(matrix), Object.keys(faults));
  assert.ok(Object.values(matrix).every(({ length }) => length > 0));
  assert.deepEqual(
    Object.values(matrix)
      .flat()
      .filter((id) => !judgedIds.includes(id)),
    [],
  );
});

test('a missed pair is a gap, and a missed triple if there are many', () => {
  const run = (conditions: 1 | 2, isCaught: boolean, extra: 'none' | 'histories' = 'none'): CombinedRun => ({
    id: 'x',
    conditions,
    extra,
    isCaught,
    isTrue: true,
    isComplete: true,
  });
  const triples = Array.from({ length: 4 }, () => run(2, true));
  assert.deepEqual(combinedGaps([run(1, true), ...triples, run(2, false)]), []);
  assert.equal(combinedGaps([run(1, false)]).length, 1);
  assert.equal(combinedGaps([...triples, run(2, false), run(2, false)]).length, 2);
  // Whatever a condition is.
  assert.equal(combinedGaps([...triples, run(2, false), run(2, false, 'histories')]).length, 2);
});

test('the conditions in a result are compared with those of a fault', () => {
  const named = ['id spelling: upper case', 'repetition: three times', 'value: ends with c to f'];
  for (const [where, isAll, isOnly] of [
    [['id spelling: upper case', 'repetition: three times'], true, true],
    [['situation: unknown', 'id spelling: upper case', 'repetition: three times', '1 of 4 ids'], true, true],
    [['repetition: three times'], false, true],
    [['id spelling: upper case or mixed case'], false, false],
    [['key: active'], false, false],
  ] as const) {
    const result = { ...sampleFailure, where: [...where] };
    assert.deepEqual([namesAll(named, result), namesOnly(named, result)], [isAll, isOnly], where.join('; '));
  }
  const some = { ...sampleFailure, where: ['1 of 4 ids'] };
  assert.equal(namesOnly(['id spelling: upper case'], some), false);
});

test('a wrong condition is a gap if there are more than a few, and so is a missing one if there are many', () => {
  const run = (isTrue: boolean, isComplete = true): CombinedRun => ({
    id: 'x',
    conditions: 2,
    extra: 'histories',
    isCaught: true,
    isTrue,
    isComplete,
  });
  const many = Array.from({ length: 99 }, () => run(true));
  assert.deepEqual(combinedGaps([...many, run(false)]), []);
  assert.equal(combinedGaps([...many, ...Array.from({ length: 3 }, () => run(false))]).length, 3);
  // Without its conditions, a fault is hard to find.
  assert.deepEqual(combinedGaps([...many.slice(1), run(true, false)]), []);
  assert.match(combinedGaps([run(true), run(true, false)])[0] ?? '', /only 1 of 2 generated faults/);
});

test(`the verdict is the same for each seed: for the reference, and for a server with a fault (PART=${part})`, async () => {
  const ofIds = catalogue.filter(({ id }) => id.startsWith('invalid-uuid/'));
  for (const [behaviour, cases, requirements, verdict] of [
    [reference, 100, catalogue, 'conformant'],
    [faults['nul-ends-text']!.change(reference), ENOUGH_CASES, ofIds, 'nonconformant'],
  ] as const)
    for (const seed of [part, part + 1, part + 2]) {
      const options = { fixture, seed, cases, requirements, isBrief: true };
      assert.equal((await verifyMock(behaviour, options)).verdict, verdict, `seed ${seed}`);
    }
});

test(`a run finds a lookup with a wrong answer once among 100, and says that it is (PART=${part})`, async () => {
  // A scenario cannot ask again for what it has changed.
  const requirements = catalogue.filter((one) => isLookupRow(one) && one.level === 'required');
  for (const kind of ['member', 'executed']) {
    let asked = 0;
    const isHit = ({ finding }: Exchange) => finding.kind === kind && ++asked === 100;
    const options = { fixture, seed: part, cases: defaults.cases, requirements };
    const record = await verifyMock(on(isHit, crash)(reference), options);
    const failed = record.requirements.flatMap((one) => (one.outcome === 'failed' ? [one] : []));
    assert.ok(
      failed.some(({ intermittent }) => intermittent?.failed === 1),
      `${kind}, of ${asked}`,
    );
    assert.ok(failed.every(({ where }) => where === undefined));
  }
});
