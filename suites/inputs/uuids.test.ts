import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { knownFrom, type Known } from '../catalogue/known.ts';
import { sampleKnown } from '../testing/samples.ts';
import { classifyUuid } from '../model/uuid.ts';
import {
  findableId,
  hasMixableLetters,
  neighbours,
  unknownIds,
  percentEncoded,
  unknownId,
  unknownUuid,
  withLetterCase,
} from './uuids.ts';

/** A fixture that contains every id for which the condition is true. */
const crowded = (isKnown: (id: string) => boolean): Known => ({
  ...sampleKnown,
  userById: Object.assign(new Map<string, never>(), { has: (id: string) => isKnown(id) && id < '8' }),
  depositById: Object.assign(new Map<string, never>(), { has: (id: string) => isKnown(id) && id >= '8' }),
});

test('an unknown UUID is of version 4 and never in the fixture, also after shrinking', () => {
  const known = crowded((id) => !id.endsWith('7'));
  fc.assert(fc.property(unknownUuid(known), (id) => classifyUuid(id) === 'v4' && id.endsWith('7')));
  const { counterexample } = fc.check(
    fc.property(unknownUuid(known), (id) => id === ''),
    { seed: 1 },
  );
  assert.ok(counterexample?.[0].endsWith('7'));
});

test('unknown ids are distinct, of version 4, the same each time and never in the fixture', () => {
  const all = unknownIds(sampleKnown, 20);
  assert.equal(new Set(all).size, 20);
  assert.deepEqual(new Set(all.map(classifyUuid)), new Set(['v4']));
  assert.deepEqual(unknownIds(sampleKnown, 20), all);
  const taken = new Map(all.filter((_, nth) => nth % 2 === 0).map((id) => [id, sampleKnown.pending[0]!]));
  const others = unknownIds({ ...sampleKnown, depositById: taken }, 10);
  assert.ok(others.every((id) => !taken.has(id)));
  const [first] = all;
  assert.notEqual(
    unknownId({ ...sampleKnown, userById: new Map([[first!, sampleKnown.members[0]!]]) }),
    first,
  );
});

test('a findable id is one that the endpoint finds, else an unknown one', () => {
  assert.equal(findableId('user-status', sampleKnown), sampleKnown.members[0]?.user_id);
  assert.equal(findableId('deposit-check', sampleKnown), sampleKnown.executed[0]?.reference_id);
  const nothing = knownFrom({});
  assert.equal(findableId('user-status', nothing), unknownId(nothing));
  assert.equal(findableId('deposit-check', nothing), unknownId(nothing));
});

test('neighbours are well formed, close to an id that is found, and not found themselves', () => {
  const id = findableId('deposit-check', sampleKnown);
  const [last, user, first] = neighbours('deposit-check', sampleKnown, id[14]!) as [string, string, string];
  assert.deepEqual([last.slice(0, -1), first.slice(1)], [id.slice(0, -1), id.slice(1)]);
  assert.equal(user, findableId('user-status', sampleKnown).toLowerCase());
  for (const near of [last, first])
    assert.ok(classifyUuid(near) === 'v4' && !sampleKnown.depositById.has(near));
  assert.ok(
    neighbours('user-status', knownFrom({}), '7').every((near) => classifyUuid(near) === 'other-version'),
  );
});

test('other spellings of an id keep its value', () => {
  const flags = fc.array(fc.boolean(), { minLength: 1, maxLength: 36 });
  fc.assert(
    fc.property(fc.uuid(), flags, (id, set) => {
      assert.equal(withLetterCase(id, set).toLowerCase(), id);
      assert.equal(decodeURIComponent(percentEncoded(id, set)), id);
    }),
  );
  assert.equal(withLetterCase('aB1c-d', [true, false]), 'Ab1C-d');
  assert.equal(percentEncoded('1a-b', [false, true]), '1%61-%62');
  assert.deepEqual(['1-2', '1-a', '1a-F'].map(hasMixableLetters), [false, false, true]);
});
