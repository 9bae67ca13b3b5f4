import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { decodeText, isId } from './behaviour.ts';

// What is answered to whom is shown by the suites: `bin/self-test.test.ts`.

test('what cannot be decoded stays as it is', () => {
  assert.equal(decodeText('%31%2D'), '1-');
  assert.equal(decodeText('a+b'), 'a b');
  for (const broken of ['%', '%zz', '%E0%A4%A', '%C0%80', '%ED%A0%80'])
    assert.equal(decodeText(broken), broken);
});

const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const ofVersion = (version: string) => `3f2504e0-4f89-${version}1d3-9a0c-0305e82c3301`;

test('user_id is a UUID of version 4 and nothing else', () => {
  const accepted = [...'0123456789abcdef'].filter((version) => isId('user-status', ofVersion(version)));
  assert.deepEqual(accepted, ['4']);
});

test('the variant is that of RFC 9562', () => {
  const accepted = [...'0123456789abcdefABCDEF'].filter((variant) =>
    isId('user-status', id.replace('-9', `-${variant}`)),
  );
  assert.deepEqual(accepted, [...'89abAB']);
});

const notIds = {
  'the empty text': '',
  'a final newline': `${id}\n`,
  'a line before': `x\n${id}`,
  braces: `{${id}}`,
  'a URN': `urn:uuid:${id}`,
  'no hyphens': id.replaceAll('-', ''),
  'short groups': '1-1-1-1-1',
  'a space before': ` ${id}`,
  'a NUL behind': `${id}\0`,
  'full-width digits': id.replaceAll('0', '０'),
  'Arabic digits': id.replaceAll('0', '٠'),
  'a Kelvin sign': `K${id.slice(1)}`,
  'the nil UUID': '00000000-0000-0000-0000-000000000000',
  'the max UUID': 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

for (const [name, value] of Object.entries(notIds))
  test(`${name} is no id`, () =>
    assert.deepEqual([isId('user-status', value), isId('deposit-check', value)], [false, false]));

test('an id with one character changed to no hexadecimal digit is no id', () => {
  const changed = fc
    .tuple(
      fc.nat({ max: id.length - 1 }),
      fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)),
    )
    .filter(([, character]) => !/^[0-9a-f-]$/i.test(character))
    .map(([place, character]) => id.slice(0, place) + character + id.slice(place + 1));
  fc.assert(fc.property(changed, (value) => !isId('user-status', value) && !isId('deposit-check', value)));
});
