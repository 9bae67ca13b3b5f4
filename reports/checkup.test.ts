import assert from 'node:assert/strict';
import { test } from 'node:test';
import validate from '../schemas/generated/checkup.cjs';
import type { Checkup } from '../schemas/generated/types.ts';
import { renderCheckup } from './checkup.ts';

const sample: Checkup = {
  format: 'ib-conformance/doctor/1',
  version: '0.1.0',
  verdict: 'ill',
  target: 'http://127.0.0.1:4010/',
  partner: 'northwind',
  notes: ['No --fixture was given: the target was taken to hold the built-in one.'],
  requests: 15,
  durationMs: 420,
  checks: [
    { area: 'reach', subject: 'name', outcome: 'good', words: '127.0.0.1 is an address' },
    { area: 'reach', subject: 'HTTP', outcome: 'good', words: '401 after 3 ms' },
    { area: 'interface', subject: 'user-status', outcome: 'bad', words: '404', mend: 'Correct the URL.' },
    { area: 'interface', subject: 'deposit-check', outcome: 'bad', words: '404', mend: 'Correct the URL.' },
    {
      area: 'keys',
      subject: '<key northwind/active>',
      outcome: 'bad',
      words: 'turned away (401), though apiKeys[0] is active',
      mend: 'Is it the key of an active partner there? Correct apiKeys[0].key, or its state.',
    },
    { area: 'keys', subject: '3 more', outcome: 'unknown', words: 'not asked' },
  ],
  gaps: [
    {
      reason: 'no-second-key',
      words: 'the fixture has no active key of another partner',
      mend: 'To apiKeys add one.',
      requirements: ['a/b/1', 'a/b/2', 'a/b/3', 'a/b/4', 'a/b/5', 'a/b/6', 'a/b/7'],
    },
  ],
  plan: { requests: 1234, waitMs: 12_000, answersMs: 500, cutTo: 7 },
};

test('the checklist of the sample is as it was written down', () => {
  assert.ok(validate(sample), JSON.stringify(validate.errors));
  assert.equal(
    renderCheckup(sample, { color: false, width: 80 }),
    `target http://127.0.0.1:4010/, partner northwind, ib-conformance 0.1.0

reach
  ✓ name  127.0.0.1 is an address
  ✓ HTTP  401 after 3 ms

interface
  ✗ user-status    404
  ✗ deposit-check  404
                   → Correct the URL.

keys
  ✗ <key northwind/active>  turned away (401), though apiKeys[0] is active
                            → Is it the key of an active partner there? Correct
                            apiKeys[0].key, or its state.
  ? 3 more                  not asked

what no run can judge with this fixture
  ? the fixture has no active key of another partner
    7 requirements: a/b/1, a/b/2, a/b/3, a/b/4, a/b/5, 2 more
    → To apiKeys add one.

note: No --fixture was given: the target was taken to hold the built-in one.

a run of verify takes about 1,234 requests, 12.0 s of waiting for limiters,
  0.5 s for answers as fast as these, at most 7 rows an endpoint, to fit its
  time
3 checks failed: 2 ✓, 3 ✗, 1 ?, by 15 requests in 0.4 s
`,
  );
});

test('a look that finds nothing wrong says how much a run could not judge all the same', () => {
  const last = (gaps: Checkup['gaps']) =>
    renderCheckup(
      { ...sample, verdict: 'well', gaps, plan: { requests: 9, waitMs: 0 } },
      { color: false, width: 100 },
    )
      .trimEnd()
      .split('\n')
      .slice(-2)
      .join('\n');
  const gap = { reason: 'no-fixture', words: 'w', mend: 'm' };
  assert.match(last([]), /no waiting for limiters that are known[^]*^all is well: /m);
  assert.match(
    last([
      { ...gap, requirements: ['a/b/1', 'a/b/2'] },
      { ...gap, requirements: ['a/b/2'] },
    ]),
    /^nothing is in the way of a run, which cannot judge 2 requirements: /m,
  );
});
