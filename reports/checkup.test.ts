import assert from 'node:assert/strict';
import { test } from 'node:test';
import validate from '../schemas/generated/checkup.cjs';
import type { Checkup } from '../schemas/generated/types.ts';
import { renderCheckup } from './checkup.ts';

const sample: Checkup = {
  format: 'ib-conformance/doctor/1',
  version: '0.1.0',
  verdict: 'problems',
  target: 'http://127.0.0.1:4010/',
  partner: 'northwind',
  notes: ['No --fixture was given, so the target is expected to have the built-in data.'],
  requests: 15,
  durationMs: 420,
  checks: [
    { area: 'reach', subject: 'name', outcome: 'ok', words: '127.0.0.1 is an address' },
    { area: 'reach', subject: 'HTTP', outcome: 'ok', words: '401 after 3 ms' },
    { area: 'interface', subject: 'user-status', outcome: 'problem', words: '404', fix: 'Correct the URL.' },
    {
      area: 'interface',
      subject: 'deposit-check',
      outcome: 'problem',
      words: '404',
      fix: 'Correct the URL.',
    },
    {
      area: 'keys',
      subject: '<key northwind/active>',
      outcome: 'problem',
      words: 'refused (401), but apiKeys[0] is active',
      fix: 'Check that the target has this key and that it is active. If not, correct apiKeys[0].',
    },
    { area: 'keys', subject: '3 more', outcome: 'unknown', words: 'not asked' },
  ],
  gaps: [
    {
      reason: 'no-second-key',
      words: 'the fixture has no active key of another partner',
      fix: 'Add one to apiKeys.',
      requirements: ['a/b/1', 'a/b/2', 'a/b/3', 'a/b/4', 'a/b/5', 'a/b/6', 'a/b/7'],
    },
  ],
  plan: { requests: 1234, waitMs: 12_000, answersMs: 500, strength: 1 },
};

test('the headline is green if the target is ready, else red', () => {
  const headline = (verdict: Checkup['verdict']) =>
    renderCheckup({ ...sample, verdict }, { color: true, width: 200 })
      .split('\n')
      .find((line) => line.includes('checks ok'))!;
  const text = renderCheckup(sample, { color: true, width: 200 });
  assert.ok(text.includes('\u001b[1mNot checkable with this fixture\u001b[22m'));
  assert.ok(headline('ok').includes('\u001b[32mready for verify'));
  assert.ok(headline('problems').includes('\u001b[31m3 checks failed'));
  assert.ok(headline('unreachable').includes('\u001b[31mthis is another service'));
});

test('the checklist of the sample matches this text', () => {
  assert.ok(validate(sample), JSON.stringify(validate.errors));
  assert.equal(
    renderCheckup(sample, { color: false, width: 80 }),
    `target http://127.0.0.1:4010/, partner northwind, ib-conformance 0.1.0

interface
  ✗ user-status    404
  ✗ deposit-check  404
                   → Correct the URL.

keys
  ✗ <key northwind/active>  refused (401), but apiKeys[0] is active
                            → Check that the target has this key and that it is
                            active. If not, correct apiKeys[0].
  ? 3 more                  not asked

reach
  ✓ name  127.0.0.1 is an address
  ✓ HTTP  401 after 3 ms

Not checkable with this fixture
  ? the fixture has no active key of another partner
      7 requirements: a/b/1, a/b/2, a/b/3, a/b/4, a/b/5, a/b/6, a/b/7
      → Add one to apiKeys.

3 checks failed: 2 of 6 checks ok (15 requests in 0.4 s)
verify would take about 1,234 requests, 12.0 s of waiting for rate limits and
  changes of data, 0.5 s of answers at this speed
note: No --fixture was given, so the target is expected to have the built-in
  data.
`,
  );
});

test('beside mostly long names, the words of a short one go below it too', () => {
  const gap = { reason: 'no-fixture', fix: 'Add one.', requirements: ['a/b/1'] };
  const long = { ...gap, words: 'the fixture has no active key of another partner' };
  const text = renderCheckup(
    { ...sample, gaps: [long, { ...gap, words: 'no revoked key' }, long] },
    { color: false, width: 80 },
  );
  assert.match(text, /^ {2}\? no revoked key\n {6}1 requirement: a\/b\/1\n {6}→ Add one\.$/m);
});

test('a checklist without problems counts the requirements that a run cannot judge', () => {
  const last = (gaps: Checkup['gaps']) =>
    renderCheckup(
      { ...sample, verdict: 'ok', gaps, plan: { requests: 9, waitMs: 0 } },
      { color: false, width: 100 },
    );
  const gap = { reason: 'no-fixture', words: 'w', fix: 'm' };
  assert.match(last([]), /^ready for verify: [^]*no waiting for known rate limits$/m);
  assert.match(
    last([
      { ...gap, requirements: ['a/b/1', 'a/b/2'] },
      { ...gap, requirements: ['a/b/2'] },
    ]),
    /^ready for verify, but it cannot check 2 requirements: /m,
  );
});

test('a checklist without problems ends with the three additions that verify most', () => {
  const gaps = [1, 4, 2, 3].map((count) => ({
    reason: 'no-fixture',
    words: `w${count}`,
    fix: `Add ${count}.`,
    requirements: Array.from({ length: count }, (_, at) => `a/b/${at}`),
  }));
  const hook = { reason: 'no-state-hook', words: 'h', fix: 'Give it.', requirements: Array(9).fill('a/b/c') };
  const text = renderCheckup(
    { ...sample, verdict: 'ok', gaps: [hook, ...gaps] },
    { color: false, width: 80 },
  );
  const end = '  + 4 requirements  Add 4.\n  + 3 requirements  Add 3.\n  + 2 requirements  Add 2.\n';
  assert.ok(text.endsWith(`To verify more, change the fixture:\n${end}`), text);
});
