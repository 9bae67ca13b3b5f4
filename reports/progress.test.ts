import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Plan, Progress } from '../schemas/plan.ts';
import { renderPlan, renderProgress, renderWaiting } from './progress.ts';
import { hostileText } from './testing/records.ts';
import { columns } from './text.ts';

const progress: Progress = {
  done: 12,
  total: 68,
  doing: 'invalid-uuid/user-status/malformed',
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
    fc.property(hostileText, fc.integer({ min: 20, max: 200 }), (doing, width) => {
      const line = renderProgress({ ...progress, doing }, width);
      assert.ok(columns(line) <= width);
      assert.doesNotMatch(line, /\p{C}/u);
    }),
  );
});

const plan: Plan = {
  requests: 1,
  durationMs: 0,
  strength: 2,
  coverage: { pairs: [2134, 2134], triples: [0, 23_304] },
  keys: 1,
  load: [],
  leftOut: [],
  notCompared: [],
  others: [],
  needs: [],
  wholeMs: 0,
};
const lookups: Plan['load'][number] = {
  endpoint: 'user-status',
  counted: 1595,
  limit: { most: 60, windowMs: 3000 },
  limitedMs: 3000,
};
const strength = 'strength 2: all 2,134 pairs, 0 of 23,304 triples';

const texts: readonly (readonly [what: string, plan: Plan, text: string])[] = [
  [
    'without a limit',
    { ...plan, load: [{ endpoint: 'user-status', counted: 1, limitedMs: 0 }] },
    `plan: about 1 request, ${strength}
  user-status: 1 counted request; no limit stated; it is found with the first 429
`,
  ],
  [
    'with waits',
    { ...plan, requests: 1808, durationMs: 125_200, keys: 2, load: [lookups] },
    `plan: about 1,808 requests, 2 min 5 s of waiting, ${strength}
  user-status: 1,595 counted requests; 60 pass in 3.0 s, 2 keys; limited for 3.0 s after the run
`,
  ],
  [
    'of the rest of a run',
    { ...plan, requests: 1808, sent: 800, load: [lookups] },
    `new plan after 800 requests: about 1,808 requests, ${strength}
  user-status: 1,595 more counted requests; 60 pass in 3.0 s, 1 key; limited for 3.0 s after the run
`,
  ],
  [
    'cut by --max-requests',
    {
      ...plan,
      because: '--max-requests',
      leftOut: ['valid/user-status/member', 'valid/user-status/shape'],
      needs: [{ reaches: 'strength 2', durationMs: 0, requests: 1400 }],
    },
    `plan: about 1 request, ${strength}
  skipped for lack of time: valid/user-status/member, valid/user-status/shape
  --max-requests cuts this run: --max-requests 1400 reaches strength 2
`,
  ],
  [
    'with other bounds and keys',
    {
      ...plan,
      notCompared: ['user-status', 'deposit-check'],
      because: '--max-duration',
      others: [1, 2].flatMap((keys) => [
        { keys, maxDurationMs: 60_000, requests: 1, durationMs: 0, strength: 0 },
        { keys, maxDurationMs: Infinity, requests: 9, durationMs: 7_200_000, strength: keys },
      ]),
      needs: [
        { reaches: 'strength 1', durationMs: 660_000, requests: 100 },
        { reaches: 'everything', durationMs: 7_200_000, requests: 900 },
      ],
    },
    `plan: about 1 request, ${strength}
  not compared for lack of time: the stated limit of user-status and deposit-check
  --max-duration 1m          no bound
  1 key          strength 0  strength 1 in 120 min 0 s
  2 keys         strength 0  strength 2 in 120 min 0 s
  --max-duration cuts this run: --max-duration 11m reaches strength 1; --max-duration 2h is enough for everything
`,
  ],
];

for (const [what, given, text] of texts)
  test(`the plan ${what}`, () => assert.equal(renderPlan(given), text));

test('a wait', () => {
  const waiting = { endpoint: 'user-status', waitMs: 251_500, why: 'Retry-After 297 s' } as const;
  assert.equal(renderWaiting(waiting), 'waiting 4:12 for user-status (Retry-After 297 s)');
  assert.equal(renderWaiting({ waitMs: 1, why: 'a rest' }), 'waiting 0:01 (a rest)');
});
