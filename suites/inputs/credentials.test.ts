import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { knownFrom, type Known, type KnownKey } from '../known.ts';
import type { Credential } from '../request.ts';
import { sampleKnown } from '../testing/samples.ts';
import {
  forms,
  nearMiss,
  nearMisses,
  unissuedKeys,
  tokenOf,
  unknownToken,
  type Presentation,
} from './credentials.ts';

const knownOf = (...keys: readonly string[]): Known =>
  knownFrom({ apiKeys: keys.map((key) => ({ key, partner: 'northwind', state: 'active' })) });

/** Fixtures with keys that are difficult in a header or as a near miss. */
const fixtures: Readonly<Record<string, Known>> = {
  'the sample': sampleKnown,
  'signs of the shell': knownOf('pk$HOME`id`"q"\\n!!', "it's-$(ls)-%s%d-*?~", '-n-e--key\\\\'),
  'base64 and percent signs': knownOf('c2VjcmV0LWtleQ+/==', 'pk%20live%41', '{"k":1},;=&#'),
  'digits alone': knownOf('4111111111111111', '4111111111111112'),
  'keys that are near misses of each other': knownOf(
    'pk_live_1',
    'pk_live_',
    'k_live_1',
    'pk_live_1x',
    'xpk_live_1',
    'PK_LIVE_1',
    'pk_lixe_1',
    'pk_live_1pk_live_1',
    'test',
  ),
};

type Headed = Extract<Credential, { as: 'header' }>;
const headed = (presentations: readonly Presentation[]): readonly Headed[] =>
  presentations.map(({ changes: { credential } }) => {
    assert.equal(credential?.as, 'header');
    return credential;
  });

const sampled = <Value>(values: fc.Arbitrary<Value>) => fc.sample(values, { seed: 1, numRuns: 100 });

/** Keys that are not issued: listed and random near misses, random keys. */
const unknownKeys = (known: Known) =>
  headed(
    [
      ...unissuedKeys(known),
      ...nearMisses(known),
      ...sampled(nearMiss(known)),
      ...sampled(unknownToken(known)),
    ].map((token) => forms.Bearer[0](token)),
  );

const malformed = (key: KnownKey) =>
  headed(
    (['no scheme', 'another scheme', 'two parts', 'no token'] as const)
      .flatMap((name) => [...forms[name]])
      .map((form) => form(tokenOf(key))),
  );

const misplaced = (key: KnownKey): readonly Presentation[] =>
  (['in the query', 'in a cookie', 'in another header', 'in the body'] as const)
    .flatMap((name) => [...forms[name]])
    .map((form) => form(tokenOf(key)));

/** All tokens that must be refused. */
const credentialsOf = (known: Known): readonly Headed[] => [
  ...unknownKeys(known),
  ...known.callerKeys.flatMap(malformed),
];

/** The key that a server takes from a header, if any (RFC 9110 11.4; scheme in any letter case). */
const readToken = (value: string) => /^bearer +(\S+)$/i.exec(value.trim())?.[1];

describe('no near miss and no wrong form is a key of the fixture', () => {
  for (const [name, known] of Object.entries(fixtures))
    test(name, () => {
      const issued = new Set(known.everyKey.map(({ key }) => key));
      for (const { value } of credentialsOf(known)) assert.ok(!issued.has(readToken(value) ?? ''), value);
    });
  for (const keys of [['k'], ['x'], ['k', 'x', 'kk'], ['kx', 'x']])
    test(`also with the keys ${keys.join(' and ')}`, () => {
      const known = knownOf(...keys);
      for (const { value } of credentialsOf(known)) assert.ok(!keys.includes(readToken(value) ?? ''), value);
    });
});

test('there is a near miss of every kind in the catalogue', () => {
  const [key] = sampleKnown.callerKeys;
  const text = key!.key;
  const tokens = new Set(unknownKeys(sampleKnown).map(({ value }) => readToken(value)));
  const expected = {
    'a prefix': text.slice(0, -1),
    'a suffix': text.slice(1),
    'a character more': `${text}x`,
    'the first character changed': `x${text.slice(1)}`,
    'the last character changed': `${text.slice(0, -1)}x`,
    'the last character percent-encoded': `${text.slice(0, -1)}%${text.charCodeAt(text.length - 1).toString(16)}`,
    'the first two swapped': `${text[1]}${text[0]}${text.slice(2)}`,
    'a dot after': `${text}.`,
    'a colon and more': `${text}:x`,
    'upper case': text.toUpperCase(),
    'lower case': text.toLowerCase(),
    'a word of JavaScript': '__proto__',
    "another partner's key, changed": `${sampleKnown.otherKeys[0]!.key}x`,
  };
  for (const [name, token] of Object.entries(expected)) assert.ok(tokens.has(token), name);
  assert.deepEqual(nearMisses({ ...sampleKnown, callerKeys: [], otherKeys: [] }), []);
});

test('there is a wrong header of every kind', () => {
  const [key] = sampleKnown.callerKeys;
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const values = new Set(malformed(key!).map(({ value }) => value));
  for (const value of [
    key!.key,
    `Token ${key!.key}`,
    `Basic ${key!.key}`,
    `Basic ${base64(key!.key)}`,
    `Basic ${base64(`${key!.key}:`)}`,
    `Basic ${base64(`:${key!.key}`)}`,
    `Bearer ${key!.key} x`,
    'Bearer',
    '',
  ])
    assert.ok(values.has(value), value);
});

test('a misplaced key is in every other place, and never in the Authorization header', () => {
  const [key] = sampleKnown.callerKeys;
  const used = new Set<string>();
  for (const { changes, query } of misplaced(key!)) {
    assert.deepEqual(changes.credential, { as: 'none' });
    assert.equal(changes.misplaced, key);
    const places = Object.entries({ ...changes.headers, body: changes.body, query });
    const having = places.filter(([, text]) => text?.includes(key!.key)).map(([name]) => name);
    assert.ok(having.length > 0 && !having.includes('authorization'));
    for (const name of having) used.add(name);
    assert.equal(changes.body !== undefined, Object.hasOwn(changes.headers ?? {}, 'content-type'));
  }
  for (const name of ['query', 'body', 'cookie', 'x-api-key']) assert.ok(used.has(name), name);
});

test('a misplaced key with any characters fits into a query, a cookie and a header', () => {
  const keys = fc.string({
    unit: fc.constantFrom(...Array.from({ length: 94 }, (_, n) => String.fromCharCode(33 + n))),
    minLength: 1,
  });
  fc.assert(
    fc.property(keys, (key) => {
      const known = { key, partner: 'p', state: 'active', name: '<key p/active>' } as const;
      for (const { changes, query } of misplaced(known)) {
        if (query !== undefined) assert.match(query, /^[!-~]+$/);
        const cookie = changes.headers?.['cookie'];
        if (cookie !== undefined) assert.match(cookie, /^\w+=[!-~]*$/);
        if (cookie !== undefined) assert.ok(!/[;," \\]/.test(cookie), cookie);
        if (query !== undefined) assert.equal([...new URLSearchParams(query)].length, 1, query);
      }
    }),
  );
});
