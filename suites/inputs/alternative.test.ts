import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { classifyUuid } from '../uuid.ts';
import { alternative, alternativeExamples } from './alternative.ts';

const uuid = fc.oneof(
  fc.uuid(),
  fc.uuid().map((text) => text.toUpperCase()),
);

test('every example and every drawn text is an alternative spelling of one UUID', () => {
  fc.assert(
    fc.property(uuid, (text) => {
      for (const spelling of alternativeExamples(text))
        assert.equal(classifyUuid(spelling), 'alternative-spelling', JSON.stringify(spelling));
    }),
  );
  fc.assert(fc.property(alternative(uuid), (text) => classifyUuid(text) === 'alternative-spelling'));
});

test('a counterexample stays an alternative spelling while it shrinks', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { counterexample } = fc.check(
      fc.property(alternative(uuid), (text) => text.length === 36),
      { seed },
    );
    assert.ok(counterexample);
    assert.equal(classifyUuid(counterexample[0]), 'alternative-spelling');
  }
});

test('the examples hold every spelling that the catalogue names', () => {
  const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
  const examples = new Set(alternativeExamples(id));
  for (const text of [`{${id}}`, `urn:uuid:${id}`, id.replaceAll('-', ''), ` ${id}`, `${id} `])
    assert.ok(examples.has(text), JSON.stringify(text));
  for (const variant of '01234567cdef')
    assert.ok(examples.has(`${id.slice(0, 19)}${variant}${id.slice(20)}`), `variant ${variant}`);
});
