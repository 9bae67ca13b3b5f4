import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunFacts, SeenRequest } from './requests.ts';
import { judgeRules, rules } from './rules.ts';
import { states } from './states.ts';

/** A request of a run: when it was sent (ms), whether the state changed its answer, and what differs from the defaults. */
type Sample = Partial<SeenRequest> & { readonly at: number };

const user = (digit: number) => `/api/ib/user-status?user_id=${digit}`;
const deposit = '/api/ib/deposit-check?reference_id=7';

/** Creates a green run with a line of output and these requests, each answered at once. */
function runOf(samples: readonly Sample[], facts: Partial<RunFacts> = {}): RunFacts {
  const requests = samples.map((sample): SeenRequest => {
    const { target = user(1), world = '' } = sample;
    const rest = { method: 'GET', status: 200, isChanged: false, elapsedMs: sample.at, durationMs: 0 };
    return { ...rest, target, world, lookup: `${target} ${world}`, ...sample };
  });
  const output = { lines: 1, withKey: 0, byRunner: 0 };
  return { isGreen: true, output, isKeyElsewhere: false, requests, ...facts };
}

/** Requests with a changed answer after each pause (ms), and at last one with the usual answer. */
function refused(pauses: readonly number[], sample: Omit<Sample, 'at'> = {}, from = 0): readonly Sample[] {
  const times = pauses.reduce<readonly number[]>((all, pause) => [...all, all.at(-1)! + pause], [from]);
  return times.map((at, index) => ({ ...sample, at, isChanged: index < pauses.length }));
}
/** The same for two users. */
const twice = (pauses: readonly number[], others = pauses) => [
  ...refused(pauses),
  ...refused(others, { target: user(2) }, 10_000),
];

/** Polls of a deposit at a pace (ms), each with the status; `changed` of them got 404 because of the state. */
const polls = (
  statuses: string,
  pace: number,
  sample: Omit<Sample, 'at'> = {},
  changed = 0,
): readonly Sample[] =>
  statuses.split(' ').map((status, index) => ({
    target: deposit,
    at: index * pace,
    status: Number(status),
    isChanged: index < changed,
    ...sample,
  }));

const unchanged = runOf([{ at: 0 }, { at: 1, target: user(2) }]);
const inWorld = { world: 'a' };
const red = { isGreen: false };
const polled = runOf(polls('404 404 404 200', 100));
const goesOn = runOf(polls('404 404 404 200 200 200 200 200 200', 100));
const goesOnInWorld = runOf(polls('404 404 404 200 200 200 200', 100, inWorld));
const more = (statuses: string, facts?: Partial<RunFacts>) => runOf(polls(statuses, 100, {}, 2), facts);

/** A run that prints the key. */
const printing = (withKey: number, facts?: Partial<RunFacts>) =>
  runOf([], { output: { lines: 2, withKey, byRunner: 0 }, ...facts });
const silent = runOf([], { output: { lines: 0, withKey: 0, byRunner: 0 } });
const byPytest = runOf([], { output: { lines: 2, withKey: 0, byRunner: 1 }, ...red });

/** By rule: what happens, the state, the run, the unchanged run, and the outcome. */
type Row = readonly [what: string, state: string, run: RunFacts, unchanged: RunFacts, outcome: string];
const table: Readonly<Record<string, readonly Row[]>> = {
  wait: [
    ['nothing was refused', 'limited', unchanged, unchanged, 'notSeen'],
    ['no repeat', 'limited', runOf([{ at: 0, isChanged: true }], red), unchanged, 'notSeen'],
    ['a pause', 'limited', runOf(refused([1000])), unchanged, 'kept'],
    ['no pauses', 'limited-thrice', runOf(twice([0, 0, 0])), unchanged, 'broken'],
    ['no pauses of one request: too few', 'limited-thrice', runOf(refused([0, 0, 0])), unchanged, 'notSeen'],
    ['many repeats of one request', 'limited', runOf(refused([1, 2, 1, 1, 3, 1])), unchanged, 'broken'],
    ['no pauses, and a busy machine', 'limited-thrice', runOf(twice([9, 35, 12])), unchanged, 'broken'],
    ['short pauses that double', 'limited-thrice', runOf(twice([5, 10, 20])), unchanged, 'kept'],
    ['random pauses', 'limited-thrice', runOf(twice([3, 90, 240], [70, 8, 110])), unchanged, 'kept'],
    ['a second request in flight', 'limited-thrice', runOf(twice([-1, 60, 120])), unchanged, 'kept'],
    ['a red run', 'limited-thrice', runOf(twice([0, 0, 0]), red), unchanged, 'unclear'],
    [
      'several tests send the request',
      'limited-thrice',
      runOf(refused([0, 0, 0, 0, 0, 0])),
      runOf([{ at: 0 }, { at: 9 }]),
      'unclear',
    ],
    [
      'each test has a world with another name',
      'limited-thrice',
      runOf(['a', 'b'].flatMap((world) => refused([0, 0, 0], { world }))),
      runOf(['c', 'd'].map((world) => ({ at: 0, world }))),
      'broken',
    ],
    [
      'more requests than refusals explain',
      'limited-thrice',
      runOf([...refused([0, 0, 0, 0, 0, 0]), { at: 1 }]),
      unchanged,
      'unclear',
    ],
    [
      'the clock of the mock moves instead',
      'limited-thrice',
      runOf(refused([1000, 1000, 1000]).map((one, index) => ({ ...one, elapsedMs: index }))),
      unchanged,
      'kept',
    ],
  ],
  'back-off': [
    ['no pauses', 'limited-thrice', runOf(twice([0, 0, 0])), unchanged, 'broken'],
    ['0, 0, 0, 0 of one request', 'limited-thrice', runOf(refused([0, 0, 0, 0])), unchanged, 'broken'],
    ['the same pauses', 'limited-thrice', runOf(twice([200, 215, 205])), unchanged, 'broken'],
    [
      'the same pauses of one request',
      'limited-thrice',
      runOf(refused([200, 200, 200])),
      unchanged,
      'unclear',
    ],
    ['800, 400, 200', '503-thrice', runOf(twice([800, 400, 200])), unchanged, 'broken'],
    ['800, 400, 200 of one request', '503-thrice', runOf(refused([800, 400, 200])), unchanged, 'unclear'],
    ['random pauses', '503-thrice', runOf(twice([90, 40, 240], [70, 8, 110])), unchanged, 'unclear'],
    [
      'random pauses that get shorter',
      '503-thrice',
      runOf(twice([90, 40, 20], [60, 50, 9])),
      unchanged,
      'unclear',
    ],
    ['pauses that double', '503-thrice', runOf(twice([100, 200, 400])), unchanged, 'kept'],
    [
      'pauses that double, with jitter',
      '503-thrice',
      runOf(twice([50, 120, 260], [90, 110, 350])),
      unchanged,
      'kept',
    ],
    ['pauses that grow by a few ms', '503-thrice', runOf(twice([200, 202, 205])), unchanged, 'broken'],
    ['pauses that grow by a step', '503-thrice', runOf(twice([100, 200, 300])), unchanged, 'kept'],
    ['one pause', '503-thrice', runOf(refused([100])), unchanged, 'notSeen'],
    ['as long as Retry-After says', 'limited', runOf(twice([1003])), unchanged, 'kept'],
    ['a little less: clocks are coarse', 'limited', runOf(twice([905])), unchanged, 'kept'],
    ['shorter than Retry-After', 'limited', runOf(twice([60, 120, 240, 480, 960])), unchanged, 'broken'],
    ['shorter than the date', 'limited-until-date', runOf(twice([60, 120, 240])), unchanged, 'broken'],
    ['shorter in a red run', 'limited', runOf(twice([60, 120]), red), unchanged, 'unclear'],
  ],
  'refused-request': [
    ['no repeat', 'refused-once', runOf([{ at: 0, isChanged: true }], red), unchanged, 'kept'],
    ['a repeat', 'refused-once', runOf(twice([100])), unchanged, 'broken'],
    ['a repeat of an invalid request', 'invalid-once', runOf(refused([100])), unchanged, 'broken'],
    ['a repeat in a red run', 'refused-once', runOf(twice([100]), red), unchanged, 'unclear'],
    [
      'only some are repeated',
      'refused-once',
      runOf([...refused([100]), { at: 9, target: user(2), isChanged: true }]),
      unchanged,
      'unclear',
    ],
    [
      'another key',
      'refused-once',
      runOf([
        { at: 0, isChanged: true, lookup: 'first key' },
        { at: 9, lookup: 'second key' },
      ]),
      unchanged,
      'kept',
    ],
    [
      'the tests also send it with a wrong key',
      'refused-once',
      runOf(refused([100])),
      runOf([{ at: 0 }, { at: 1, status: 401, lookup: 'wrong' }, { at: 2, status: 401, lookup: 'wrong' }]),
      'broken',
    ],
  ],
  polling: [
    ['no polls', 'more-polls', unchanged, unchanged, 'notSeen'],
    ['stopped at 200', 'more-polls', more('404 404 404 404 404 200'), polled, 'kept'],
    ['one more look', 'more-polls', polled, runOf(polls('404 404 200 200', 100)), 'kept'],
    ['went on', 'more-polls', more('404 404 404 404 404 200 200 200 200'), goesOn, 'broken'],
    ['went on, but the other run is red', 'more-polls', more('404 404', red), goesOn, 'unclear'],
    ['went on, but the state was not reached', 'more-polls', goesOn, goesOn, 'unclear'],
    [
      'five tests poll in turn, at the same pace',
      'more-polls',
      more('404 404 404 404 404 200 200 200 200 200 200'),
      goesOn,
      'unclear',
    ],
    [
      'went on, on a busy machine',
      'more-polls',
      more('404 404 404 404 404 200 200 200 200'),
      runOf(goesOn.requests.map((one, index) => ({ ...one, at: one.at + (index > 3 ? 60 : 0) }))),
      'broken',
    ],
    [
      'tests take turns, 30 ms each',
      'more-polls',
      more('404 404 404 404 404 200 200 200 200'),
      runOf(polls('404 404 404 200 200 200 200 200 200', 30)),
      'unclear',
    ],
    ['went on in the world of a test', 'more-polls', unchanged, goesOnInWorld, 'broken'],
    [
      'two looks in the world of a test',
      'more-polls',
      unchanged,
      runOf(polls('404 404 200 200 200', 100, inWorld)),
      'unclear',
    ],
    [
      'other tests look at the deposit',
      'more-polls',
      more('404 404 404 404 404 200'),
      runOf([...polls('404 404 404 200', 100), ...[301, 302, 350].map((at) => ({ at, target: deposit }))]),
      'unclear',
    ],
  ],
  'poll-pace': [
    ['polls with a pause', 'pending-longer', runOf(polls('404 404 404 404 200', 20, {}, 4)), polled, 'kept'],
    ['64 polls', 'pending-longer', runOf(polls(`404${' 404'.repeat(63)}`, 4, {}, 64)), polled, 'broken'],
    ['19 polls', 'pending-longer', runOf(polls(`404${' 404'.repeat(18)}`, 9, {}, 19)), polled, 'kept'],
    [
      'a deposit that the unchanged run does not poll',
      'pending-longer',
      runOf(polls(`404${' 404'.repeat(63)}`, 4, {}, 64)),
      unchanged,
      'kept',
    ],
  ],
  'key-out-of-url': [
    ['no key', '503', unchanged, unchanged, 'kept'],
    ['a key in the URL', '503', runOf([{ at: 0, keyIn: 'target' }]), unchanged, 'broken'],
    ['a key in another header field', '503', runOf([{ at: 0, keyIn: 'field' }]), unchanged, 'broken'],
  ],
  'key-out-of-output': [
    ['no output', '503', silent, silent, 'notSeen'],
    ['no key', '503', unchanged, unchanged, 'kept'],
    ['a key in a red run', '503', printing(1, red), unchanged, 'broken'],
    ['a key in what pytest prints of a red test', '503', byPytest, unchanged, 'unclear'],
    ['the tests print the key themselves', '503', printing(1), printing(1), 'unclear'],
    ['more than the tests print', '503', printing(2), printing(1), 'broken'],
    ['more than the tests print, in a red run', '503', printing(2, red), printing(1), 'unclear'],
  ],
  'key-for-origin': [
    ['no redirect', 'redirected', unchanged, unchanged, 'notSeen'],
    ['not followed', 'redirected', runOf([{ at: 0, isChanged: true }], red), unchanged, 'kept'],
    [
      'followed with the key',
      'redirected',
      runOf([{ at: 0, isChanged: true }], { ...red, isKeyElsewhere: true }),
      unchanged,
      'broken',
    ],
  ],
};

for (const [id, rows] of Object.entries(table))
  describe(id, () => {
    for (const [what, state, run, before, expected] of rows)
      test(`${what}: ${expected}`, () => {
        const runs = new Map([
          ['unchanged', before],
          [state, run],
        ]);
        const { outcome, states: shownBy } = judgeRules(runs, new Map()).find(({ rule }) => rule === id)!;
        assert.equal(outcome, expected);
        assert.equal(shownBy.length === 0, expected === 'notSeen');
      });
  });

test('the table covers every rule, and each names existing states', () => {
  assert.deepEqual(Object.keys(table).toSorted(), rules.map(({ id }) => id).toSorted());
  for (const { judge } of rules)
    for (const state of typeof judge === 'function' ? [] : Object.keys(judge))
      assert.ok(state === 'unchanged' || states.has(state), state);
});

test('a broken rule can be allowed, with a reason', () => {
  const runs = new Map([['unchanged', runOf([{ at: 0, keyIn: 'target', target: '/secret' }])]]);
  const judgedWith = (allow: readonly (readonly [string, string])[]) =>
    judgeRules(runs, new Map(allow)).find(({ rule }) => rule === 'key-out-of-url')!;
  const { outcome, reason } = judgedWith([['key-out-of-url', 'a legacy gateway']]);
  assert.deepEqual([outcome, reason], ['allowed', 'a legacy gateway']);
  assert.ok(!('reason' in judgedWith([['key-out-of-url', '']])));
  const broken = judgedWith([]);
  assert.deepEqual([broken.outcome, broken.requests], ['broken', ['GET … → 200, 0 ms']]);
});
