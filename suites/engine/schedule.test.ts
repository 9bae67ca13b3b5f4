import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { catalogue } from '../catalogue.ts';
import { suiteOf, type Requirement } from '../requirement.ts';
import { schedule, type Stage } from './schedule.ts';

const stages = schedule(catalogue);
const stagesOf = (requirement: Requirement) =>
  stages.flatMap(({ lanes }, at) => (lanes.flat().includes(requirement) ? [at] : []));
const kindOf = (requirement: Requirement) => {
  const { id, kind, level } = requirement;
  if (kind === 'watch') return 'watch';
  if (suiteOf(requirement) === 'rate-limit') return 'limiter';
  if (id.endsWith('/revocation')) return 'revocation';
  if (level === 'observed') return 'observed';
  if (kind === 'property' && requirement.fresh) return `repeating, ${level}`;
  return id.includes('/service/') ? 'service' : 'plain';
};

/** In which stages a requirement is, by its kind. */
const places: Readonly<Record<string, readonly number[]>> = {
  plain: [0, 2],
  'repeating, required': [0, 3, 5],
  'repeating, recommended': [5],
  service: [1],
  revocation: [4],
  observed: [6],
  limiter: [7],
  watch: [8],
};

for (const [kind, expected] of Object.entries(places))
  test(`${kind}: stages ${expected.join(', ')}`, () => {
    const those = catalogue.filter((requirement) => kindOf(requirement) === kind);
    assert.ok(those.length > 0);
    for (const requirement of those) assert.deepEqual(stagesOf(requirement), expected, requirement.id);
  });

test('every requirement has its place, and no lane holds one twice', () => {
  for (const requirement of catalogue) assert.ok(kindOf(requirement) in places, requirement.id);
  for (const { lanes } of stages) assert.equal(new Set(lanes.flat()).size, lanes.flat().length);
});

test('every property gets all of its inputs', () => {
  for (const requirement of catalogue.filter(({ kind }) => kind === 'property')) {
    const last = stages[stagesOf(requirement).at(-1)!]!;
    assert.equal(last.rounds.at(-1), Number.POSITIVE_INFINITY, requirement.id);
  }
});

describe('the order', () => {
  const isWhole = ({ rounds, givesWay }: Stage) => rounds.join() === '1' && !givesWay;
  test('an input of everything that is required comes before all depth', () => {
    const depthBegins = stages.findIndex(({ givesWay }) => givesWay);
    const plain = catalogue.filter(
      (requirement) => !['limiter', 'revocation', 'watch'].includes(kindOf(requirement)),
    );
    for (const requirement of plain.filter(({ level }) => level === 'required'))
      assert.ok(stagesOf(requirement)[0]! < depthBegins, requirement.id);
    for (const { lanes } of stages.slice(0, depthBegins))
      for (const lane of lanes) {
        const levels = lane.map(({ level }) => level);
        assert.ok(
          !levels.slice(levels.indexOf('recommended')).includes('required') ||
            !levels.includes('recommended'),
        );
      }
  });
  test('an input of everything that is required comes before depth, and only depth gives way', () => {
    for (const stage of stages) assert.equal(stage.givesWay, !isWhole(stage));
    for (const requirement of catalogue)
      if (requirement.level === 'required')
        assert.ok(isWhole(stages[stagesOf(requirement)[0]!]!), requirement.id);
  });
  test('depth goes on in ever longer strides', () => {
    for (const { rounds } of stages) {
      assert.ok(rounds.every((inputs, at) => at === 0 || inputs > rounds[at - 1]!));
      assert.ok(rounds[0]! <= 4);
    }
  });
  test('the endpoints are worked on side by side, neither in the lane of the other', () => {
    for (const { lanes } of stages.filter((stage) => stage.lanes.length > 1))
      for (const lane of lanes) assert.ok(new Set(lane.map(({ id }) => id.split('/')[1])).size <= 1);
  });
  test('a key is revoked while nothing else is under way', () => {
    const lanes = stages[places['revocation']![0]!]!.lanes;
    assert.equal(lanes.length, 1);
    const revocations = lanes[0]!.filter(({ id }) => id.endsWith('/revocation'));
    assert.deepEqual(lanes[0]!.slice(-revocations.length), revocations);
  });
  test('deposits that become EXECUTED are looked at early: pending right after valid', () => {
    const [, deposits] = stages[0]!.lanes;
    const names = [...new Set(deposits!.map(suiteOf))];
    assert.deepEqual(names.slice(0, 2), ['valid', 'pending']);
  });
});

test('where nothing is asked for, nothing is laid out', () => {
  assert.deepEqual(
    schedule([]).flatMap(({ lanes }) => lanes.flat()),
    [],
  );
});
