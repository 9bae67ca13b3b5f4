/** What a failure shows is one lookup, and the smallest: seen on a fault of each row about lookups. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faults } from '../mock/deviations/faults.ts';
import { reference } from '../mock/server/handler.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import { catalogue, isLookupRow, knownFrom } from '../suites/index.ts';
import { factors } from '../suites/plan/factors.ts';
import { lookupOfPath, pathOf } from '../suites/plan/lookup.ts';
import { builtIn as fixture } from './dev/testing/fixtures.ts';
import { readKillMatrix } from './dev/self-test/kill-matrix.ts';
import { partOf } from './dev/testing/part.ts';
import { verifyMock } from './dev/testing/verify-mock.ts';

const known = knownFrom(fixture);
const judged = catalogue.filter(({ level }) => level !== 'observed');
const rows = judged.filter(isLookupRow);
const ids = new Set(rows.map(({ id }) => id));
const kills = Object.entries(readKillMatrix()).toSorted(([, one], [, other]) => one.length - other.length);

/** A fault of each row: the one that fails the fewest others. */
const cases = rows.map(({ id }) => ({ id, fault: kills.find(([, failed]) => failed.includes(id))![0] }));

const isPath = (path: string, seed: number): boolean => {
  try {
    return lookupOfPath(path, known, seed) !== undefined;
  } catch {
    return false;
  }
};

/** The paths of lookups with one level fewer that is not plain, or with one header field fewer. */
function plainer(path: string, seed: number): readonly string[] {
  const { endpoint, levels, place, request } = lookupOfPath(path, known, seed);
  const names = Object.keys(request.headers);
  // With another partner's key, an entity of ours is another question.
  const asked = factors[endpoint].filter(({ name }) => levels.key === 'active' || name !== 'situation');
  const others = asked
    .filter(({ name, names: [plain] }) => levels[name] !== plain)
    .map(({ name, names: [plain] }) => pathOf({ endpoint, levels: { ...levels, [name]: plain! }, place }));
  return [
    ...others.filter((one) => isPath(one, seed)),
    ...(names.length < 2 ? [] : names).map((name) =>
      pathOf({ endpoint, levels, place: { ...place, fields: names.filter((one) => one !== name) } }),
    ),
  ];
}

type Result = RunRecord['requirements'][number];

/** What a failure shows: the request, what came, and what is wrong with it. */
const shownBy = (one: Result) => {
  if (one.outcome !== 'failed') return one.outcome;
  const { curl, key, response: { status, body } = {} } = one.counterexample!;
  return { curl, key, status, body, actual: one.actual };
};

for (const { id, fault } of partOf(cases, 4))
  test(`${id}: ${fault}`, async () => {
    const behaviour = faults[fault]!.change(reference);
    const options = { fixture, seed: 1, cases: 800, skip: ['rate-limit'] };
    const { requirements } = await verifyMock(behaviour, { ...options, requirements: judged });
    const failed = requirements.flatMap((one) => (one.outcome === 'failed' && ids.has(one.id) ? [one] : []));
    assert.ok(failed.some((one) => one.id === id));
    for (const one of failed) {
      // Another row fails if the third request has another form than the first: no single lookup shows that.
      if (id.endsWith('/repeatable') && one.id !== id) continue;
      const { path, seed } = one.replay!;
      const only = { ...options, requirements: rows.filter((row) => row.id === one.id) };
      const resultAt = async (of: string) =>
        (await verifyMock(behaviour, { ...only, path: of })).requirements[0]!;
      assert.deepEqual(shownBy(await resultAt(path)), shownBy(one), path);
      for (const other of plainer(path, seed))
        assert.notEqual((await resultAt(other)).outcome, 'failed', `${path}, and also ${other}`);
    }
  });
