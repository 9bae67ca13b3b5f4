import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reference } from '../mock/behaviour.ts';
import { faults } from '../mock/faults.ts';
import { variants } from '../mock/variants.ts';
import { catalogue, suiteOf } from '../suites/index.ts';
import { canary, canaryFaults, ENOUGH_CASES, missedBy, verifyMock } from './canary.ts';
import { loadFixture } from './fixture-file.ts';
import { gaps, combinedGaps, selfTest, type FaultRun, type CombinedRun } from './self-test.ts';

const fixture = await loadFixture(undefined, {});

test('every fault fails exactly what it breaks, every requirement has its own fault, and every variant passes', async () => {
  assert.ok(Object.keys(faults).length >= 100);
  assert.ok(Object.keys(variants).length >= 25);
  const result = await selfTest(fixture, 1, false, 20);
  assert.deepEqual(result.gaps, []);
});

const row = (
  kind: FaultRun['kind'],
  failed: readonly string[],
  expected: readonly string[],
  unsettled: readonly string[] = [],
): FaultRun => ({
  kind,
  id: 'x',
  failed,
  expected,
  unsettled,
});

test('gaps of the matrix are reported', () => {
  assert.deepEqual(gaps([row('fault', ['a'], ['a'])], ['a']), []);
  assert.match(gaps([row('fault', [], ['a'])], [])[0]!, /a did not catch the fault x/);
  assert.match(gaps([row('fault', ['a', 'b'], ['a'])], [])[0]!, /b failed for the fault x/);
  assert.match(gaps([row('fault', ['a', 'b'], ['a', 'b'])], ['a'])[0]!, /no fault fails a and nothing else/);
  assert.match(gaps([row('variant', ['a'], [])], [])[0]!, /a failed for the variant x/);
  assert.match(gaps([row('variant', [], [], ['a'])], [])[0]!, /a could not judge the variant x/);
});

test('a missed pair is a gap, and a missed triple if there are many', () => {
  const run = (conditions: 1 | 2, isCaught: boolean): CombinedRun => ({
    id: 'x',
    conditions,
    isCaught,
    isExact: false,
  });
  const triples = Array.from({ length: 9 }, () => run(2, true));
  assert.deepEqual(combinedGaps([run(1, true), ...triples, run(2, false)]), []);
  assert.equal(combinedGaps([run(1, false)]).length, 1);
  assert.equal(combinedGaps([...triples.slice(1), run(2, false), run(2, false)]).length, 2);
});

test('the verdict is the same for twenty seeds: for the reference, and for a server with a fault', async () => {
  const ofIds = catalogue.filter((requirement) => suiteOf(requirement) === 'invalid-uuid');
  for (const [behaviour, cases, requirements, verdict] of [
    [reference, 100, catalogue, 'conformant'],
    [faults['nul-ends-text']!.change(reference), ENOUGH_CASES, ofIds, 'nonconformant'],
  ] as const)
    for (let seed = 0; seed < 20; seed++) {
      const options = { fixture, seed, cases, requirements, isBrief: true };
      assert.equal((await verifyMock(behaviour, options)).verdict, verdict, `seed ${seed}`);
    }
});

test('the self-check passes for any seed', async () => {
  for (const seed of [0, -1, 7, 35, 123_456, 2 ** 31 - 1])
    assert.equal((await canary(fixture, seed)).length, 2);
});

test('every fault of the self-check is caught', async () => {
  for (const id of canaryFaults) assert.deepEqual(await missedBy(faults[id]!, fixture, 1), [], id);
});
