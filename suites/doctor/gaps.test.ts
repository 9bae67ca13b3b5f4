import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue } from '../catalogue.ts';
import { knowledge, type Known } from '../known.ts';
import { sampleKnown } from '../sample-known.ts';
import { enough, gapsOf } from './gaps.ts';

/** Knowledge that lacks something, and what mends all of it. */
const poor: Readonly<Record<string, readonly [known: Known, parts: readonly string[]]>> = {
  'nothing is known': [knowledge({}), ['apiKeys', 'deposits', 'users']],
  'no failed deposit': [{ ...sampleKnown, failed: [] }, ['deposits']],
  'no revoked key': [{ ...sampleKnown, revokedKeys: [] }, ['apiKeys']],
  'no key of another partner': [{ ...sampleKnown, otherKeys: [] }, ['apiKeys']],
  'no user outside the IB': [{ ...sampleKnown, foreigners: [], foreignDeposits: [] }, ['deposits', 'users']],
};

for (const [what, [known, parts]] of Object.entries(poor))
  test(`what is to be added suffices, and all of it is needed: ${what}`, () => {
    const lacking = catalogue.filter(
      (requirement) => requirement.kind !== 'monitor' && requirement.lacks(known) !== undefined,
    );
    const named = new Set<string>();
    for (const requirement of lacking) {
      if (requirement.kind === 'monitor') continue;
      const supplies = enough(requirement, known);
      const lacksWithout = (nth: number) =>
        requirement.lacks(
          supplies.toSpliced(nth, nth < 0 ? 0 : 1).reduce((all, { give }) => give(all), known),
        );
      assert.equal(lacksWithout(-1), undefined, requirement.id);
      for (const nth of supplies.keys())
        assert.ok(lacksWithout(nth), `${requirement.id}: ${supplies[nth]!.example}`);
      for (const { part } of supplies) named.add(part);
    }
    assert.deepEqual([...named].toSorted(), parts);
  });

test('a requirement that lacks one thing is told to get that one', () => {
  const gaps = gapsOf(catalogue, { ...sampleKnown, failed: [] }, true);
  assert.deepEqual(gaps, [
    {
      reason: 'no-fixture',
      words: 'the fixture has no failed deposit of a user under the IB',
      mend: 'To deposits add one such as { "reference_id": "…", "user_id": "…", "state": "failed" }, of a user of the IB',
      requirements: ['pending/deposit-check/failed'],
    },
  ]);
});

test('with a whole fixture and a state hook there is no gap', () => {
  assert.deepEqual(gapsOf(catalogue, sampleKnown, true), []);
});
