import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { catalogue } from '../catalogue.ts';
import { redactor } from '../engine/evidence.ts';
import { unknownCredentials } from '../inputs/credentials.ts';
import type { Request } from '../request.ts';
import type { Property } from '../requirement.ts';
import { sampleKnown as known } from '../sample-known.ts';
import { decodeInput, encodeInput, headerValue } from './inputs.ts';

const asItIs = (text: string) => text;

/** A request without the value of its Authorization header, which a transcript does not hold. */
const withoutValue = ({ credential, ...request }: Request) => ({
  ...request,
  credential: credential.as === 'header' ? { ...credential, value: '' } : credential,
});

describe('an input that went through a transcript asks for the same', () => {
  for (const property of catalogue.filter((one): one is Property => one.kind === 'property'))
    test(property.id, () => {
      for (const { input, requests } of property.draw(known, { seed: 1, cases: 60 })) {
        const encoded = encodeInput(input, asItIs);
        const written = encoded === undefined ? undefined : (JSON.parse(JSON.stringify(encoded)) as unknown);
        const again = property.caseOf(decodeInput(written, known, asItIs), known);
        assert.deepEqual(again.requests.map(withoutValue), requests.map(withoutValue));
      }
    });
});

test('where a transcript hides a part of a key in a header, the header is judged as one that holds the key', () => {
  const redact = redactor(known);
  const headers = unknownCredentials(known).flatMap((one) => (one.as === 'header' && one.key ? [one] : []));
  const near = headers.filter(({ value, key }) => redact(value).includes(key!.name));
  for (const { value, shell, key } of near)
    assert.ok(headerValue(shell, key).includes(key!.key), `${shell}: ${redact(value)}`);
  assert.ok(near.some(({ value, key }) => !value.includes(key!.key)));
});

test('no key is in an input, nor half of one', () => {
  for (const property of catalogue.filter((one): one is Property => one.kind === 'property'))
    for (const { input } of property.draw(known, { seed: 2, cases: 60 })) {
      const written = JSON.stringify(encodeInput(input, redactor(known))) ?? '';
      for (const { key } of known.everyKey) {
        const half = Math.ceil(key.length / 2);
        for (const part of [key.slice(0, half), key.slice(half)])
          assert.ok(!written.includes(part), `${property.id}: ${written}`);
      }
    }
});
