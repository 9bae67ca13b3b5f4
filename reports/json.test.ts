import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { renderJson } from './json.ts';
import { anyRecord, hostileText } from './testing/records.ts';

test('the JSON is indented, can be parsed, and does not affect a terminal', () => {
  fc.assert(
    fc.property(anyRecord(hostileText), (record) => {
      const text = renderJson(record);
      assert.match(text, /^\{\n {2}"format": "ib-conformance\/run\/1",\n[^]*\n\}\n$/);
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(record)));
      assert.doesNotMatch(text, /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    }),
  );
});
