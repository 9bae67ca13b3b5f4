import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { classifyUuid } from './uuids.ts';
import { malformations } from './malformations.ts';

const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const uuid = fc.oneof(
  fc.uuid(),
  fc.uuid().map((text) => text.toUpperCase()),
);

/** The kinds of values that are no UUID in any notation. */
const kinds = Object.entries(malformations).slice(
  2,
  Object.keys(malformations).indexOf('braces or parentheses'),
);

const valueOf = (query: string | undefined) => decodeURIComponent(query!.slice('user_id='.length));

const examplesOf = (text: string) =>
  kinds.flatMap(([, { examples }]) => [...examples('user_id', text)].map(valueOf));

const malformed = (uuids: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    ...kinds.flatMap(([, { drawn }]) => (drawn === undefined ? [] : [drawn('user_id', uuids).map(valueOf)])),
  );

/** Independent of the classification under test. */
const isWellFormed = (text: string) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);

/** Also malformed: it matches a pattern with an unanchored end. */
const endsInLineFeed = (text: string) => /\S\n$/.test(text);

function isMalformed(text: string): void {
  assert.equal(classifyUuid(text), 'malformed');
  assert.ok(!isWellFormed(text), text);
  assert.ok(endsInLineFeed(text) || !isWellFormed(text.trim()), text);
  assert.ok(endsInLineFeed(text) || !/^[\da-f]{32}$/i.test(text.trim().replaceAll('-', '')));
}

test('every example and every random text is malformed', () => {
  fc.assert(
    fc.property(uuid, (text) => examplesOf(text).forEach(isMalformed)),
    { numRuns: 20 },
  );
  fc.assert(fc.property(malformed(uuid), isMalformed), { numRuns: 1000 });
});

test('each id has the same number of examples: they are chosen by number, and none may be left out', () => {
  const counts = (text: string) => kinds.map(([, { examples }]) => [...examples('user_id', text)].length);
  fc.assert(fc.property(uuid, (text) => assert.deepEqual(counts(text), counts(id))));
});

test('in each group, a sign or prefix stands for the first digits, and a filler for the last one', () => {
  const examples = new Set(
    [...malformations['a sign or filler for a digit']!.examples('user_id', id)].map(valueOf),
  );
  const groups = id.split('-');
  const expected = groups.flatMap((group, at) =>
    [
      ...['+', '-', '0x', '0X'].map((sign) => sign + group.slice(sign.length)),
      ...['\0', ' ', '\t'].map((filler) => group.slice(0, -1) + filler),
    ].map((written) => groups.with(at, written).join('-')),
  );
  assert.deepEqual(examples, new Set(expected));
  assert.ok(examples.has('+f2504e0-4f89-41d3-9a0c-0305e82c3301'));
});

test('each value with a sign, prefix or filler has the length of a UUID and its hyphens', () => {
  const { drawn } = malformations['a sign or filler for a digit']!;
  fc.assert(
    fc.property(drawn!('user_id', uuid).map(valueOf), (text) => {
      assert.match(text, /^[^]{8}-[^]{4}-[^]{4}-[^]{4}-[^]{12}$/);
      assert.ok(text.replace(/[\da-f-]/gi, '') !== '' || /(?:^|-)-/.test(text), text);
    }),
  );
});

test('there is an example of every kind of mistake in the catalogue', () => {
  const hyphens = [...malformations['other hyphens']!.examples('user_id', id)].map(valueOf);
  const examples = new Set([...examplesOf(id), ...hyphens]);
  const bare = id.replaceAll('-', '');
  const expected = {
    'a line feed behind': `${id}\n`,
    'a line behind': `${id}\nx`,
    'text before': `x${id}`,
    'text behind': `${id}x`,
    'a hyphen moved': '3f2504e-04f89-41d3-9a0c-0305e82c3301',
    'a character less': id.slice(1),
    'a character less at the end': id.slice(0, -1),
    'no hyphen': id.replace('-', ''),
    'a hyphen more': id.replace('-', '--'),
    'full-width digits': id.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    'Arabic digits': id.replace(/\d/g, (digit) => String.fromCodePoint(0x0660 + Number(digit))),
    'what Java takes': '1-1-1-1-1',
    'what Python takes': bare.replace(/(.{4})(?=.)/g, '$1-'),
    'a NUL behind': `${id}\0`,
    SQL: `${id}' OR '1'='1`,
    'a path': '../../etc/passwd',
    'a number': '12345',
    'control characters': '\u0001\u0002',
    'no UUID, but of its length': 'z'.repeat(36),
    'the hyphens of a UUID, and nothing else': 'zzzzzzzz-zzzz-4zzz-8zzz-zzzzzzzzzzzz',
    'a digit more at the end of a long value': `${id}${'0'.repeat(600)}`,
    'a value of 600 characters': 'a'.repeat(600),
    'a blank': ' ',
    '22 digits of base 58': '6LhqA3gXNz2v4T7kYcRbWd',
    '26 digits of base 32': '01HV6Z3F5QK8N2R9T4W7XBCDEF',
    'the format X of .NET': '{0x3f2504e0,0x4f89,0x41d3,{0x9a,0x0c,0x03,0x05,0xe8,0x2c,0x33,0x01}}',
    'an ampersand behind': `${id}&`,
    'a zero-width space behind': `${id}\u200b`,
    'an underscore for a digit': `3_${id.slice(2)}`,
    'a space within': `${id.slice(0, 18)} ${id.slice(18)}`,
  };
  for (const [name, text] of Object.entries(expected)) assert.ok(examples.has(text), name);
  // A class such as A-f, one of word characters, or one of digits of any script takes one of them.
  for (const digit of ['G', '_', '\u0661', '\uff11'])
    assert.ok(
      [...examples].some((text) => text.length === id.length && text.includes(digit)),
      digit,
    );
  // The first two digits of each group, and its last.
  for (const at of [0, 1, 7, 9, 10, 12, 14, 15, 17, 19, 20, 22, 24, 25, 35])
    assert.ok(examples.has(`${id.slice(0, at)}g${id.slice(at + 1)}`), `place ${at}`);
});
