import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBaseline } from './baseline-file.ts';

const baselineFormat = '"format": "ib-conformance/baseline/1"';

/** Invalid baselines, and the expected problem. */
const wrongBaselines: Readonly<Record<string, RegExp>> = {
  '': /^known\.json:1:1: is not JSON/,
  [`{ ${baselineFormat},\n "known": [ }`]: /^known\.json:2:13: is not JSON/,
  '[]': /^known\.json: the baseline must be object: \[\]$/,
  [`{ ${baselineFormat} }`]: /^known\.json: the baseline lacks "known"$/,
  '{ "format": "ib-conformance/baseline/2", "known": [] }':
    /format is not "ib-conformance\/baseline\/1": "ib-conformance\/baseline\/2"/,
  [`{ ${baselineFormat}, "known": [{ "reason": "r" }] }`]: /known\[0\] lacks "id"/,
  [`{ ${baselineFormat}, "known": [{ "id": "a", "because": "r" }] }`]:
    /known\[0\] has an unknown key "because"/,
  [`{ ${baselineFormat}, "known": [{ "id": "a", "reason": 1 }] }`]:
    /known\[0\]\.reason is not a text: .*: 1$/,
};

for (const [text, pattern] of Object.entries(wrongBaselines))
  test(`invalid baseline: ${text.replaceAll('\n', ' ')}`, () => {
    const problem = { name: 'Problem', code: 'usage', message: pattern };
    assert.throws(() => readBaseline(text, 'known.json'), problem);
  });

test('every entry has its line, also after a byte order mark', () => {
  const text = `\uFEFF{ ${baselineFormat},\n  "known": [\n    { "id": "a", "reason": "r" }, {"id":"b"},\n\n    {\n "id": "a" }\n]}`;
  assert.deepEqual(readBaseline(text, 'f').known, [
    { id: 'a', reason: 'r', line: 3 },
    { id: 'b', line: 3 },
    { id: 'a', line: 5 },
  ]);
});
