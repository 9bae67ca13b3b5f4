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

/** Polls of a deposit at a pace (ms): so many 404, then so many 200; `changed` got 404 because of the state. */
const polls = (missing: number, found: number, pace: number, changed = 0, world = ''): readonly Sample[] =>
  Array.from({ length: missing + found }, (_, index) => ({
    target: deposit,
    at: index * pace,
    status: index < missing ? 404 : 200,
    isChanged: index < changed,
    world,
  }));

const unchanged = runOf([{ at: 0 }, { at: 1, target: user(2) }]);
const red = { isGreen: false };
const once = [{ at: 0, isChanged: true }];
const polled = runOf(polls(3, 1, 100));
const goesOn = runOf(polls(3, 6, 100));
const six = refused([0, 0, 0, 0, 0, 0]);
const other = { at: 9, target: user(2), isChanged: true };
/** The clock of the mock moves while little time passes. */
const byClock = refused([1000, 1000, 1000]).map((one, index) => ({ ...one, elapsedMs: index }));
const busy = goesOn.requests.map((one, index) => ({ ...one, at: one.at + (index > 3 ? 60 : 0) }));
const looks = [...polls(3, 1, 100), ...[301, 302, 350].map((at) => ({ at, target: deposit }))];
const goesOnInWorld = runOf(polls(3, 4, 100, 0, 'a'));
const more = (missing: number, found: number, facts?: Partial<RunFacts>) =>
  runOf(polls(missing, found, 100, 2), facts);

/** A run that prints the key. */
const printing = (withKey: number, facts?: Partial<RunFacts>) =>
  runOf([], { output: { lines: 2, withKey, byRunner: 0 }, ...facts });
const silent = runOf([], { output: { lines: 0, withKey: 0, byRunner: 0 } });
const byPytest = runOf([], { output: { lines: 2, withKey: 0, byRunner: 1 }, ...red });

type Run = RunFacts | readonly Sample[];
const factsOf = (run: Run) => ('requests' in run ? run : runOf(run));

/** By rule: what happens, the state, the run, the outcome, and the unchanged run if it is another one. */
type Row = readonly [what: string, state: string, run: Run, outcome: string, unchanged?: Run];
const table: Readonly<Record<string, readonly Row[]>> = {
  wait: [
    ['nothing was refused', 'limited', unchanged, 'notSeen'],
    ['no repeat', 'limited', runOf(once, red), 'notSeen'],
    ['a pause', 'limited', refused([1000]), 'kept'],
    ['no pauses', 'limited-thrice', twice([0, 0, 0]), 'broken'],
    ['no pauses of one request: too few', 'limited-thrice', refused([0, 0, 0]), 'notSeen'],
    ['many repeats of one request', 'limited', refused([1, 2, 1, 1, 3, 1]), 'broken'],
    ['no pauses, and a busy machine', 'limited-thrice', twice([9, 35, 12]), 'broken'],
    ['short pauses that double', 'limited-thrice', twice([5, 10, 20]), 'kept'],
    ['random pauses', 'limited-thrice', twice([3, 90, 240], [70, 8, 110]), 'kept'],
    ['a second request in flight', 'limited-thrice', twice([-1, 60, 120]), 'kept'],
    ['a red run', 'limited-thrice', runOf(twice([0, 0, 0]), red), 'unclear'],
    ['several tests send the request', 'limited-thrice', six, 'unclear', [{ at: 0 }, { at: 9 }]],
    [
      'each test has a world with another name',
      'limited-thrice',
      ['a', 'b'].flatMap((world) => refused([0, 0, 0], { world })),
      'broken',
      ['c', 'd'].map((world) => ({ at: 0, world })),
    ],
    ['more requests than refusals explain', 'limited-thrice', [...six, { at: 1 }], 'unclear'],
    ['the clock of the mock moves instead', 'limited-thrice', byClock, 'kept'],
  ],
  'back-off': [
    ['no pauses', 'limited-thrice', twice([0, 0, 0]), 'broken'],
    ['0, 0, 0, 0 of one request', 'limited-thrice', refused([0, 0, 0, 0]), 'broken'],
    ['the same pauses', 'limited-thrice', twice([200, 215, 205]), 'broken'],
    ['the same pauses of one request', 'limited-thrice', refused([200, 200, 200]), 'unclear'],
    ['800, 400, 200', '503-thrice', twice([800, 400, 200]), 'broken'],
    ['800, 400, 200 of one request', '503-thrice', refused([800, 400, 200]), 'unclear'],
    ['random pauses', '503-thrice', twice([90, 40, 240], [70, 8, 110]), 'unclear'],
    ['random pauses that get shorter', '503-thrice', twice([90, 40, 20], [60, 50, 9]), 'unclear'],
    ['pauses that double', '503-thrice', twice([100, 200, 400]), 'kept'],
    ['pauses that double, with jitter', '503-thrice', twice([50, 120, 260], [90, 110, 350]), 'kept'],
    ['pauses that grow by a few ms', '503-thrice', twice([200, 202, 205]), 'broken'],
    ['pauses that grow by a step', '503-thrice', twice([100, 200, 300]), 'kept'],
    ['one pause', '503-thrice', refused([100]), 'notSeen'],
    ['as long as Retry-After says', 'limited', twice([1003]), 'kept'],
    ['a little less: clocks are coarse', 'limited', twice([905]), 'kept'],
    ['shorter than Retry-After', 'limited', twice([60, 120, 240, 480, 960]), 'broken'],
    ['shorter than the date', 'limited-until-date', twice([60, 120, 240]), 'broken'],
    ['shorter in a red run', 'limited', runOf(twice([60, 120]), red), 'unclear'],
  ],
  'refused-request': [
    ['no repeat', 'refused-once', runOf(once, red), 'kept'],
    ['a repeat', 'refused-once', twice([100]), 'broken'],
    ['a repeat of an invalid request', 'invalid-once', refused([100]), 'broken'],
    ['a repeat in a red run', 'refused-once', runOf(twice([100]), red), 'unclear'],
    ['only some are repeated', 'refused-once', [...refused([100]), other], 'unclear'],
    [
      'another key',
      'refused-once',
      [
        { at: 0, isChanged: true, lookup: 'first key' },
        { at: 9, lookup: 'second key' },
      ],
      'kept',
    ],
    [
      'the tests also send it with a wrong key',
      'refused-once',
      refused([100]),
      'broken',
      [{ at: 0 }, { at: 1, status: 401, lookup: 'wrong' }, { at: 2, status: 401, lookup: 'wrong' }],
    ],
  ],
  polling: [
    ['no polls', 'more-polls', unchanged, 'notSeen'],
    ['stopped at 200', 'more-polls', more(5, 1), 'kept', polled],
    ['one more look', 'more-polls', polled, 'kept', polls(2, 2, 100)],
    ['went on', 'more-polls', more(5, 4), 'broken', goesOn],
    ['went on, but the other run is red', 'more-polls', more(2, 0, red), 'unclear', goesOn],
    ['went on, but the state was not reached', 'more-polls', goesOn, 'unclear', goesOn],
    ['five tests poll in turn, at the same pace', 'more-polls', more(5, 6), 'unclear', goesOn],
    ['went on, on a busy machine', 'more-polls', more(5, 4), 'broken', busy],
    ['tests take turns, 30 ms each', 'more-polls', more(5, 4), 'unclear', polls(3, 6, 30)],
    ['went on in the world of a test', 'more-polls', unchanged, 'broken', goesOnInWorld],
    ['two looks in the world of a test', 'more-polls', unchanged, 'unclear', polls(2, 3, 100, 0, 'a')],
    ['other tests look at the deposit', 'more-polls', more(5, 1), 'unclear', looks],
  ],
  'poll-pace': [
    ['polls with a pause', 'pending-longer', polls(4, 1, 20, 4), 'kept', polled],
    ['64 polls', 'pending-longer', polls(64, 0, 4, 64), 'broken', polled],
    ['19 polls', 'pending-longer', polls(19, 0, 9, 19), 'kept', polled],
    ['a deposit that nothing else polls', 'pending-longer', polls(64, 0, 4, 64), 'kept'],
  ],
  'key-out-of-url': [
    ['no key', '503', unchanged, 'kept'],
    ['a key in the URL', '503', [{ at: 0, keyIn: 'target' }], 'broken'],
    ['a key in another header field', '503', [{ at: 0, keyIn: 'field' }], 'broken'],
  ],
  'key-out-of-output': [
    ['no output', '503', silent, 'notSeen', silent],
    ['no key', '503', unchanged, 'kept'],
    ['a key in a red run', '503', printing(1, red), 'broken'],
    ['a key in what pytest prints of a red test', '503', byPytest, 'unclear'],
    ['the tests print the key themselves', '503', printing(1), 'unclear', printing(1)],
    ['more than the tests print', '503', printing(2), 'broken', printing(1)],
    ['more than the tests print, in a red run', '503', printing(2, red), 'unclear', printing(1)],
  ],
  'key-for-origin': [
    ['no redirect', 'redirected', unchanged, 'notSeen'],
    ['not followed', 'redirected', runOf(once, red), 'kept'],
    ['followed with the key', 'redirected', runOf(once, { ...red, isKeyElsewhere: true }), 'broken'],
  ],
};

for (const [id, rows] of Object.entries(table))
  describe(id, () => {
    for (const [what, state, run, expected, before = unchanged] of rows)
      test(`${what}: ${expected}`, () => {
        const runs = new Map([
          ['unchanged', factsOf(before)],
          [state, factsOf(run)],
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
