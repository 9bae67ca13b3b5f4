import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import { known as builtIn } from '../explain/testing/fake-target.ts';
import { table } from '../requirements/catalogue.ts';
import { knownFrom, type Known } from '../known.ts';
import { sampleFixture, sampleKnown } from '../testing/samples.ts';
import { combinationsOf, createCoverage, eachShown, type Combination, type Strength } from './coverage.ts';
import { createExamples } from './examples.ts';
import { entitiesSeen, findsEntities } from './drawing.ts';
import { factors, plainLevels, type Rank } from './factors.ts';
import type { Levels } from '../rules/requirement.ts';
import type { Lookup } from './lookup.ts';
import { freeFactors, isFeasible } from './lookup-levels.ts';
import { headerLevels } from './credential-levels.ts';
import { lookupsInOrder } from './rows.ts';

/** Rows until the first one of a rank, or so many. */
function rowsUntil(endpoint: Endpoint, known: Known, seed: number, end: Rank | number): readonly Lookup[] {
  const rows: Lookup[] = [];
  for (const row of lookupsInOrder(endpoint, known, seed)) {
    if (row.rank === end || rows.length === end) break;
    rows.push(row);
  }
  return rows;
}

/** Combinations of a strength that no row shows. */
function unseen(
  endpoint: Endpoint,
  known: Known,
  rows: readonly Lookup[],
  strength: Strength,
): readonly string[] {
  const all = combinationsOf(endpoint, known);
  const shown = new Set<Combination>();
  for (const { levels } of rows) eachShown(endpoint, all, levels, (one) => shown.add(one));
  return all.byStrength[strength]
    .filter((one) => !shown.has(one))
    .map(({ groups }) => groups.map(({ factor, names }) => `${factor.name}: ${names.join()}`).join('; '));
}

const fixtures: Readonly<Record<string, Known>> = {
  'the sample fixture': sampleKnown,
  'one user': knownFrom({ ...sampleFixture, users: sampleFixture.users!.slice(0, 1), deposits: [] }),
  'no user with plain data': knownFrom({
    apiKeys: sampleFixture.apiKeys!.slice(2, 3),
    users: [{ ...sampleFixture.users![0]!, date_joined: '2024-01-15T10:30:00Z' }],
  }),
};

for (const [name, known] of Object.entries(fixtures))
  describe(`with ${name}`, () => {
    for (const endpoint of endpointNames)
      test(`rows of ${endpoint} show every level, then every pair; each of them exists`, () => {
        const levels = rowsUntil(endpoint, known, 3, 'pair').filter(({ rank }) => rank !== 'example');
        assert.deepEqual(unseen(endpoint, known, levels, 1), []);
        const pairs = rowsUntil(endpoint, known, 3, 'triple');
        assert.deepEqual(unseen(endpoint, known, pairs, 2), []);
        for (const row of [...pairs, ...rowsUntil(endpoint, known, 3, 6000)])
          assert.ok(isFeasible(endpoint, row.levels, known), JSON.stringify(row));
      });
  });

test('each level of a free factor exists with any others', () => {
  for (const known of Object.values(fixtures))
    for (const endpoint of endpointNames) {
      const free = factors[endpoint].filter(({ name }) => freeFactors.has(name));
      const others = factors[endpoint].filter(({ name }) => !freeFactors.has(name));
      for (const { name, names } of others)
        for (const level of names)
          for (const one of free)
            for (const added of one.names)
              assert.equal(
                isFeasible(endpoint, { [name]: level, [one.name]: added }, known),
                isFeasible(endpoint, { [name]: level }, known),
                `${name}: ${level}, ${one.name}: ${added}`,
              );
    }
});

const known = sampleKnown;

test('a lookup for a required requirement is about it, whatever the fixture has', () => {
  // All deposits are our own. None has the plain version, and none a plain amount.
  const versioned = (id: string, version: string) => `${id.slice(0, 14)}${version}${id.slice(15)}`;
  const isOurs = (user_id: string) => sampleKnown.members.some((one) => one.user_id === user_id);
  const deposits = sampleFixture
    .deposits!.filter(({ user_id }) => isOurs(user_id))
    .map((one) => ({
      ...one,
      reference_id: versioned(one.reference_id, '7'),
      ...(one.state === 'EXECUTED' && { amountInUsd: 10 }),
    }));
  const rows = rowsUntil('deposit-check', knownFrom({ ...sampleFixture, deposits }), 3, 'level');
  const about = new Set(rows.flatMap(({ facts }) => table.coverOf(facts).rows.map(({ id }) => id)));
  for (const id of ['foreign-ib/deposit-check/other-ib', 'foreign-ib/deposit-check/follows-key'])
    assert.ok(about.has(id), id);
});

test('two examples follow each pair, while there are some', () => {
  for (const endpoint of endpointNames) {
    const ranks = rowsUntil(endpoint, known, 3, 'triple')
      .map(({ rank }) => rank)
      .filter((rank) => rank === 'pair' || rank === 'example');
    assert.deepEqual(ranks.slice(0, 6), ['pair', 'example', 'example', 'pair', 'example', 'example']);
  }
});

test('each example and entity is handed out once, and none is left', () => {
  for (const endpoint of endpointNames) {
    const rows = rowsUntil(endpoint, known, 3, 'triple');
    const tried = rows.flatMap(({ levels, place: { pick } }) =>
      pick === undefined ? [] : [[levels, pick] as const],
    );
    const malformed = tried.filter(([{ malformation }]) => malformation === 'a character less');
    const picks = malformed.map(([, pick]) => pick).toSorted((a, b) => a - b);
    assert.deepEqual(picks, [...picks.keys()]);
    const examples = createExamples(endpoint, known);
    let left = 0;
    while (examples.next() !== undefined) left++;
    assert.ok(left > 300 && tried.length >= left, `${tried.length} of ${left}`);
  }
});

test('the longest list of examples is not left for last', () => {
  const examples = createExamples('user-status', known);
  const levels: Partial<Levels>[] = [];
  for (let one = examples.next(); one !== undefined; one = examples.next()) levels.push(one.levels);
  const places = levels.flatMap((one, at) => (one.malformation === 'text before or after' ? [at] : []));
  const half = places[Math.floor(places.length / 2)]! / levels.length;
  assert.ok(half > 0.35 && half < 0.65, `${half}`);
});

test('100 lookups of each endpoint show two fifths of all pairs, 400 three quarters, and 1,800 of all triples', () => {
  for (const [most, strength, share] of [
    [100, 'pairs', 0.4],
    [400, 'pairs', 0.77],
    [1800, 'triples', 0.775],
  ] as const) {
    const coverage = createCoverage(builtIn);
    for (const endpoint of endpointNames)
      for (const { levels } of rowsUntil(endpoint, builtIn, 3, most)) coverage.take(endpoint, levels);
    const [shown, total] = coverage.figures().coverage[strength];
    assert.ok(shown > share * total, `${shown} of ${total} ${strength} after ${most}`);
  }
});

test('most rows have plain gates, and few take several requests or are sent alone', () => {
  for (const endpoint of endpointNames) {
    const rows = rowsUntil(endpoint, known, 3, 2000).map(({ levels }) => levels);
    const share = (is: (levels: Levels) => boolean) => rows.filter(is).length / rows.length;
    for (const { name, names, isGate } of factors[endpoint])
      if (isGate && name !== 'malformation')
        assert.ok(share((levels) => levels[name] === names[0]) > 0.5, name);
    assert.ok(share(({ repetition }) => repetition !== 'once') < 0.25);
    assert.ok(share(({ load }) => load !== 'with others') < 0.25);
  }
});

test('a form that ends the connection is only in rows that need it', () => {
  for (const endpoint of endpointNames)
    for (const { levels, rank } of rowsUntil(endpoint, known, 3, 2000))
      if (headerLevels[levels.header]!.endsConnection === true) assert.notEqual(rank, 'triple');
});

test('first the other partner finds its own data, and an own entity is asked for three times', () => {
  for (const endpoint of endpointNames) {
    const [first, second] = rowsUntil(endpoint, known, 3, 2);
    assert.equal(first!.levels.key, "another partner's");
    assert.match(first!.levels.situation, /^another partner's/);
    assert.deepEqual(second!.levels, { ...plainLevels(endpoint), repetition: 'three times' });
  }
});

test('each entity is asked for as it is written in the fixture, early and for each seed', () => {
  for (const endpoint of endpointNames)
    for (let seed = 1; seed <= 20; seed++) {
      const written = new Set<string>();
      let left = 500;
      for (const { levels, place } of lookupsInOrder(endpoint, known, seed)) {
        if (left-- === 0) break;
        const isWritten = levels['id spelling'] === 'lower case' && levels.query === 'alone';
        if (isWritten && place.pick !== undefined && findsEntities(endpoint, levels))
          written.add([levels.key, levels.data, levels['id version'], place.pick].join());
      }
      const all = (['active', "another partner's"] as const).flatMap((key) =>
        entitiesSeen(endpoint, known, key),
      );
      assert.equal(
        written.size,
        all.reduce((sum, [, count]) => sum + count, 0),
        `${endpoint}, seed ${seed}`,
      );
    }
});
