import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { JournalLine } from './journal.ts';
import { scorecardFormats, scorecardOf } from './scorecard.ts';
import { START } from './testing/session.ts';

/** The relevant values of an entry; the others have defaults. */
type Sample = Partial<Omit<JournalLine, 'id'>> & { readonly hasNoKey?: boolean };

/** Creates entries of one caller who looks up one user, unless the samples differ; `at` is in ms from noon. */
function sampleEntries(samples: readonly Sample[]): readonly JournalLine[] {
  return samples.map(({ at = 0, hasNoKey = false, ...sample }, index) => ({
    id: index + 1,
    at: START + at,
    elapsedMs: at,
    world: '',
    ...(hasNoKey ? {} : { credentialDigest: 'c0ffee' }),
    method: 'GET',
    target: '/api/ib/user-status?user_id=11111111-1111-4111-8111-111111111111',
    status: 200,
    reason: 'a test',
    keyInTarget: false,
    ...sample,
  }));
}

/** Repeats a sample at these times (ms). */
const each = (times: readonly number[], sample: Sample): readonly Sample[] =>
  times.map((at) => ({ ...sample, at }));

/** `count` times, `step` ms apart, from `from` on. */
const every = (step: number, count: number, from = 0): readonly number[] =>
  Array.from({ length: count }, (_, index) => from + index * step);

/** Returns `kept`, `notSeen`, or the ids of the entries that break the rule. */
function grade(id: string, samples: readonly Sample[]): string {
  const { outcome } = scorecardOf(sampleEntries(samples)).find(({ rule }) => rule.id === id)!;
  return outcome.kind === 'broken' ? outcome.entries.map((entry) => entry.id).join() : outcome.kind;
}

const limited: Sample = { status: 429, retryAfterSeconds: 3 };
const again = (at: number, more: Sample = {}): Sample => ({ ...limited, at, ...more });
const user = (number: number) => `/api/ib/user-status?user_id=${number}`;
const others = (count: number) =>
  every(10, count, 300).map((at, index) => again(at, { target: user(index) }));
const repeats = (...times: readonly number[]) => each(times, limited);
const later: Sample = { at: 9000, target: user(2) };
/** Two 429s, with times of the mock's clock and of the monotonic clock. */
const clocks = (at: number, elapsedMs: number) => [again(0, { elapsedMs: 0 }), again(at, { elapsedMs })];

const hour: Sample = { ...limited, retryAfterSeconds: 60 };
const hours = (times: readonly number[]) => each(times, hour);
const after = (...gaps: readonly number[]) =>
  gaps.reduce<readonly number[]>((times, gap) => [...times, (times.at(-1) ?? 0) + gap], [0]);

const target = '/api/ib/deposit-check?reference_id=77777777-7777-4777-8777-77777777777A';
const pending: Sample = { target, status: 404 };
const executed: Sample = { target, status: 200, at: 1000 };
const looks = (...times: readonly number[]) => each(times, executed);
const respelled = { ...executed, target: `${target.toLowerCase().replace('-7777-', '-%377%377-')}&x=1` };
const lookedAgain = looks(2000, 3000, 4000);

const refused: Sample = { status: 401 };
const between = (sample: Sample) => [
  ...each(every(500, 8), refused),
  { ...sample, at: 4000 },
  ...each(every(500, 8, 4500), refused),
];
const allRefused = [...every(1, 7, 2), ...every(1, 8, 10)].join();
const strangers: Readonly<Record<string, Sample>> = {
  credential: { credentialDigest: 'beef' },
  world: { world: 'b' },
};

/** Cases by rule: description, requests and grade. */
const graded: Readonly<Record<string, readonly (readonly [string, readonly Sample[], string])[]>> = {
  'retry-after': [
    ['no 429', [{}, {}], 'notSeen'],
    ['a wait of Retry-After', [limited, { at: 3000 }], 'kept'],
    ['a wait within the clock tolerance', [limited, again(2900)], 'kept'],
    ['the same request too early', [limited, again(2899)], '2'],
    ['a request too early, then a wait', [limited, again(251), { at: 3000 }], '2'],
    ['requests in flight', [limited, ...each(every(10, 25), limited), again(250)], 'notSeen'],
    ...Object.entries({
      user: { target: user(2) },
      endpoint: { target: '/api/ib/deposit-check?reference_id=1' },
      ...strangers,
    }).map(([what, other]) => [`another ${what}`, [limited, again(1000, other)], 'notSeen'] as const),
    ['another answer than 429 ends the limit', [limited, { at: 1000 }], 'notSeen'],
    ['another answer after a 429 by chaos', [again(0, { chaos: '429' }), { at: 1000 }], '2'],
    ...[{ chaos: 'reset' }, { chaos: 'timeout' }, { chaos: 'truncate' }, { chaos: 'slow:900ms' }].map(
      (lost) => [`a 429 lost by ${lost.chaos}`, [again(0, lost), again(1000, lost)], 'notSeen'] as const,
    ),
    ['a 429 requested by Prefer', [again(0, { preferred: 429 }), again(1000, { preferred: 429 })], 'notSeen'],
    ['other users by parallel workers', [limited, ...others(32)], 'notSeen'],
    ['more requests than workers', [limited, ...others(33)], every(1, 33, 2).join()],
    ['workers, then a later request', [limited, ...others(32), again(3000, { target: user(99) })], 'notSeen'],
    ['a 429 before the clock was set back', [again(5000), { at: 0 }, again(6000)], 'notSeen'],
    ['immediate repeats, then a later request', [...repeats(0, 5, 10), later], 'notSeen'],
    ['no request after the 429', [limited], 'notSeen'],
    ['a request too early, then a wait for its 429', [...repeats(0, 5), again(400), later], '3'],
    ['a worker, then a wait', [limited, again(5, { target: user(3) }), later], 'kept'],
    ['a frozen clock, with a wait in real time', clocks(0, 3000), 'kept'],
    ['a frozen clock, without a wait', clocks(0, 1000), '2'],
    ['an advanced clock', clocks(3000, 300), 'kept'],
    ['a scaled clock, with a request in flight', clocks(2000, 20), 'notSeen'],
  ],
  'back-off': [
    ['two in a row', hours([0, 1000]), 'notSeen'],
    ['a growing wait', hours(after(300, 600)), 'kept'],
    ['waits with jitter', hours(after(900, 400, 3000, 1000, 9000, 2000)), 'kept'],
    ['five with even waits', hours(every(500, 5)), 'notSeen'],
    ['six with even waits', hours(every(500, 6)), '1,2,3,4,5,6'],
    ['alternating waits', hours(after(500, 900, 500, 900, 500)), '1,2,3,4,5,6'],
    ['even waits of Retry-After', each(every(2900, 9), limited), 'kept'],
    [
      'even waits of 30 s, which may be the maximum of the client',
      each(every(30_000, 9), { status: 429 }),
      'kept',
    ],
    ['even waits of 29 s', each(every(29_000, 9), { status: 429 }), every(1, 9, 1).join()],
    ['many at once are one attempt', hours(every(1, 200)), 'notSeen'],
    ['a retry every 100 ms', hours(every(100, 40)), every(3, 14, 1).join()],
    [
      'another answer ends a run',
      [...hours(every(500, 4)), { at: 2000 }, ...hours(every(500, 4, 2500))],
      'notSeen',
    ],
    [
      'another request is another run',
      [...hours(every(500, 4)), ...each(every(500, 4, 2500), { ...hour, target: user(2) })],
      'notSeen',
    ],
    ['a run lost by chaos', each(every(500, 9), { ...hour, chaos: 'timeout' }), 'notSeen'],
  ],
  polling: [
    ['404, then 200', [pending, executed], 'kept'],
    ['no 200', [pending, pending], 'notSeen'],
    ['no 404', looks(...every(1000, 50)), 'notSeen'],
    ['users instead of deposits', [{ status: 404 }, { at: 1 }], 'notSeen'],
    ['two more lookups', [pending, executed, ...looks(2000, 3000)], 'kept'],
    ['three more lookups', [pending, executed, ...lookedAgain], '3,4,5'],
    [
      'three more lookups in another spelling',
      [pending, executed, ...each([2000, 3000, 4000], respelled)],
      '3,4,5',
    ],
    ['lookups in flight', [pending, executed, ...looks(...every(10, 25, 1000), 1250)], 'kept'],
    ['a 200 lost by chaos', [pending, { ...executed, chaos: 'reset' }, ...lookedAgain], 'kept'],
    [
      'a deposit that is pending again',
      [pending, executed, ...looks(2000, 2500), { ...pending, at: 3000 }, ...looks(4000, 5000, 6000)],
      'kept',
    ],
    ...Object.entries({ deposit: { target: `${target}0` }, ...strangers }).map(
      ([what, other]) =>
        [
          `three more lookups with another ${what}`,
          [pending, executed, ...lookedAgain.map((one) => ({ ...one, ...other }))],
          'kept',
        ] as const,
    ),
  ],
  'poll-pace': [
    ['one 404', [pending, executed], 'notSeen'],
    ['polls with pauses', each(every(100, 50), pending), 'kept'],
    ['32 hasty polls', each(every(99, 33), pending), 'kept'],
    ['33 hasty polls', each(every(99, 34), pending), every(1, 33, 2).join()],
    [
      'another answer ends a run',
      [...each(every(9, 33), pending), executed, ...each(every(9, 33, 2000), pending)],
      'kept',
    ],
  ],
  'refused-request': [
    ['no 400', [{}], 'notSeen'],
    ['ten more', each(every(500, 11), { status: 400 }), 'kept'],
    ['eleven more', each(every(500, 12), { status: 400 }), every(1, 11, 2).join()],
    ['other requests', every(500, 12).map((at) => ({ at, status: 400, target: user(at) })), 'kept'],
  ],
  'refused-key': [
    ['no 401', [{}, {}], 'notSeen'],
    ['requests without a key', each(every(500, 50), { ...refused, hasNoKey: true }), 'notSeen'],
    ['ten more', each(every(500, 11), refused), 'kept'],
    ['eleven more with the key', each(every(500, 12), refused), '2,3,4,5,6,7,8,9,10,11,12'],
    [
      'an accepted key starts a new run',
      between({ status: 404, target: '/api/ib/deposit-check?reference_id=1' }),
      'kept',
    ],
    ['405 in between', between({ status: 405 }), allRefused],
    ['503 in between', between({ status: 503 }), allRefused],
    ['another path in between', between({ status: 404, target: '/' }), allRefused],
  ],
  'key-out-of-url': [
    ['no requests at all', [], 'notSeen'],
    ['a URL without a key', [{}], 'kept'],
    ['a key on another path', [{}, { target: '/x', keyInTarget: true, status: 404 }], '2'],
  ],
  'get-only': [
    ['only OPTIONS and other paths', [{ method: 'OPTIONS' }, { method: 'POST', target: '/' }], 'notSeen'],
    ['GET and OPTIONS', [{}, { method: 'OPTIONS' }], 'kept'],
    ['POST and HEAD', [{}, { method: 'POST', status: 405 }, { method: 'HEAD' }], '2,3'],
    ['POST to a gateway', [{ method: 'POST', target: 'http://x/gateway/api/ib/user-status?a' }], '1'],
  ],
  authorization: [
    ['no request', [], 'notSeen'],
    ['a request without a key to another path', [{ ...refused, hasNoKey: true, target: '/' }], 'notSeen'],
    ['only requests without a key', [{ ...refused, hasNoKey: true }], '1'],
    ['one request with a key', [{ ...refused, hasNoKey: true }, {}], 'kept'],
  ],
};

for (const [id, cases] of Object.entries(graded))
  describe(id, () => {
    for (const [what, samples, expected] of cases)
      test(`${what}: ${expected}`, () => assert.equal(grade(id, samples), expected));
  });

const scorecardText = scorecardFormats.text.write;
const POLLED = '/api/ib/deposit-check?reference_id=77777777-7777-4777-8777-777777777777';
const card = scorecardOf(
  sampleEntries([
    { status: 429, retryAfterSeconds: 3, reason: '429: 61 of 60 in 60 s' },
    { target: POLLED, status: 404 },
    ...each(every(1000, 8, 1000), { target: POLLED }),
    { target: '/api/ib/user-status?key=pk_live_1', keyInTarget: true, at: 9000 },
  ]),
);

test('the scorecard as text', () => {
  assert.equal(
    scorecardText(card),
    `kept      Honoured Retry-After (Errors, 429)
not seen  Backed off after repeated 429s (Errors, 429)
          needs the same request refused with 429 three times in a row, or six times at even intervals
BROKEN    Stopped polling after a deposit was EXECUTED (States and transitions)
          #4 2025-01-15T12:00:02.000Z GET ${POLLED} → 200 (a test)
          #5 2025-01-15T12:00:03.000Z GET ${POLLED} → 200 (a test)
          #6 2025-01-15T12:00:04.000Z GET ${POLLED} → 200 (a test)
          #7 2025-01-15T12:00:05.000Z GET ${POLLED} → 200 (a test)
          #8 2025-01-15T12:00:06.000Z GET ${POLLED} → 200 (a test)
          and 2 more
          → stop at the first 200 and keep its result: an EXECUTED deposit stays EXECUTED
not seen  Paused between polls of a deposit (States and transitions)
          needs a deposit with two 404s in a row
not seen  Did not repeat a request that was refused as invalid (Errors, 400)
          needs a 400
not seen  Did not retry with a refused key (Authentication 3)
          needs a 401 to a request with a key
BROKEN    Kept the key out of the URL (Authentication 1)
          #11 2025-01-15T12:00:09.000Z GET /api/ib/user-status?… → 200 (a test)
          → send the key only in the Authorization header, and replace it: URLs are logged
kept      Sent the Authorization header (Authentication 1)
kept      Sent only GET requests (Endpoints)
`,
  );
});

const special = [']]>', '&amp;', '"', '\0', '\x1b[2J', '\r\n', '\ud800', '\u2028', '\ufffe'];
const piece = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...special));
const hostile = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const hostileSamples = fc.array(
  fc.record<Sample>({
    target: hostile,
    method: hostile,
    reason: hostile,
    status: fc.integer(),
    keyInTarget: fc.boolean(),
    at: fc.oneof(fc.integer({ min: 0, max: 10_000 }), fc.constantFrom(Infinity, -1e300, Number.NaN)),
  }),
  { minLength: 1, maxLength: 8 },
);
const endpoint = '/api/ib/user-status';
const cardOf = (samples: readonly Sample[]) =>
  scorecardOf(sampleEntries(samples.map((one) => ({ ...one, target: `${endpoint}?${one.target}` }))));

describe('requests with any text', () => {
  test('the text escapes it and drops nothing', () => {
    const samples = [{ method: 'POST', target: `"<&amp;]]>'\0\ud800` }];
    const shown = `POST ${endpoint}?"<&amp;]]>'\\u{0}\\u{d800} → 200`;
    assert.ok(scorecardText(cardOf(samples)).includes(shown));
  });
  test('each line of the text has the right form, without control characters', () => {
    fc.assert(
      fc.property(hostileSamples, (samples) => {
        const text = scorecardText(cardOf(samples));
        assert.match(text.replaceAll('\n', ''), /^[^\p{Cc}\p{Cf}\p{Cs}]*$/u);
        for (const line of text.trimEnd().split('\n'))
          assert.match(line, /^(?:kept|BROKEN|not seen) |^ {10}\S/);
      }),
      { seed: 7, numRuns: 1000 },
    );
  });
  test('a long target is truncated', () => {
    const long = scorecardText(cardOf([{ method: 'POST', target: '💶'.repeat(9000) }]));
    assert.ok(long.includes('💶… →') && long.length < 2000);
  });
});
