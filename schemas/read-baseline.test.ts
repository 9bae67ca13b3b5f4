import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from './problem.ts';
import { readBaseline } from './read-baseline.ts';

const format = '"format": "ib-conformance/baseline/1"';

/** Files that are no baseline, and what is said of them. */
const wrong: Readonly<Record<string, RegExp>> = {
  '': /^known\.json:1:1: is not JSON/,
  [`{ ${format},\n "known": [ }`]: /^known\.json:2:13: is not JSON/,
  '[]': /^known\.json: the baseline must be object: \[\]$/,
  [`{ ${format} }`]: /^known\.json: the baseline lacks "known"$/,
  '{ "format": "ib-conformance/baseline/2", "known": [] }':
    /format is not "ib-conformance\/baseline\/1": "ib-conformance\/baseline\/2"/,
  [`{ ${format}, "known": [{ "reason": "r" }] }`]: /known\[0\] lacks "id"/,
  [`{ ${format}, "known": [{ "id": "a", "because": "r" }] }`]: /known\[0\] has an unknown key "because"/,
  [`{ ${format}, "known": [{ "id": "a", "reason": 1 }] }`]: /known\[0\]\.reason is not a text: .*: 1$/,
};

for (const [text, says] of Object.entries(wrong))
  test(`no baseline: ${text.replaceAll('\n', ' ')}`, () => {
    assert.throws(
      () => readBaseline(text, 'known.json'),
      (error) => error instanceof Problem && error.code === 'usage' && says.test(error.message),
    );
  });

test('every entry knows its line, also behind a byte order mark', () => {
  const text = `\uFEFF{ ${format},\n  "known": [\n    { "id": "a", "reason": "r" }, {"id":"b"},\n\n    {\n "id": "a" }\n]}`;
  assert.deepEqual(readBaseline(text, 'f').known, [
    { id: 'a', reason: 'r', line: 3 },
    { id: 'b', line: 3 },
    { id: 'a', line: 5 },
  ]);
});
