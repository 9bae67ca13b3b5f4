import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JournalLine } from '../../mock/journal.ts';
import { scorecardOf } from './scorecard.ts';
import { START } from '../../mock/testing/session.ts';

/** The relevant values of an entry; the others have defaults. */
type Sample = Partial<Omit<JournalLine, 'id'>> & { readonly hasNoKey?: boolean };

/** Creates entries of one caller who looks up one user, in a world of one test; `at` is in ms from noon. */
function sampleEntries(samples: readonly Sample[]): readonly JournalLine[] {
  return samples.map(({ at = 0, hasNoKey = false, ...sample }, index) => ({
    id: index + 1,
    at: START + at,
    elapsedMs: at,
    durationMs: 0.2,
    world: 'a',
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

/** Returns the outcome, with the ids of the requests that show it. */
function grade(id: string, samples: readonly Sample[]): string {
  const { outcome, requests = [] } = scorecardOf(sampleEntries(samples)).find((one) => one.id === id)!;
  return [outcome, ...requests.map((entry) => entry.id)].join(' ');
}

const limited: Sample = { status: 429, retryAfterSeconds: 3 };
const bare: Sample = { status: 429 };
const target = '/api/ib/deposit-check?reference_id=77777777-7777-4777-8777-777777777777';
const pending: Sample = { target, status: 404 };
const executed: Sample = { target, status: 200 };
const failed: Sample = { status: 503 };
const refused: Sample = { status: 401 };
const invalid: Sample = { status: 400, target: '/api/ib/user-status?user_id=x' };
const main = (samples: readonly Sample[]) => samples.map((one) => ({ ...one, world: '' }));
const after = (...gaps: readonly number[]) =>
  gaps.reduce<readonly number[]>((times, gap) => [...times, (times.at(-1) ?? 0) + gap], [0]);
const asked = (query: string): Sample => ({ target: `/api/ib/user-status?${query}` });
const polled = [...each([0, 40, 80], pending), { ...executed, at: 120 }];

/** Cases by rule: description, requests and grade. */
const graded: Readonly<Record<string, readonly (readonly [string, readonly Sample[], string])[]>> = {
  wait: [
    ['no 429', [{}, {}], 'notSeen'],
    ['no repeat', [limited], 'notSeen'],
    ['immediate repeats', each([0, 1, 2, 3], bare), 'broken 2 3 4'],
    ['immediate repeats, then an answer', [...each([0, 2], bare), { at: 4 }], 'broken 2 3'],
    ['the same in the main world: several tests', main(each([0, 1, 2, 3], bare)), 'unclear 2 3 4'],
    ['one immediate repeat: perhaps the test', each([0, 1], bare), 'unclear 2'],
    ['short pauses that double', each(after(12, 24, 48), bare), 'kept'],
    ['short pauses that do not', each(after(40, 41, 40), bare), 'broken 2 3 4'],
    ['pauses of 60 ms', each(after(60, 60, 60), bare), 'kept'],
    ['requests in flight', each([0, 0, 0, 0], bare), 'notSeen'],
    ['another caller', [bare, ...each([1, 2], { ...bare, credentialDigest: 'beef' })], 'unclear 3'],
    ['another request', [bare, ...each([1], { ...bare, target })], 'notSeen'],
  ],
  'retry-after': [
    ['a 429 without Retry-After', each([0, 1, 2], bare), 'notSeen'],
    ['a wait', [limited, { at: 3000 }], 'kept'],
    ['a wait within the clock tolerance', [limited, { at: 2901 }], 'kept'],
    ['two repeats too early', each(after(1000, 2000), limited), 'broken 2 3'],
    ['the same in the main world: several tests', main(each(after(1000, 2000), limited)), 'unclear 2 3'],
    ['one repeat too early: perhaps the test', [limited, { at: 1000 }], 'unclear 2'],
    [
      'a stopped clock, and a wait',
      [
        { ...limited, elapsedMs: 0 },
        { at: 0, elapsedMs: 3000 },
      ],
      'kept',
    ],
    [
      'an advanced clock',
      [
        { ...limited, elapsedMs: 0 },
        { at: 3000, elapsedMs: 3 },
      ],
      'kept',
    ],
    ['a 429 that did not arrive', each([0, 1, 2], { ...limited, chaos: 'reset' }), 'notSeen'],
  ],
  'back-off': [
    ['even pauses', each(after(200, 201, 203, 200), bare), 'broken 2 3 4 5'],
    ['three even pauses: too few', each(after(200, 200, 200), bare), 'kept'],
    ['pauses that double', each(after(100, 200, 400, 800), bare), 'kept'],
    ['pauses with jitter', each(after(90, 150, 260, 600), bare), 'kept'],
    ['even pauses of Retry-After', each(after(3000, 3000, 3000, 3000), limited), 'kept'],
    ['pauses at a maximum', each(after(30_000, 30_000, 30_000, 30_000), bare), 'kept'],
  ],
  'server-errors': [
    ['one repeat', each([0, 1], failed), 'notSeen'],
    ['immediate repeats', each(every(2, 20), failed), `broken ${every(1, 19, 2).join(' ')}`],
    ['the same in the main world', main(each([0, 2, 4], failed)), 'unclear 2 3'],
    ['even pauses', each(every(100, 5), failed), 'broken 2 3 4 5'],
    ['growing pauses', each(after(100, 200, 400), failed), 'kept'],
  ],
  polling: [
    ['no 404', each([0, 40, 80, 120], executed), 'notSeen'],
    ['stopped at 200', polled, 'kept'],
    ['went on at its pace', [...polled, ...each([160, 200], executed)], 'broken 5 6'],
    ['the same in the main world', main([...polled, ...each([160, 200], executed)]), 'broken 5 6'],
    ['four other tests look', main([...polled, ...each([121, 122, 123, 160], executed)]), 'unclear 5 6 7 8'],
    ['one more request', [...polled, { ...executed, at: 160 }], 'unclear 5'],
  ],
  'poll-pace': [
    ['one 404', [pending, { ...executed, at: 1 }], 'notSeen'],
    ['20 polls, 1 ms apart', each(every(1, 20), pending), `broken ${every(1, 19, 2).join(' ')}`],
    ['40 tests look once', main(each(every(1, 40), pending)), `unclear ${every(1, 39, 2).join(' ')}`],
    ['two looks of a test', each([0, 1], pending), 'unclear 2'],
    ['polls with pauses', each(every(20.5, 50), pending), 'kept'],
  ],
  'refused-request': [
    ['no repeat', [invalid], 'kept'],
    ['three times', each([0, 100, 200], invalid), 'broken 2 3'],
    ['twice: perhaps the test', each([0, 100], invalid), 'unclear 2'],
    ['three tests', main(each([0, 1, 2], invalid)), 'unclear 2 3'],
    ['another id', [invalid, { ...invalid, at: 9, target: '/api/ib/user-status?user_id=y' }], 'kept'],
  ],
  'refused-key': [
    ['no 401', [{}], 'notSeen'],
    ['five 401s', each(every(200, 5), refused), 'broken 2 3 4 5'],
    ['five tests', main(each(every(200, 5), refused)), 'unclear 2 3 4 5'],
    ['another key', [refused, { ...refused, at: 9, credentialDigest: 'beef' }], 'kept'],
    ['without a key', each([0, 9, 18], { ...refused, hasNoKey: true }), 'notSeen'],
  ],
  encoding: [
    ['a UUID', [{}], 'notSeen'],
    ['an encoded id', [asked('user_id=a%26b%3Dc%20d')], 'kept'],
    ['an id that is encoded twice', [asked('user_id=a%2526b')], 'unclear 1'],
    ['an id that is not encoded', [asked('user_id=a&b=c')], 'broken 1'],
    ['wrong percent-encoding', [asked('user_id=100%')], 'broken 1'],
    ['a raw character', [asked('user_id="a"')], 'broken 1'],
    [
      'a valid id and another parameter',
      [asked('user_id=11111111-1111-4111-8111-111111111111&v=1')],
      'notSeen',
    ],
  ],
  'key-out-of-url': [
    ['no requests at all', [], 'notSeen'],
    ['a URL without a key', [{}], 'kept'],
    ['a key on another path', [{}, { target: '/x', keyInTarget: true, status: 404 }], 'broken 2'],
  ],
  'get-only': [
    ['only OPTIONS and other paths', [{ method: 'OPTIONS' }, { method: 'POST', target: '/' }], 'notSeen'],
    ['GET and OPTIONS', [{}, { method: 'OPTIONS' }], 'kept'],
    ['POST and HEAD', [{}, { method: 'POST', status: 405 }, { method: 'HEAD' }], 'broken 2 3'],
    ['POST to a gateway', [{ method: 'POST', target: 'http://x/gateway/api/ib/user-status?a' }], 'broken 1'],
  ],
  authorization: [
    ['no request', [], 'notSeen'],
    ['a request without a key to another path', [{ ...refused, hasNoKey: true, target: '/' }], 'notSeen'],
    ['only requests without a key', each([0, 9], { ...refused, hasNoKey: true }), 'broken 1 2'],
    ['one request without a key: perhaps a test', [{ ...refused, hasNoKey: true }], 'unclear 1'],
    ['one request with a key', [{ ...refused, hasNoKey: true }, {}], 'kept'],
    [
      'one endpoint never gets a key',
      [{}, ...each([1, 2], { ...refused, target, hasNoKey: true })],
      'unclear 2 3',
    ],
  ],
};

for (const [id, cases] of Object.entries(graded))
  describe(id, () => {
    for (const [what, samples, expected] of cases)
      test(`${what}: ${expected.slice(0, 40)}`, () => assert.equal(grade(id, samples), expected));
  });

test('the table covers every rule that the journal shows', () => {
  const judged = scorecardOf([]).map(({ id }) => id as string);
  assert.deepEqual(judged.toSorted(), Object.keys(graded).toSorted());
});
