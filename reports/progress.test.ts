import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Plan, Progress } from '../schemas/plan.ts';
import { renderPlan, renderProgress } from './progress.ts';
import { hostileText } from './testing/records.ts';
import { columns } from './text.ts';

const progress: Progress = {
  done: 12,
  total: 68,
  requirement: 'invalid-uuid/user-status/malformed',
  requests: 1234,
  elapsedMs: 4210,
  maxRequests: Number.POSITIVE_INFINITY,
  maxDurationMs: 300_000,
};

const lines: readonly (readonly [width: number, line: string])[] = [
  [110, '[12/68] invalid-uuid/user-status/malformed  1,234 requests, 293/s  4.2 s of 5 min 0 s'],
  [80, '[12/68] invalid-uuid/user-status/mal…  1,234 requests, 293/s  4.2 s of 5 min 0 s'],
  [55, '[12/68]  1,234 requests, 293/s  4.2 s of 5 min 0 s'],
  [48, '[12/68]  1,234 requests  4.2 s of 5 min 0 s'],
  [40, '[12/68]  1,234 requests  4.2 s of 5 min…'],
];

for (const [width, line] of lines) {
  test(`progress on ${width} columns`, () => assert.equal(renderProgress(progress, width), line));
}

test('progress with other limits', () => {
  const bounds = { maxRequests: 5000, maxDurationMs: Number.POSITIVE_INFINITY };
  assert.equal(
    renderProgress({ ...progress, ...bounds, requests: 1 }, 120),
    '[12/68] invalid-uuid/user-status/malformed  1 of 5,000 requests, 0/s  4.2 s',
  );
});

test('the rate is shown after a second', () => {
  const early = renderProgress({ ...progress, elapsedMs: 900 }, 120);
  assert.equal(early, '[12/68] invalid-uuid/user-status/malformed  1,234 requests  0.9 s of 5 min 0 s');
});

test('progress is one printable line within the width', () => {
  fc.assert(
    fc.property(hostileText, fc.integer({ min: 20, max: 200 }), (requirement, width) => {
      const line = renderProgress({ ...progress, requirement }, width);
      assert.ok(columns(line) <= width);
      assert.doesNotMatch(line, /\p{C}/u);
    }),
  );
});

const plan: Plan = {
  requests: 1,
  durationMs: 0,
  load: [{ endpoint: 'user-status', counted: 1, keys: 1 }],
  leftOut: [],
  notCompared: [],
};
const lookups: Plan['load'][number] = {
  endpoint: 'user-status',
  counted: 1595,
  keys: 2,
  limit: { most: 60, windowMs: 3000 },
};

const texts: readonly (readonly [what: string, plan: Plan, text: string])[] = [
  [
    'a minimal plan',
    plan,
    `plan: about 1 request
  user-status: 1 counted request; no limit stated; it is found with the first 429
`,
  ],
  [
    'waits',
    { ...plan, requests: 1808, durationMs: 125_200, load: [lookups, { ...lookups, keys: 1 }] },
    `plan: about 1,808 requests, plus about 2 min 5 s of waiting
  user-status: 1,595 counted requests; 60 pass in 3.0 s (one is reserved), 2 keys
  user-status: 1,595 counted requests; 60 pass in 3.0 s (one is reserved), 1 key
`,
  ],
  [
    'the strength',
    { ...plan, load: [], reached: { strength: 1, coverage: { pairs: [1804, 2134], triples: [0, 23_304] } } },
    `plan: about 1 request
  strength 1: 1,804 of 2,134 pairs, 0 of 23,304 triples
`,
  ],
  [
    'a cut',
    { ...plan, load: [], cutTo: 12, because: '--max-duration' },
    `plan: about 1 request
  --max-duration allows at most 12 cases per endpoint: every level first, then pairs, then triples; rate limits last
`,
  ],
  [
    'all cuts',
    {
      ...plan,
      load: [],
      cutTo: 1,
      because: '--max-requests',
      leftOut: ['valid/user-status/member', 'valid/user-status/shape'],
      notCompared: ['user-status', 'deposit-check'],
      wholeMs: 7_200_000,
    },
    `plan: about 1 request
  --max-requests allows at most 1 case per endpoint: every level first, then pairs, then triples; rate limits last
  not compared for lack of time: the stated limit of user-status and deposit-check
  skipped for lack of time: valid/user-status/member, valid/user-status/shape
  a full run waits about 120 min 0 s: raise --max-duration, or add keys
`,
  ],
];

for (const [what, given, text] of texts)
  test(`the plan: ${what}`, () => assert.equal(renderPlan(given), text));
