import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import { catalogue, table } from '../requirements/catalogue.ts';
import { Problem } from '../../schemas/problem.ts';
import { isLookupRow } from '../rules/requirement.ts';
import { known as builtIn } from '../explain/testing/fake-target.ts';
import { sampleKnown as known } from '../testing/samples.ts';
import { malformations } from '../inputs/malformations.ts';
import { knownFrom } from '../known.ts';
import { factors, hasPlainGates, plainLevels } from './factors.ts';
import { createCoverage } from './coverage.ts';
import { isFeasible } from './lookup-levels.ts';
import { lookupAt, lookupOfPath, pathOf, timesOf, type Lookup, type Place } from './lookup.ts';
import { createLookups } from './lookups.ts';

const ranks = ['requirement', 'level', 'pair', 'example', 'triple'] as const;
const rows = catalogue.filter(isLookupRow);
/** All lookups of an endpoint, in the order of a run. */
const lookupsOf = (
  endpoint: Endpoint,
  cases = 400,
  of = rows,
  facts = known,
  seed = 7,
): readonly Lookup[] => [...createLookups({ known: facts, seed, cases }, of).next(endpoint, ...ranks)];

test('the path and the seed of a lookup give the same request', () => {
  for (const endpoint of ['user-status', 'deposit-check'] as const) {
    const lookups = lookupsOf(endpoint);
    assert.equal(lookups.length, 400);
    for (const { rank, ...lookup } of lookups) {
      const { rank: _, ...again } = lookupOfPath(pathOf(lookup), known, 7);
      assert.deepEqual(again, lookup, rank);
    }
    const requestOf = (lookup: Lookup) => lookupOfPath(pathOf(lookup), known, 8).request;
    assert.ok(lookups.some((lookup) => requestOf(lookup).target !== lookup.request.target));
  }
});

test('a path says which header fields are left', () => {
  const level = { ...plainLevels('user-status'), fields: 'Cache-Control: no-cache' };
  const at = (place: Place) => lookupAt('user-status', level, place, { known, seed: 7 });
  const names = Object.keys(at({ draw: 1 }).request.headers);
  assert.deepEqual(names, ['cache-control', 'pragma']);
  for (const fields of [[], ['pragma']]) {
    const path = pathOf(at({ draw: 1, fields }));
    assert.match(path, new RegExp(String.raw`@1\+${fields.join()}$`));
    assert.deepEqual(Object.keys(lookupOfPath(path, known, 7).request.headers), fields);
  }
});

for (const path of [
  '',
  'user-status',
  'user-status;',
  'user-status;@x',
  'deposits;@1',
  'user-status;colour=red@1',
  'user-status;situation=nobody@1',
  "user-status;situation=third partner's@1",
  'user-status;situation@1',
  'user-status;@1#2',
  'user-status;@1:9:9:9',
  'user-status;@1+Accept',
])
  test(`no path: ${path}`, () =>
    assert.throws(
      () => lookupOfPath(path, known, 1),
      (error) => error instanceof Problem && error.code === 'usage' && error.message.includes(path),
    ));

test('the same seed gives the same lookups, at once or by rank', () => {
  const nameOf = (lookup: Lookup) => `${lookup.rank} ${pathOf(lookup)}`;
  for (const endpoint of endpointNames) {
    const lookups = createLookups({ known, seed: 7, cases: 400 }, rows);
    const byRank = [['requirement'], ['level'], ['pair', 'example'], ['triple']] as const;
    const names = byRank.flatMap((some) => [...lookups.next(endpoint, ...some)].map(nameOf));
    assert.deepEqual(names, lookupsOf(endpoint).map(nameOf));
  }
});

test('lookups come by rank: requirements, levels, pairs and examples in turn, triples', () => {
  const order = [['requirement'], ['level'], ['pair', 'example'], ['triple']];
  for (const endpoint of endpointNames) {
    const places = lookupsOf(endpoint, 2000).map(({ rank }) =>
      order.findIndex((some) => some.includes(rank)),
    );
    const sorted = places.toSorted((a, b) => a - b);
    assert.deepEqual(places, sorted);
    assert.deepEqual([...new Set(places)], [0, 1, 2, 3]);
  }
});

/** A fixture with one user and no deposits. */
const small = knownFrom({
  partners: [{ id: 'a' }],
  apiKeys: [{ key: 'fake-a', partner: 'a', state: 'active' }],
  users: [
    { user_id: '5716f995-de2f-4eb5-bdd4-b3f890c69346', partner: 'a', date_joined: '2024-01-01T00:00:00Z' },
  ],
  deposits: [],
});

const required = rows.filter(({ level }) => level === 'required');
const coveredBy = (lookups: readonly Lookup[]) =>
  new Set(
    lookups.flatMap((lookup) =>
      table.coverOf(lookup.facts).rows.filter((row) => row.kind !== 'repetition' || timesOf(lookup) > 1),
    ),
  );

test('the first lookups cover each required requirement, for every seed in the same order', () => {
  for (const endpoint of endpointNames) {
    const firsts = lookupsOf(endpoint).filter(({ rank }) => rank === 'requirement');
    const all = coveredBy(lookupsOf(endpoint, 2000));
    const covered = coveredBy(firsts);
    const late = required.filter((row) => all.has(row) && !covered.has(row)).map(({ id }) => id);
    assert.deepEqual(late, []);
    assert.ok(firsts.length <= required.filter((row) => all.has(row)).length + 2, `${firsts.length} lookups`);
    const others = lookupsOf(endpoint, 400, rows, known, 8).filter(({ rank }) => rank === 'requirement');
    const levelsOf = (some: readonly Lookup[]) => some.map(({ levels }) => levels);
    assert.deepEqual(levelsOf(others), levelsOf(firsts));
  }
});

test('one lookup has several levels that hide nothing, each of them first with own data', () => {
  for (const [endpoint, seed] of endpointNames.flatMap((name) =>
    [1, 2, 3, 4, 5].map((nth) => [name, nth] as const),
  )) {
    const early = createLookups({ known, seed, cases: 400 }, rows).next(endpoint, 'requirement', 'level');
    // A gate decides the answer for any data.
    const levels = [...early].filter((one) => hasPlainGates(endpoint, one.levels));
    const open = factors[endpoint].filter(
      ({ name, isGate }) => !isGate && name !== 'situation' && name !== 'query',
    );
    const plain = plainLevels(endpoint);
    const changed = (one: Lookup) => open.filter(({ name }) => one.levels[name] !== plain[name]);
    assert.ok(levels.some((one) => changed(one).length > 1));
    for (const { name, names } of open)
      for (const level of names.slice(1)) {
        const first = levels.find((one) => one.levels[name] === level);
        // The fixture lacks own data for some levels.
        const hasOwn = isFeasible(endpoint, { situation: plain.situation, [name]: level }, known);
        if (hasOwn && first !== undefined)
          assert.match(first.levels.situation, /^own/, `${endpoint}: ${name}: ${level}`);
      }
  }
});

test('ten short runs with other seeds cover a quarter more pairs than any of them', () => {
  const together = createCoverage(known);
  const alone = Array.from({ length: 10 }, (_, at) => {
    const one = createCoverage(known);
    for (const endpoint of endpointNames)
      for (const { levels } of lookupsOf(endpoint, 28, rows, known, at + 1))
        for (const coverage of [one, together]) coverage.take(endpoint, levels);
    return one.figures().coverage.pairs[0];
  });
  const all = together.figures().coverage.pairs[0];
  assert.ok(all > 1.25 * Math.max(...alone), `${all} of ${alone.join()}`);
});

test("the first lookup finds the other partner's data, whatever data it has, with its key", () => {
  const users = known.foreigners.map((user) => ({ ...user, date_joined: '2024-01-01T00:00:00Z' }));
  const third = { ...known.otherKeys[0]!, key: 'third', partner: 'third' };
  const otherKeys = [...known.otherKeys, third, { ...third, key: 'fourth' }];
  const facts = { ...known, otherKeys, userById: new Map(users.map((user) => [user.user_id, user])) };
  for (let seed = 0; seed < 10; seed++) {
    const [first] = lookupsOf('user-status', 1, rows, facts, seed);
    assert.ok(table.coverOf(first!.facts).rows.some(({ id }) => id === 'foreign-ib/user-status/follows-key'));
    assert.equal(first!.levels.key, "another partner's");
  }
});

test('only lookups that a requirement covers are sent', () => {
  const one = rows.filter(({ id }) => id === 'auth/user-status/expired');
  const lookups = lookupsOf('user-status', 50, one);
  assert.ok(lookups.length > 30 && lookups.length <= 50, String(lookups.length));
  assert.ok(lookups.every(({ levels }) => levels.key === 'expired'));
  assert.deepEqual(lookupsOf('deposit-check', 50, one), []);
  assert.deepEqual(lookupsOf('user-status', 50, one, { ...known, expiredKeys: [] }), []);
});

test('if each version but 4 is only unknown, every pair with a gate comes soon', () => {
  const isPlain = ({ reference_id }: { readonly reference_id: string }) => reference_id[14] === '4';
  const depositById = new Map([...builtIn.depositById].filter(([, deposit]) => isPlain(deposit)));
  const lookups = lookupsOf('deposit-check', 1500, rows, { ...builtIn, depositById });
  const gated = lookups.filter(({ rank, levels }) => rank === 'pair' && levels.key === 'revoked');
  assert.ok(gated.some((one) => timesOf(one) > 1));
  assert.ok(lookups.some(({ rank }) => rank === 'triple'));
});

test('the search for lookups ends if no lookup covers a requirement', () => {
  const pending = rows.filter(({ id }) => id === 'pending/deposit-check/pending');
  const [deposit] = known.becoming;
  const first = { ...deposit!, becomes: { ...deposit!.becomes, afterPolls: 1 } };
  const facts = { ...known, pending: [], becoming: [first], depositById: new Map([['x', first]]) };
  assert.deepEqual(lookupsOf('deposit-check', 50, pending, facts), []);
});

test('each malformed example is tried, whatever data the fixture has', () => {
  const id = '0badc0de-0000-4000-8000-000000000000';
  const expected = [...malformations['a character less']!.examples('x', id)].length;
  for (const endpoint of ['user-status', 'deposit-check'] as const) {
    const tried = lookupsOf(endpoint, 1500, rows, small).filter(
      ({ levels }) => levels.malformation === 'a character less',
    );
    const picks = tried.flatMap(({ place: { pick } }) => pick ?? []);
    assert.equal(new Set(picks).size, expected, endpoint);
  }
});

test('a level is tried with own data, also if these are not plain', () => {
  const users = ['a', 'b'].map((partner) => ({
    user_id: `${partner.repeat(8)}-0000-4000-8000-000000000000`,
    partner,
    date_joined: '2024-02-29T23:59:59Z',
  }));
  const [{ user_id }] = users as [(typeof users)[0]];
  const deposit = (reference_id: string) => ({ reference_id, user_id });
  const execution = { state: 'EXECUTED', amountInUsd: 0.005, executedAt: 1_705_314_600_000 } as const;
  const unusual = knownFrom({
    apiKeys: [{ key: 'key', partner: 'a', state: 'active' }],
    users,
    deposits: [
      { ...deposit('dddddddd-0000-4000-8000-000000000000'), ...execution },
      { ...deposit('eeeeeeee-0000-4000-8000-000000000000'), state: 'pending' },
    ],
  });
  for (const endpoint of endpointNames) {
    const encoded = lookupsOf(endpoint, 400, rows, unusual).filter(
      ({ rank, levels }) => rank === 'level' && levels['id spelling'] === 'percent-encoded',
    );
    const plain = plainLevels(endpoint);
    assert.ok(
      encoded.some(({ levels }) => levels.key === 'active' && levels.malformation === plain.malformation),
    );
    for (const { levels } of encoded.filter((one) => hasPlainGates(endpoint, one.levels)))
      assert.equal(levels.situation, plain.situation, endpoint);
  }
});
