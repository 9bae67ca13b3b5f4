import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { JournalLine } from './journal.ts';
import { scorecardFormats, scorecardOf } from './scorecard.ts';
import { START } from './testing/session.ts';

/** What a test says of a request and its answer; the rest is made up. */
type Sample = Partial<Omit<JournalLine, 'id'>> & { readonly hasNoKey?: boolean };

/** Entries of one caller who asks for one user, or for what the samples say; `at` counts from noon. */
function sampleEntries(samples: readonly Sample[]): readonly JournalLine[] {
  return samples.map(({ at = 0, hasNoKey = false, ...sample }, index) => ({
    id: index + 1,
    at: START + at,
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

/** The same sample at each of these times in ms. */
const each = (times: readonly number[], sample: Sample): readonly Sample[] =>
  times.map((at) => ({ ...sample, at }));

/** `count` times, `step` ms apart, the first at `from`. */
const every = (step: number, count: number, from = 0): readonly number[] =>
  Array.from({ length: count }, (_, index) => from + index * step);

/** `kept`, `notSeen`, or the ids of the entries that break the rule. */
function grade(id: string, samples: readonly Sample[]): string {
  const { outcome } = scorecardOf(sampleEntries(samples)).find(({ rule }) => rule.id === id)!;
  return outcome.kind === 'broken' ? outcome.entries.map((entry) => entry.id).join() : outcome.kind;
}

const limited: Sample = { status: 429, retryAfterSeconds: 3 };
const again = (at: number, more: Sample = {}): Sample => ({ ...limited, at, ...more });
const user = (number: number) => `/api/ib/user-status?user_id=${number}`;
const others = (count: number) =>
  every(10, count, 300).map((at, index) => again(at, { target: user(index) }));
const asked = (...times: readonly number[]) => each(times, limited);
const later: Sample = { at: 9000, target: user(2) };
/** A 429 at a time of the mock's clock and of one that nobody sets, and the next one. */
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

/** By rule: what is shown, by which requests, and their grade. */
const graded: Readonly<Record<string, readonly (readonly [string, readonly Sample[], string])[]>> = {
  'retry-after': [
    ['without a 429, nothing is seen', [{}, {}], 'notSeen'],
    ['a wait of so many seconds keeps it', [limited, { at: 3000 }], 'kept'],
    ['less what clocks are coarse', [limited, again(2900)], 'kept'],
    ['the same request before its time breaks it', [limited, again(2899)], '2'],
    ['even when the next one waits', [limited, again(251), { at: 3000 }], '2'],
    [
      'what may have been in flight does not',
      [limited, ...each(every(10, 25), limited), again(250)],
      'notSeen',
    ],
    ...Object.entries({
      user: { target: user(2) },
      endpoint: { target: '/api/ib/deposit-check?reference_id=1' },
      ...strangers,
    }).map(
      ([what, other]) => [`another ${what} is no retry`, [limited, again(1000, other)], 'notSeen'] as const,
    ),
    ['an answer but 429 shows that the limit was lifted', [limited, { at: 1000 }], 'notSeen'],
    ['unless the 429 was by chaos', [again(0, { chaos: '429' }), { at: 1000 }], '2'],
    ...[{ chaos: 'reset' }, { chaos: 'timeout' }, { chaos: 'truncate' }, { chaos: 'slow:900ms' }].map(
      (lost) => [`${lost.chaos} hides a 429`, [again(0, lost), again(1000, lost)], 'notSeen'] as const,
    ),
    ['so does asking for it', [again(0, { preferred: 429 }), again(1000, { preferred: 429 })], 'notSeen'],
    ['workers explain other users', [limited, ...others(32)], 'notSeen'],
    ['but not one more', [limited, ...others(33)], every(1, 33, 2).join()],
    ['nor later', [limited, ...others(32), again(3000, { target: user(99) })], 'notSeen'],
    ['what was before the clock was put back is void', [again(5000), { at: 0 }, again(6000)], 'notSeen'],
    ['asking again at once and giving up is no wait', [...asked(0, 5, 10), later], 'notSeen'],
    ['nor is giving up', [limited], 'notSeen'],
    ['a wait behind asking again is one', [...asked(0, 5), again(400), later], '3'],
    ['a wait behind workers is one', [limited, again(5, { target: user(3) }), later], 'kept'],
    ['a frozen clock, and waited by the other', clocks(0, 3000), 'kept'],
    ['a frozen clock, and not waited', clocks(0, 1000), '2'],
    ['a clock that was moved', clocks(3000, 300), 'kept'],
    ['a scaled clock, and in flight', clocks(2000, 20), 'notSeen'],
  ],
  'back-off': [
    ['two in a row show nothing', hours([0, 1000]), 'notSeen'],
    ['a growing gap keeps it', hours(after(300, 600)), 'kept'],
    ['and so do gaps that jitter', hours(after(900, 400, 3000, 1000, 9000, 2000)), 'kept'],
    ['five at even gaps do not break it yet', hours(every(500, 5)), 'notSeen'],
    ['six do', hours(every(500, 6)), '1,2,3,4,5,6'],
    ['also at gaps that alternate', hours(after(500, 900, 500, 900, 500)), '1,2,3,4,5,6'],
    ['waiting as long as Retry-After says keeps it at any gap', each(every(2900, 9), limited), 'kept'],
    [
      'a gap of half a minute may be the longest of a client',
      each(every(30_000, 9), { status: 429 }),
      'kept',
    ],
    ['a shorter one may not', each(every(29_000, 9), { status: 429 }), every(1, 9, 1).join()],
    ['many at once are one try', hours(every(1, 200)), 'notSeen'],
    ['a retry every 100 ms is seen', hours(every(100, 40)), every(3, 14, 1).join()],
    [
      'another answer ends a run',
      [...hours(every(500, 4)), { at: 2000 }, ...hours(every(500, 4, 2500))],
      'notSeen',
    ],
    [
      'other requests do not belong to it',
      [...hours(every(500, 4)), ...each(every(500, 4, 2500), { ...hour, target: user(2) })],
      'notSeen',
    ],
    ['a run that chaos hid shows nothing', each(every(500, 9), { ...hour, chaos: 'timeout' }), 'notSeen'],
  ],
  polling: [
    ['404, then 200, then nothing keeps it', [pending, executed], 'kept'],
    ['without a 200, nothing is seen', [pending, pending], 'notSeen'],
    ['without a 404, nothing is seen', looks(...every(1000, 50)), 'notSeen'],
    ['users are not deposits', [{ status: 404 }, { at: 1 }], 'notSeen'],
    ['two more looks are let pass', [pending, executed, ...looks(2000, 3000)], 'kept'],
    ['three are polling', [pending, executed, ...lookedAgain], '3,4,5'],
    ['also in another spelling', [pending, executed, ...each([2000, 3000, 4000], respelled)], '3,4,5'],
    [
      'what may have been in flight is let pass',
      [pending, executed, ...looks(...every(10, 25, 1000), 1250)],
      'kept',
    ],
    ['a 200 that chaos hid ends nothing', [pending, { ...executed, chaos: 'reset' }, ...lookedAgain], 'kept'],
    [
      'a deposit that is put back is polled anew',
      [pending, executed, ...looks(2000, 2500), { ...pending, at: 3000 }, ...looks(4000, 5000, 6000)],
      'kept',
    ],
    ...Object.entries({ deposit: { target: `${target}0` }, ...strangers }).map(
      ([what, other]) =>
        [
          `another ${what} is another matter`,
          [pending, executed, ...lookedAgain.map((one) => ({ ...one, ...other }))],
          'kept',
        ] as const,
    ),
  ],
  'poll-pace': [
    ['one 404 shows nothing', [pending, executed], 'notSeen'],
    ['pauses keep it', each(every(100, 50), pending), 'kept'],
    ['thirty-two hasty polls are let pass', each(every(99, 33), pending), 'kept'],
    ['one more is not', each(every(99, 34), pending), every(1, 33, 2).join()],
    [
      'another answer ends a run',
      [...each(every(9, 33), pending), executed, ...each(every(9, 33, 2000), pending)],
      'kept',
    ],
  ],
  'refused-request': [
    ['without a 400, nothing is seen', [{}], 'notSeen'],
    ['ten more are let pass', each(every(500, 11), { status: 400 }), 'kept'],
    ['eleven are not', each(every(500, 12), { status: 400 }), every(1, 11, 2).join()],
    ['other requests are', every(500, 12).map((at) => ({ at, status: 400, target: user(at) })), 'kept'],
  ],
  'refused-key': [
    ['without a 401, nothing is seen', [{}, {}], 'notSeen'],
    ['nor without a key', each(every(500, 50), { ...refused, hasNoKey: true }), 'notSeen'],
    ['ten more are let pass', each(every(500, 11), refused), 'kept'],
    ['eleven are hammering', each(every(500, 12), refused), '2,3,4,5,6,7,8,9,10,11,12'],
    [
      'a key that is let in begins anew',
      between({ status: 404, target: '/api/ib/deposit-check?reference_id=1' }),
      'kept',
    ],
    ['405 says nothing', between({ status: 405 }), allRefused],
    ['503 says nothing', between({ status: 503 }), allRefused],
    ['another path says nothing', between({ status: 404, target: '/' }), allRefused],
  ],
  'key-out-of-url': [
    ['nothing is seen', [], 'notSeen'],
    ['a URL without a key keeps it', [{}], 'kept'],
    ['a key breaks it, on any path', [{}, { target: '/x', keyInTarget: true, status: 404 }], '2'],
  ],
  'get-only': [
    [
      'OPTIONS and other paths do not count',
      [{ method: 'OPTIONS' }, { method: 'POST', target: '/' }],
      'notSeen',
    ],
    ['nor do they break it', [{}, { method: 'OPTIONS' }], 'kept'],
    ['another method does', [{}, { method: 'POST', status: 405 }, { method: 'HEAD' }], '2,3'],
    ['also behind a gateway', [{ method: 'POST', target: 'http://x/gateway/api/ib/user-status?a' }], '1'],
  ],
  authorization: [
    ['without a request, nothing is seen', [], 'notSeen'],
    ['nor on other paths', [{ ...refused, hasNoKey: true, target: '/' }], 'notSeen'],
    ['no request with a key breaks it', [{ ...refused, hasNoKey: true }], '1'],
    ['one with a key keeps it', [{ ...refused, hasNoKey: true }, {}], 'kept'],
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

test('the scorecard to read', () => {
  assert.equal(
    scorecardText(card),
    `kept      Honoured Retry-After (Errors, 429)
not seen  Backed off where 429 came again and again (Errors, 429)
          needs the same request refused with 429 three times in a row, or six times at even gaps
BROKEN    Stopped polling after a deposit was EXECUTED (States and transitions)
          #4 2025-01-15T12:00:02.000Z GET ${POLLED} → 200 (a test)
          #5 2025-01-15T12:00:03.000Z GET ${POLLED} → 200 (a test)
          #6 2025-01-15T12:00:04.000Z GET ${POLLED} → 200 (a test)
          #7 2025-01-15T12:00:05.000Z GET ${POLLED} → 200 (a test)
          #8 2025-01-15T12:00:06.000Z GET ${POLLED} → 200 (a test)
          and 2 more
          → stop at the first 200 and keep its result: an EXECUTED deposit stays EXECUTED
not seen  Paused between polls of a deposit (States and transitions)
          needs a deposit that was answered 404 twice in a row
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

describe('whatever a client sent', () => {
  test('nothing of it is lost', () => {
    const samples = [{ method: 'POST', target: `"<&amp;]]>'\0\ud800` }];
    const shown = `POST ${endpoint}?"<&amp;]]>'\\u{0}\\u{d800} → 200`;
    assert.ok(scorecardText(cardOf(samples)).includes(shown));
  });
  test('the text has no character that a terminal acts on, and the lines that it should', () => {
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
  test('a long target is cut', () => {
    const long = scorecardText(cardOf([{ method: 'POST', target: '💶'.repeat(9000) }]));
    assert.ok(long.includes('💶… →') && long.length < 2000);
  });
});
