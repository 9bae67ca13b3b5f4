import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunRecord } from './generated/types.ts';
import { Problem } from './problem.ts';
import { readBaseline, readRecord } from './records.ts';

const subject = { level: 'required', clause: 'c', title: 't', cases: 1 } as const;
const record: RunRecord = {
  format: 'ib-conformance/run/1',
  version: '1.0.0',
  verdict: 'nonconformant',
  target: 'http://here/',
  seed: 1,
  startedAt: '2026-01-15T10:40:00.000Z',
  durationMs: 1,
  requests: 1,
  cases: 1,
  interrupted: false,
  rateLimited: { answers: 0, waitedMs: 0, endpoints: [] },
  phases: [],
  strength: 2,
  coverage: { pairs: [1, 1], triples: [0, 1], missing: [] },
  notes: [],
  counts: {
    required: { passed: 1, failed: 1, inconclusive: 0 },
    recommended: { passed: 0, failed: 0, inconclusive: 0 },
    observed: 0,
    excluded: 0,
    broken: 0,
  },
  requirements: [
    { ...subject, id: 'a/b/1', outcome: 'passed' },
    { ...subject, id: 'a/b/2', outcome: 'failed', aspect: 'status', expected: '1', actual: '2' },
  ],
};

const read = (text: string) => readRecord(text, 'run.json', '1.0.0');
const changed = (change: (text: string) => string) => change(JSON.stringify(record));
const withRow = (row: object) => JSON.stringify({ ...record, requirements: [record.requirements[0], row] });

test('a record is read, with and without a byte order mark', () => {
  assert.deepEqual(read(JSON.stringify(record)), record);
  assert.deepEqual(read(`\ufeff${JSON.stringify(record, null, 2)}`), record);
});

/** Invalid records, and the expected first line. */
const refusals: readonly (readonly [what: string, text: string, message: string])[] = [
  [
    'a truncated file',
    changed((text) => text.slice(0, 40)),
    'run.json:1:34: is not JSON: unexpected end of string',
  ],
  ['not an object', '[]', 'run.json: is not a run record; `verify --report json=file` writes one'],
  ['null', 'null', 'run.json: is not a run record; `verify --report json=file` writes one'],
  ['a fixture', '{"partners":[]}', 'run.json: is not a run record; `verify --report json=file` writes one'],
  [
    'a newer format',
    changed((text) => text.replace('run/1', 'run/2')),
    'run.json: has the format ib-conformance/run/2, but ib-conformance 1.0.0 reads ib-conformance/run/1; use a newer version',
  ],
  [
    'an unknown outcome',
    withRow({ ...subject, id: 'a/b/2', outcome: 'perhaps' }),
    'run.json: requirements[1].outcome is not one of "passed", "failed", "inconclusive", "observed", "excluded", "broken"',
  ],
  [
    'a failure without `expected`',
    withRow({ ...subject, id: 'a/b/2', outcome: 'failed', aspect: 'status', actual: '2' }),
    'run.json: requirements[1] lacks "expected"',
  ],
  [
    'a passed requirement with `actual`',
    withRow({ ...subject, id: 'a/b/2', outcome: 'passed', actual: '2' }),
    'run.json: requirements[1] has an unknown key "actual"',
  ],
  [
    'an unknown level',
    withRow({ ...subject, id: 'a/b/2', outcome: 'passed', level: 'must' }),
    'run.json: requirements[1].level is not one of "required", "recommended", "observed": "must"',
  ],
  [
    'a duplicate id',
    withRow({ ...record.requirements[0] }),
    'run.json: requirements[1].id is the same as requirements[0].id',
  ],
  [
    'a verdict that contradicts the rows',
    JSON.stringify({ ...record, verdict: 'conformant' }),
    'run.json: the verdict is conformant, but the required a/b/2 failed',
  ],
  [
    'an unknown key of a newer version',
    JSON.stringify({ ...record, version: '1.1.0', news: 1 }),
    'run.json: the record has an unknown key "news"; known are ',
  ],
];

for (const [what, text, message] of refusals)
  test(`invalid: ${what}`, () => {
    assert.throws(
      () => read(text),
      (error) => {
        assert.ok(error instanceof Problem && error.code === 'usage');
        assert.equal(error.message.split('\n')[0]?.slice(0, message.length), message);
        if (!message.endsWith(' ')) assert.equal(error.message, message);
        return true;
      },
    );
  });

test('for a record of another version, the message says so', () => {
  assert.throws(
    () => read(JSON.stringify({ ...record, version: '1.1.0', news: 1 })),
    /\nrun\.json: was written by ib-conformance "1\.1\.0"; this is 1\.0\.0$/,
  );
});

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
