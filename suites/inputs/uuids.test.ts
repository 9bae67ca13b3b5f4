import assert from 'node:assert/strict';
import { test, describe } from 'node:test';
import * as fc from 'fast-check';
import { knownFrom, type Known } from '../known.ts';
import { sampleKnown } from '../testing/samples.ts';
import {
  classifyUuid,
  findableId,
  hasMixableLetters,
  neighbours,
  unknownIds,
  percentEncoded,
  unknownId,
  unknownUuid,
  withLetterCase,
  type UuidClass,
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

const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const bare = id.replaceAll('-', '');
const ofVersion = (version: string) => `${id.slice(0, 14)}${version}${id.slice(15)}`;
const ofVariant = (variant: string) => `${id.slice(0, 19)}${variant}${id.slice(20)}`;
const nil = '00000000-0000-0000-0000-000000000000';
const max = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Texts of each class, by name. `malformations.test.ts` names more that are malformed. */
const examples = {
  v4: {
    'lower case': id,
    'upper case': id.toUpperCase(),
    'mixed case': id.replaceAll('e', 'E'),
    ...Object.fromEntries([...'89abAB'].map((variant) => [`variant ${variant}`, ofVariant(variant)])),
  },
  'other-version': Object.fromEntries(
    [...'1235678'].map((version) => [`version ${version}`, ofVersion(version)]),
  ),
  'unknown-version': Object.fromEntries(
    [...'09abcdefAF'].map((version) => [`version ${version}`, ofVersion(version)]),
  ),
  nil: { nil },
  max: { max, 'max in upper case': max.toUpperCase() },
  'alternative-spelling': {
    braces: `{${id}}`,
    parentheses: `(${id})`,
    'a URN': `urn:uuid:${id}`,
    'a URN in upper case': `URN:UUID:${id.toUpperCase()}`,
    'no hyphens': bare,
    'a hyphen left out': id.replace('-', ''),
    'a hyphen at the end': `${bare}-`,
    'no hyphens, in braces': `{${bare}}`,
    'a space before': ` ${id}`,
    'a space behind': `${id} `,
    'a tab before': `\t${id}`,
    'CR LF behind': `${id}\r\n`,
    'a line feed before': `\n${id}`,
    'a no-break space behind': `${id}\u00a0`,
    'an ideographic space before': `\u3000${id}`,
    'a URN in braces': `{urn:uuid:${id}}`,
    'braces in parentheses': `({${id}})`,
    'three layers, no hyphens': ` (urn:uuid:{${bare.toUpperCase()}}) `,
    'braces, then a line feed': `{${id}}\n`,
    'nil in braces': `{${nil}}`,
    ...Object.fromEntries([...'01234567cdefCF'].map((variant) => [`variant ${variant}`, ofVariant(variant)])),
  },
  empty: { 'the empty text': '' },
  malformed: {
    'a line feed behind nil': `${nil}\n`,
    'a line before': `x\n${id}`,
    'only white space': ' \t',
    'a digit more': `${id}0`,
    '33 digits': `${bare}0`,
    'a Cyrillic letter': id.replace('a', '\u0430'),
    'a Kelvin sign': `\u212a${id.slice(1)}`,
    'an en dash': id.replace('-', '\u2013'),
    'a combining accent behind': `${id}\u0301`,
    'a zero-width space before': `\u200b${id}`,
    'an open brace': `{${id}`,
    'a closing brace': `${id}}`,
    'mismatched brackets': `{${id})`,
    'parentheses around the beginning': `(${id.slice(0, 9)})${id.slice(9)}`,
    'parentheses around the end': `${id.slice(0, 9)}(${id.slice(9)})`,
    'braces around the beginning': `{${id.slice(0, 9)}}${id.slice(9)}`,
    'braces around the end': `${id.slice(0, 9)}{${id.slice(9)}}`,
    quotes: `"${id}"`,
    'another URN': `urn:guid:${id}`,
    'only a URN': 'urn:uuid:',
    'empty braces': '{}',
    'twice the same': id + id,
  },
} as const satisfies Record<UuidClass, Readonly<Record<string, string>>>;

for (const [expected, texts] of Object.entries(examples))
  describe(`the class ${expected}`, () => {
    for (const [name, text] of Object.entries(texts))
      test(name, () => assert.equal(classifyUuid(text), expected));
  });
