import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeText } from './behaviour.ts';

// What is answered to whom is shown by the suites: `bin/self-test.test.ts`.

test('what cannot be decoded stays as it is', () => {
  assert.equal(decodeText('%31%2D'), '1-');
  assert.equal(decodeText('a+b'), 'a b');
  for (const broken of ['%', '%zz', '%E0%A4%A', '%C0%80', '%ED%A0%80'])
    assert.equal(decodeText(broken), broken);
});
