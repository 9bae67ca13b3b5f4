import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readBody, readJson } from './answer.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

test('a body is read as it is the first time, however often and among however many', () => {
  const texts = Array.from({ length: 500 }, (_, nth) => `{"n":${nth}}`);
  for (const text of [...texts, ...texts.toReversed(), ...texts])
    assert.deepEqual(readBody(bytesOf(text)), { text, json: { ok: true, value: JSON.parse(text) } });
});

test('whatever the text', () => {
  const text = fc.oneof(fc.json(), fc.string(), fc.constantFrom('', '\uFEFF{}', '{', '[[]]'));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (all) => {
      for (const one of [...all, ...all]) {
        const said = one.toWellFormed();
        assert.deepEqual(readBody(bytesOf(said)), { text: said, json: readJson(said) });
      }
    }),
    { numRuns: 200 },
  );
});
