import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderPlan, type Plan } from './plan.ts';

const plan: Plan = {
  requests: 1,
  durationMs: 0,
  load: [{ endpoint: 'user-status', counted: 1, keys: 1 }],
};
const lookups = { endpoint: 'user-status', counted: 1595, keys: 2, limit: { most: 60, windowMs: 3000 } };

/** Plans, and what people read of them. */
const texts: readonly (readonly [what: string, plan: Plan, text: string])[] = [
  [
    'the least',
    plan,
    `plan: about 1 request
  user-status: 1 that count; no limit is stated; it is learned from the first 429
`,
  ],
  [
    'waits',
    { ...plan, requests: 1808, durationMs: 125_200, load: [lookups, { ...lookups, keys: 1 }] },
    `plan: about 1,808 requests, about 2 min 5 s of waiting beside what the target takes
  user-status: 1,595 that count; 60 pass in 3.0 s, one is kept back, 2 keys
  user-status: 1,595 that count; 60 pass in 3.0 s, one is kept back, 1 key
`,
  ],
  [
    'a cut',
    { ...plan, load: [], cutTo: 12, because: '--max-duration' },
    `plan: about 1 request
  to fit --max-duration, a requirement gets at most 12 inputs: one of everything comes first, then depth; the limiters come last
`,
  ],
  [
    'the deepest cut',
    { ...plan, load: [], cutTo: 1, because: '--max-requests' },
    `plan: about 1 request
  to fit --max-requests, a requirement gets one input: one of everything comes first, then depth; the limiters come last
`,
  ],
];

for (const [what, given, text] of texts)
  test(`the plan: ${what}`, () => assert.equal(renderPlan(given), text));
