import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { Problem } from './problem.ts';
import { redactError, redactorOf, type Secret } from './redact.ts';

const key = 'sk_live_Zx81-Q0pLk/vB7+T';
const name = '<key northwind/active>';
const secrets: readonly Secret[] = [
  { value: key, name, owner: 'northwind' },
  { value: 'northwind-spare-4711', name: '<key northwind/active/2>', owner: 'northwind' },
  { value: 'q"uo\\te&<d>%20;=', name: '<key northwind/active/3>', owner: 'northwind' },
  { value: 'ab12', name: '<key contoso/active>', owner: 'contoso' },
  { value: '00000000', name: '<key contoso/active/2>', owner: 'contoso' },
];
const redact = redactorOf(secrets);

const base64 = (text: string) => Buffer.from(text).toString('base64');
/** Known ways to write a secret. */
const writings: Readonly<Record<string, (text: string) => string>> = {
  unchanged: (text) => text,
  'in lower case': (text) => text.toLowerCase(),
  'in upper case': (text) => text.toUpperCase(),
  'percent-encoded': encodeURIComponent,
  'percent-encoded by URLSearchParams': (text) => new URLSearchParams({ k: text }).toString().slice(2),
  'percent-encoded by URL': (text) => encodeURIComponent(text).replaceAll("'", '%27'),
  'percent-encoded as in RFC 3986': (text) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`),
  'in JSON': (text) => JSON.stringify(text).slice(1, -1),
};

/** The same inside a longer text, at each offset in a group of three bytes. */
const inBase64: Readonly<Record<string, (text: string) => string>> = {
  'in base64': base64,
  'in base64 as a user name': (text) => base64(`${text}:`),
  'in base64 as a password': (text) => base64(`:${text}`),
  'in base64 after two characters': (text) => base64(`x:${text}:y`),
  'in base64url': (text) => Buffer.from(`{"key":"${text}"}`).toString('base64url'),
};

/** A secret that is no word and no number, in visible ASCII like a key. */
const anySecret = fc
  .stringMatching(/^[!-~]{12,60}$/)
  .filter((text) => new Set(text.toLowerCase()).size >= 8 && !/[a-z]{6}/i.test(text));

describe('a secret is replaced', () => {
  for (const [how, write] of Object.entries({ ...writings, ...inBase64 }))
    test(how, () => {
      fc.assert(
        fc.property(anySecret, (value) => {
          const written = write(value);
          const clean = redactorOf([{ value, name }])(`{"error":"(${written})"}`);
          assert.ok(clean.includes(name), `${written} in ${clean}`);
          // In base64, adjacent text changes one or two characters.
          if (how in writings) assert.ok(!clean.includes(written) || name.includes(written), clean);
          else assert.ok(!clean.includes(written.slice(4, -4)), clean);
        }),
      );
      for (const secret of secrets.slice(0, 3)) {
        const clean = redact(`a ${write(secret.value)} b`);
        if (how in writings) assert.equal(clean, `a ${secret.name} b`);
        else assert.match(clean, /^a \S{0,12}<key northwind\/active(?:\/\d)?>\S{0,12} b$/);
      }
    });
  test('if only one of its halves is left', () => {
    const middle = key.length / 2;
    for (const half of [key.slice(0, middle), key.slice(middle)])
      for (const written of [half, half.toUpperCase(), `${half.slice(0, -1)}${half.at(-1)}…`])
        assert.ok(redact(`"${written}`).startsWith(`"${name}`), written);
    assert.equal(redact(`${key.slice(0, -1)}x`).includes(key.slice(0, middle)), false);
  });
  test('but not a half that another secret has, too, or that is mostly a known word', () => {
    const alike = redactorOf(['Zx81Q0pL', '0f3c9a7e'].map((value) => ({ value: `ib_live_${value}`, name })));
    assert.equal(alike('ib_live_ 0f3c9a7e'), `ib_live_ ${name}`);
    assert.equal(redact('northwind- spare-4711'), `northwind- <key northwind/active/2>`);
  });
  test('if it occurs several times', () => {
    assert.equal(redact(`${key}${key} ${key.toUpperCase()}`), `${name}${name} ${name}`);
  });
  test('if one secret contains another, by the name of the longer one', () => {
    const nested = redactorOf([
      { value: 'pk_live_1', name: '<short>' },
      { value: 'pk_live_1_and_more', name: '<long>' },
    ]);
    assert.equal(nested('pk_live_1_and_more pk_live_1'), '<long> <short>');
  });
});

/** Texts that look like a secret but are none. */
const innocent: Readonly<Record<string, string>> = {
  'names of secrets': `${name} <key northwind/active/2>`,
  'the partner': 'partner northwind, northwind-fixture.json',
  'less than half of a key': key.slice(0, 11),
  'less than 8 characters': key.slice(0, 7),
  'short keys within words and numbers': 'cab123 ab12c AB12 100000000 000000000.5',
  'ids that contain a key':
    '00000000-0000-4000-8000-000000000001 {"id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301"}',
  'escapes of other things': String.raw`%zz %20 \u12 \" &amp; &#x110000; \u{ffffff}`,
  nothing: '',
};

describe('nothing else changes', () => {
  for (const [what, text] of Object.entries(innocent)) test(what, () => assert.equal(redact(text), text));
  test('a second call changes nothing more', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.constantFrom(key, key.slice(9), name, '%', '\\'))),
        (parts) => {
          const once = redact(parts.join(''));
          assert.equal(redact(once), once);
        },
      ),
    );
  });
  test('in any text without a secret', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => assert.equal(redact(text), text)),
    );
  });
  test('in a name that contains another secret', () => {
    const mutual = redactorOf([
      { value: 'partner-42x9', name: '<key northwind/active>', owner: 'northwind' },
      { value: key, name: '<key partner-42x9/active>', owner: 'partner-42x9' },
    ]);
    assert.equal(mutual(`${key} <partner-42x9>`), '<key partner-42x9/active> <<key northwind/active>>');
    const text = 'The name follows some other text:';
    assert.equal(mutual(mutual(`${text} ${key}`)), `${text} <key partner-42x9/active>`);
  });
  test('in ids, if keys are ids', () => {
    const known = redactorOf([
      { value: '00000000-0000-4000-8000-00000000000a', name: '<a>' },
      { value: '3f2504e0-4f89-41d3-9a0c-0305e82c3301', name: '<b>' },
    ]);
    for (const id of ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-00000000000g'])
      assert.equal(known(id), id);
    const inTag = '<user id="3f2504e0-4f89-41d3-9a0c-0305e82c3302">';
    assert.equal(known(inTag), inTag);
    assert.equal(known('3F2504E0-4f89-41d3-9a0c-0305e82c3301'), '<b>');
  });
});

describe('a text that cannot be hidden stays', () => {
  for (const [value, text] of [
    ['abc', 'abc'],
    ['user_id', '{"user_id":"1"}'],
    ['deposit-check', '/api/ib/deposit-check'],
    ['northwind', 'partner northwind'],
    ['true', '{"is_under_ib":true}'],
    ['null', '{"date_joined":null}'],
  ] as const)
    test(value, () => assert.equal(redactorOf([{ value, name, owner: 'northwind' }])(text), text));
  test('but short secrets are replaced as separate words', () => {
    assert.equal(
      redact('key=ab12&x "ab12" 00000000'),
      'key=<key contoso/active>&x "<key contoso/active>" <key contoso/active/2>',
    );
  });
});

test('a name with special characters for String.replace does not reveal the secret', () => {
  for (const odd of ['a$&b', 'a$`b', "a$'b", 'a$$b'])
    assert.equal(redactorOf([{ value: key, name: odd }])(`x ${key} y`), `x ${odd} y`);
});

test('secrets are removed from message, stack and causes of an error', () => {
  const problem = redactError(new Problem('unreachable', `no ${key}`), redact);
  assert.ok(problem instanceof Problem);
  assert.deepEqual([problem.code, problem.message], ['unreachable', `no ${name}`]);
  const error = redactError(new Error(`a ${key}`, { cause: new Error(`b ${key}`) }), redact) as Error;
  assert.doesNotMatch(`${error.stack} ${(error.cause as Error).stack}`, /sk_live/);
  assert.match(error.stack!, /redact\.test\.ts/);
  assert.equal((redactError(key, redact) as Error).message, name);
});
