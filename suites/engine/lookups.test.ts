import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue } from '../catalogue.ts';
import { Problem } from '../../schemas/problem.ts';
import type { Rule } from '../requirement.ts';
import { sampleKnown as known } from '../testing/samples.ts';
import { malformations } from '../inputs/malformations.ts';
import { knownFrom } from '../known.ts';
import { drawAt, originOf } from '../model/path.ts';
import { createLookups, type Lookup } from './lookups.ts';

const rules = catalogue.filter((one): one is Rule => one.kind === 'rule');
/** All lookups of an endpoint, in the order of a run. */
const lookupsOf = (endpoint: 'user-status' | 'deposit-check', cases = 400, of = rules, facts = known) =>
  [...createLookups({ known: facts, seed: 7, cases }, of).inTurn()].flatMap(
    (lists) => lists[endpoint === 'user-status' ? 0 : 1]!,
  );

test('the path and the seed of a lookup give the same request', () => {
  for (const endpoint of ['user-status', 'deposit-check'] as const) {
    const lookups = lookupsOf(endpoint);
    assert.equal(lookups.length, 400);
    for (const { request, origin } of lookups) {
      assert.deepEqual(drawAt(origin.path, known, 7), request, origin.path);
      assert.deepEqual(originOf(origin.path, known), origin);
    }
    assert.ok(lookups.some(({ request, origin }) => drawAt(origin.path, known, 8).target !== request.target));
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
])
  test(`no path: ${path}`, () =>
    assert.throws(
      () => drawAt(path, known, 1),
      (error) => error instanceof Problem && error.code === 'usage' && error.message.includes(path),
    ));

test('the same seed gives the same lookups, by strength or in turn', () => {
  const lookups = createLookups({ known, seed: 7, cases: 400 }, rules);
  const first = ([0, 1, 2] as const).flatMap((strength) => lookups.ofStrength(strength)[0]!);
  assert.deepEqual([...first, ...[...lookups.inTurn()].flatMap(([list]) => list!)], lookupsOf('user-status'));
});

test('each requirement has a lookup before any has two; strengths go up', () => {
  const lookups = lookupsOf('deposit-check', 2000).filter(({ depth }) => depth === 0);
  const order = [0, 1, 2, 5, 3];
  const strengths = lookups.map(({ strength }) => order.indexOf(strength));
  assert.deepEqual(
    strengths.filter((one, at) => at === 0 || one !== strengths[at - 1]),
    [0, 1, 2, 3, 4],
  );
});

test("the first lookup finds the other partner's data, whatever data it has, with its key", () => {
  const users = known.foreigners.map((user) => ({ ...user, date_joined: '2024-01-01T00:00:00Z' }));
  const third = { ...known.otherKeys[0]!, key: 'third', partner: 'third' };
  const otherKeys = [...known.otherKeys, third, { ...third, key: 'fourth' }];
  const facts = { ...known, otherKeys, userById: new Map(users.map((user) => [user.user_id, user])) };
  for (let seed = 0; seed < 10; seed++) {
    const [[first]] = createLookups({ known: facts, seed, cases: 1 }, rules).ofStrength(0) as [[Lookup]];
    assert.deepEqual(first.ids, ['foreign-ib/user-status/follows-key']);
  }
});

test('only lookups that a requirement covers are sent', () => {
  const one = rules.filter(({ id }) => id === 'auth/user-status/expired');
  const lookups = lookupsOf('user-status', 50, one);
  assert.ok(lookups.length === 50 && lookups.every(({ origin }) => origin.levels.key === 'expired'));
  assert.deepEqual(lookupsOf('deposit-check', 50, one), []);
  assert.deepEqual(lookupsOf('user-status', 50, one, { ...known, expiredKeys: [] }), []);
});

test('the search for lookups ends if no lookup covers a requirement', () => {
  const pending = rules.filter(({ id }) => id === 'pending/deposit-check/pending');
  const [deposit] = known.becoming;
  const first = { ...deposit!, becomes: { ...deposit!.becomes, afterPolls: 1 } };
  const facts = { ...known, pending: [], becoming: [first], depositById: new Map([['x', first]]) };
  assert.deepEqual(lookupsOf('deposit-check', 50, pending, facts), []);
});

test('each malformed example is tried, whatever data the fixture has', () => {
  const facts = knownFrom({
    partners: [{ id: 'a' }],
    apiKeys: [{ key: 'fake-a', partner: 'a', state: 'active' }],
    users: [
      { user_id: '5716f995-de2f-4eb5-bdd4-b3f890c69346', partner: 'a', date_joined: '2024-01-01T00:00:00Z' },
    ],
    deposits: [],
  });
  const expected = malformations['a character less']!.examples(
    'x',
    '0badc0de-0000-4000-8000-000000000000',
  ).length;
  for (const endpoint of ['user-status', 'deposit-check'] as const) {
    const tried = lookupsOf(endpoint, 1500, rules, facts).filter(
      ({ origin }) => origin.levels.malformation === 'a character less',
    );
    const picks = tried.flatMap(({ origin }) => /#\d+$/.exec(origin.path) ?? []);
    assert.equal(new Set(picks).size, expected, endpoint);
  }
});
