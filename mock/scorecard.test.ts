import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { JournalEntry } from './journal.ts';
import { scorecardFormats, scorecardOf } from './scorecard.ts';
import { START } from './testing/session.ts';

/** What a test says of a request and its answer; the rest is made up. */
type Sample = Partial<Omit<JournalEntry, 'id'>>;

/** Entries of one caller who asks for one user, or for what the samples say; `at` counts from noon. */
function sampleEntries(samples: readonly Sample[]): readonly JournalEntry[] {
  return samples.map(({ at = 0, ...sample }, index) => ({
    id: index + 1,
    at: START + at,
    world: '',
    credentialDigest: 'c0ffee',
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

/** How a rule is kept by what the samples say. */
function outcomeOf(id: string, samples: readonly Sample[]) {
  const found = scorecardOf(sampleEntries(samples)).find(({ rule }) => rule.id === id);
  assert.ok(found);
  return found.outcome;
}
/** `kept`, `notSeen`, or the ids of the entries that break the rule. */
function grade(id: string, samples: readonly Sample[]): string {
  const outcome = outcomeOf(id, samples);
  return outcome.kind === 'broken' ? outcome.entries.map((entry) => entry.id).join() : outcome.kind;
}

const limited: Sample = { status: 429, retryAfterSeconds: 3 };
const user = (number: number) => `/api/ib/user-status?user_id=${number}`;

describe('retry-after', () => {
  const graded = (...samples: readonly Sample[]) => grade('retry-after', samples);
  test('without a 429, nothing is seen', () => assert.equal(graded({}, {}), 'notSeen'));
  test('a wait of so many seconds, less what clocks are coarse, keeps it', () => {
    assert.equal(graded(limited, { at: 3000 }), 'kept');
    assert.equal(graded(limited, { ...limited, at: 2900 }), 'kept');
  });
  test('the same request before its time breaks it', () => {
    assert.equal(graded(limited, { ...limited, at: 2899 }), '2');
    assert.equal(graded(limited, { ...limited, at: 251 }, { at: 3000 }), '2');
  });
  test('what may have been in flight does not', () =>
    assert.equal(graded(limited, ...each(every(10, 25), limited), { ...limited, at: 250 }), 'kept'));
  test('another user, endpoint, credential or world is no retry', () => {
    for (const other of [
      { target: user(2) },
      { target: '/api/ib/deposit-check?reference_id=1' },
      { credentialDigest: 'beef' },
      { world: 'b' },
    ])
      assert.equal(graded(limited, { ...limited, ...other, at: 1000 }), 'kept');
  });
  test('an answer but 429 shows that the limit was lifted, unless the 429 was by chaos', () => {
    assert.equal(graded(limited, { at: 1000 }), 'kept');
    assert.equal(graded({ ...limited, chaos: '429' }, { at: 1000 }), '2');
  });
  test('a 429 that chaos kept from the client, or that was asked for, binds nobody', () => {
    for (const chaos of ['reset', 'timeout', 'truncate', 'slow:900ms'])
      assert.equal(graded({ ...limited, chaos }, { ...limited, chaos, at: 1000 }), 'notSeen');
    const asked = { ...limited, preferred: 429 };
    assert.equal(graded(asked, { ...asked, at: 1000 }), 'notSeen');
  });
  test('going on with other users breaks it where workers cannot explain how many', () => {
    const others = (count: number) =>
      every(10, count, 300).map((at, index) => ({ ...limited, at, target: user(index) }));
    assert.equal(graded(limited, ...others(32)), 'kept');
    assert.equal(graded(limited, ...others(33)).split(',').length, 33);
    assert.equal(graded(limited, ...others(32), { ...limited, at: 3000, target: user(99) }), 'kept');
  });
  test('what was before the clock was put back is void', () =>
    assert.equal(graded({ ...limited, at: 5000 }, { at: 0 }, { ...limited, at: 6000 }), 'kept'));
  test("the wait is by the kinder of the mock's clock and one that nobody sets", () => {
    const at = (mock: number, elapsedMs: number): Sample => ({ ...limited, at: mock, elapsedMs });
    assert.equal(graded(at(0, 0), at(0, 3000)), 'kept', 'frozen');
    assert.equal(graded(at(0, 0), at(0, 1000)), '2', 'frozen, and not waited');
    assert.equal(graded(at(0, 0), at(3000, 300)), 'kept', 'moved');
    assert.equal(graded(at(0, 0), at(2000, 20)), 'kept', 'scaled: in flight');
  });
});

describe('back-off', () => {
  const graded = (times: readonly number[], sample: Sample = {}) =>
    grade('back-off', each(times, { ...limited, retryAfterSeconds: 60, ...sample }));
  const after = (...gaps: readonly number[]) =>
    gaps.reduce<readonly number[]>((times, gap) => [...times, (times.at(-1) ?? 0) + gap], [0]);

  test('two in a row show nothing', () => assert.equal(graded([0, 1000]), 'notSeen'));
  test('a growing gap keeps it, and so do gaps that jitter', () => {
    assert.equal(graded(after(300, 600)), 'kept');
    assert.equal(graded(after(900, 400, 3000, 1000, 9000, 2000)), 'kept');
  });
  test('six at even gaps break it, five do not yet', () => {
    assert.equal(graded(every(500, 5)), 'notSeen');
    assert.equal(graded(every(500, 6)), '1,2,3,4,5,6');
    assert.equal(graded(after(500, 900, 500, 900, 500)), '1,2,3,4,5,6');
  });
  test('waiting as long as Retry-After says keeps it at any gap', () =>
    assert.equal(graded(every(2900, 9), { retryAfterSeconds: 3 }), 'kept'));
  test('a gap of half a minute may be the longest of a client', () => {
    const { retryAfterSeconds: _, ...without } = limited;
    assert.equal(grade('back-off', each(every(30_000, 9), without)), 'kept');
    assert.notEqual(grade('back-off', each(every(29_000, 9), without)), 'kept');
  });
  test('many at once are one try, and a retry every 100 ms is seen', () => {
    assert.equal(graded(every(1, 200)), 'notSeen');
    assert.match(graded(every(100, 40)), /^1,/);
  });
  test('another answer ends a run, other requests do not belong to it', () => {
    const run = each(every(500, 4), { ...limited, retryAfterSeconds: 60 });
    const later = each(every(500, 4, 2500), { ...limited, retryAfterSeconds: 60 });
    assert.equal(grade('back-off', [...run, { at: 2000 }, ...later]), 'notSeen');
    assert.equal(
      grade('back-off', [...run, ...later.map((one) => ({ ...one, target: user(2) }))]),
      'notSeen',
    );
  });
  test('a run that chaos kept from the client shows nothing', () =>
    assert.equal(graded(every(500, 9), { chaos: 'timeout' }), 'notSeen'));
});

describe('polling', () => {
  const target = '/api/ib/deposit-check?reference_id=77777777-7777-4777-8777-77777777777A';
  const pending: Sample = { target, status: 404 };
  const executed: Sample = { target, status: 200, at: 1000 };
  const graded = (...samples: readonly Sample[]) => grade('polling', samples);
  const looks = (...times: readonly number[]) => each(times, executed);

  test('404, then 200, then nothing keeps it', () => assert.equal(graded(pending, executed), 'kept'));
  test('without both, nothing is seen', () => {
    assert.equal(graded(pending, pending), 'notSeen');
    assert.equal(graded(...looks(...every(1000, 50))), 'notSeen');
    assert.equal(graded({ status: 404 }, { at: 1 }), 'notSeen');
  });
  test('two more looks are let pass, three are polling', () => {
    assert.equal(graded(pending, executed, ...looks(2000, 3000)), 'kept');
    assert.equal(graded(pending, executed, ...looks(2000, 3000, 4000)), '3,4,5');
  });
  test('the id is the same in any spelling', () => {
    const respelled = { ...executed, target: `${target.toLowerCase().replace('-7777-', '-%377%377-')}&x=1` };
    assert.equal(graded(pending, executed, ...each([2000, 3000, 4000], respelled)), '3,4,5');
  });
  test('what may have been in flight is let pass', () =>
    assert.equal(graded(pending, executed, ...looks(...every(10, 25, 1000), 1250)), 'kept'));
  test('a 200 that chaos kept from the client ends nothing', () =>
    assert.equal(graded(pending, { ...executed, chaos: 'reset' }, ...looks(2000, 3000, 4000)), 'kept'));
  test('a deposit that is put back is polled anew', () =>
    assert.equal(
      graded(pending, executed, ...looks(2000, 2500), { ...pending, at: 3000 }, ...looks(4000, 5000, 6000)),
      'kept',
    ));
  test('another deposit, caller or world is another matter', () => {
    for (const other of [{ target: `${target}0` }, { credentialDigest: 'beef' }, { world: 'b' }])
      assert.equal(
        graded(pending, executed, ...looks(2000, 3000, 4000).map((one) => ({ ...one, ...other }))),
        'kept',
      );
  });
});

describe('refused-key', () => {
  const refused: Sample = { status: 401 };
  const graded = (...samples: readonly Sample[]) => grade('refused-key', samples);
  test('without a 401 to a key, nothing is seen', () => {
    assert.equal(graded({}, {}), 'notSeen');
    const { credentialDigest: _, ...without } = sampleEntries(each(every(500, 50), refused))[0]!;
    assert.equal(
      scorecardOf(Array.from({ length: 50 }, (_entry, id) => ({ ...without, id, at: id * 500 })))[3]?.outcome
        .kind,
      'notSeen',
    );
  });
  test('ten more are let pass, eleven are hammering', () => {
    assert.equal(graded(...each(every(500, 11), refused)), 'kept');
    assert.equal(graded(...each(every(500, 12), refused)), '2,3,4,5,6,7,8,9,10,11,12');
  });
  test('a key that is let in again starts anew; 405, 5xx and other paths say nothing', () => {
    const between = (sample: Sample) => [
      ...each(every(500, 8), refused),
      { ...sample, at: 4000 },
      ...each(every(500, 8, 4500), refused),
    ];
    assert.equal(graded(...between({ status: 404, target: '/api/ib/deposit-check?reference_id=1' })), 'kept');
    for (const sample of [{ status: 405 }, { status: 503 }, { status: 404, target: '/' }])
      assert.notEqual(graded(...between(sample)), 'kept');
  });
});

describe('each request', () => {
  test('a key in a URL breaks key-out-of-url, on any path', () => {
    assert.equal(grade('key-out-of-url', []), 'notSeen');
    assert.equal(grade('key-out-of-url', [{}]), 'kept');
    assert.equal(grade('key-out-of-url', [{}, { target: '/x', keyInTarget: true, status: 404 }]), '2');
  });
  test('a method but GET breaks get-only; OPTIONS and other paths do not', () => {
    assert.equal(grade('get-only', [{ method: 'OPTIONS' }, { method: 'POST', target: '/' }]), 'notSeen');
    assert.equal(grade('get-only', [{}, { method: 'OPTIONS' }]), 'kept');
    assert.equal(grade('get-only', [{}, { method: 'POST', status: 405 }, { method: 'HEAD' }]), '2,3');
    assert.equal(
      grade('get-only', [{ method: 'POST', target: 'http://x/gateway/api/ib/user-status?a' }]),
      '1',
    );
  });
  test('no request with a key breaks authorization; one with a key keeps it', () => {
    const [{ credentialDigest: _, ...without }] = sampleEntries([{ status: 401 }]) as [
      ReturnType<typeof sampleEntries>[number],
    ];
    const graded = (...entries: readonly (typeof without)[]) =>
      scorecardOf(entries).find(({ rule }) => rule.id === 'authorization')?.outcome.kind;
    assert.equal(graded(), 'notSeen');
    assert.equal(graded({ ...without, target: '/' }), 'notSeen');
    assert.equal(graded(without), 'broken');
    assert.equal(graded(without, ...sampleEntries([{}])), 'kept');
  });
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
BROKEN    Stopped polling a deposit once it was EXECUTED (States and transitions)
          #4 2025-01-15T12:00:02.000Z GET ${POLLED} → 200 (a test)
          #5 2025-01-15T12:00:03.000Z GET ${POLLED} → 200 (a test)
          #6 2025-01-15T12:00:04.000Z GET ${POLLED} → 200 (a test)
          #7 2025-01-15T12:00:05.000Z GET ${POLLED} → 200 (a test)
          #8 2025-01-15T12:00:06.000Z GET ${POLLED} → 200 (a test)
          and 2 more
          → stop at the first 200 and keep its result: an EXECUTED deposit stays EXECUTED
not seen  Did not hammer with a key that was refused (Authentication 3)
          needs a 401 to a request with a key
BROKEN    Kept the key out of the URL (Authentication 1)
          #11 2025-01-15T12:00:09.000Z GET /api/ib/user-status?… → 200 (a test)
          → send the key in the Authorization header alone, and issue it anew: URLs are written into logs
kept      Sent the Authorization header (Authentication 1)
kept      Sent nothing but GET (Endpoints)
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
    const long = scorecardText(
      scorecardOf(sampleEntries([{ method: 'POST', target: `${endpoint}?${'💶'.repeat(9000)}` }])),
    );
    assert.ok(long.includes('💶… →') && long.length < 2000);
  });
});
