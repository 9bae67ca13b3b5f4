import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunFacts, SeenRequest } from './requests.ts';
import { judgeRules, rules } from './rules.ts';
import { redTestIn, writerOf } from './output.ts';
import { states } from './states.ts';

/** A request of a run: when it was sent (ms), whether the state changed its answer, and what differs from the defaults. */
type Sample = Partial<SeenRequest> & { readonly at: number };

const user = (digit: number) => `/api/ib/user-status?user_id=${digit}`;
const deposit = '/api/ib/deposit-check?reference_id=7';

/** Creates a green run with a line of output and these requests, each answered at once. */
function runOf(samples: readonly Sample[], facts: Partial<RunFacts> = {}): RunFacts {
  const requests = samples.map((sample): SeenRequest => {
    const { target = user(1), world = '' } = sample;
    const rest = { method: 'GET', status: 200, isChanged: false, isSetUp: false, durationMs: 0 };
    const endpoint = target === deposit ? 'deposit-check' : 'user-status';
    return {
      ...rest,
      elapsedMs: sample.at,
      target,
      endpoint,
      world,
      lookup: `${target} ${world}`,
      ...sample,
    };
  });
  const output = { lines: 1, withKey: 0, inFailure: 0 };
  return {
    isGreen: true,
    isStopped: false,
    durationMs: 10_000,
    output,
    isKeyElsewhere: false,
    requests,
    ...facts,
  };
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

/** Requests for a user that got 429 to the last, after these pauses (ms). */
const lostIn = (pauses: readonly number[]) => refused([...pauses, 0]).slice(0, -1);
const twoWorlds = [...polls(64, 0, 4, 64, 'a'), ...polls(4, 1, 250, 4, 'b')];
const early = runOf(lostIn([9000]), red);
const inWorld = (run: RunFacts) => ({
  ...run,
  requests: run.requests.map((one) => ({ ...one, world: 'a' })),
});
const setUp = (samples: readonly Sample[]) => samples.map((one) => ({ ...one, isSetUp: true }));
/** A test with a failure of its own in the main world, later on. */
const prepared = setUp([{ at: 90_000, isChanged: true }]);
/** The same in another world, with a 429 that gets a repeat. */
const own429 = setUp([
  { at: 1, world: 'a', status: 429 },
  { at: 2, world: 'a' },
]);
/** A repeat for a user, and none for a deposit. */
const mixed = [...refused([1000]), { at: 0, isChanged: true, target: deposit }];
/** A state in which red tests send each request twice. */
const rerun = [
  'amount-in-cents',
  runOf(
    [0, 1].map((at) => ({ at, isChanged: true })),
    red,
  ),
] as const;
/** A run in which the deposit is asked for again after a 429 and a pause (ms). */
const waited = (pause: number, facts?: Partial<RunFacts>) =>
  ['limited', runOf(refused([pause], { target: deposit }), facts)] as const;
/** A lookup at a time (ms) before polls that go on, on a connection. */
const before = (at: number, connection = 1): Sample => ({ at, connection });
const late = polls(3, 4, 100).map((one) => ({ ...one, at: one.at + 300, connection: 1 }));

/** A run that prints the key. */
const printing = (withKey: number, inFailure = 0, facts?: Partial<RunFacts>) =>
  runOf([], { output: { lines: 2, withKey, inFailure }, ...facts });
const silent = runOf([], { output: { lines: 0, withKey: 0, inFailure: 0 } });

type Run = RunFacts | readonly Sample[];
const factsOf = (run: Run) => ('requests' in run ? run : runOf(run));

/** By rule: what happens, the state, the run, the outcome, and the unchanged run if it is another one. */
type Row = readonly [
  what: string,
  state: string,
  run: Run,
  outcome: string,
  unchanged?: Run | undefined,
  other?: readonly [state: string, run: RunFacts],
];
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
    [
      'many repeats within an hour',
      'limited-for-an-hour',
      runOf(refused(Array(101).fill(90)), red),
      'broken',
    ],
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
    ['a test with a failure of its own', 'limited-thrice', [...twice([0, 0, 0]), ...prepared], 'broken'],
    ['after the test set up its world', 'limited-thrice', setUp(twice([0, 0, 0])), 'notSeen'],
    ['the runner repeats red tests', 'limited-thrice', twice([0, 0, 0]), 'unclear', undefined, rerun],
  ],
  repeat: [
    ['a repeat', 'limited', twice([1000]), 'kept'],
    ['no repeat', 'limited-until-date', runOf(once, red), 'broken'],
    [
      'two tests ask, no repeat',
      'limited-thrice',
      runOf(lostIn([2000]), red),
      'broken',
      [{ at: 0 }, { at: 9 }],
    ],
    ['repeats that are over too early', 'limited', runOf(lostIn([100, 200]), red), 'broken'],
    ['three tries in 1.2 s', 'limited-thrice', runOf(lostIn([600, 600]), red), 'notSeen'],
    ['a repeat, and the test counts requests', 'limited', runOf(twice([1000]), red), 'notSeen'],
    ['another lookup came again', 'limited', runOf([...once, ...refused([900], other)], red), 'notSeen'],
    ['the other endpoint, in time', 'limited', runOf(mixed, { ...red, durationMs: 1100 }), 'notSeen'],
    ['the other endpoint, long after', 'limited', runOf(mixed, red), 'broken'],
    ['stopped in the wait', 'limited', runOf(once, { ...red, isStopped: true, durationMs: 900 }), 'notSeen'],
    ['the test sets up its world later', 'limited', runOf([...once, ...prepared], red), 'notSeen'],
    ['tests with a 429 of their own get a repeat', 'limited', runOf([...once, ...own429], red), 'unclear'],
    [
      'the same, but other forms of a 429 get one, too',
      'limited-until-date',
      runOf([...once, ...own429], red),
      'broken',
      undefined,
      ['limited', runOf(refused([1000]))],
    ],
  ],
  'back-off': [
    ['no pauses', 'limited-thrice', twice([0, 0, 0]), 'broken'],
    ['the same pauses', 'limited-thrice', twice([200, 215, 205]), 'broken'],
    ['the same pauses of one request', 'limited-thrice', refused([200, 200, 200]), 'unclear'],
    ['800, 400, 200', '503-thrice', twice([800, 400, 200]), 'broken'],
    ['800, 400, 200 of one request', '503-thrice', refused([800, 400, 200]), 'unclear'],
    ['random pauses', '503-thrice', twice([90, 40, 240], [70, 8, 110]), 'unclear'],
    ['pauses that double', '503-thrice', twice([100, 200, 400]), 'kept'],
    ['pauses that double, on a busy machine', '503-thrice', twice([279, 256, 468]), 'kept'],
    ['the same, when it gets less busy', '503-thrice', twice([496, 315, 456], [524, 361, 446]), 'unclear'],
    ['pauses that double, with jitter', '503-thrice', twice([50, 120, 260], [90, 110, 350]), 'kept'],
    ['pauses that grow by a few ms', '503-thrice', twice([200, 202, 205]), 'broken'],
    ['one pause', '503-thrice', refused([100]), 'notSeen'],
    ['as long as Retry-After says', 'limited', twice([1003]), 'kept'],
    ['a little less: clocks are coarse', 'limited', twice([905]), 'kept'],
    ['shorter than Retry-After', 'limited', twice([60, 120, 240, 480, 960]), 'broken'],
    ['shorter in a red run', 'limited', runOf(twice([60, 120]), red), 'unclear'],
    ['shorter only in some tests, perhaps with fake timers', 'limited', twice([1000], [5]), 'notSeen'],
    ['nothing comes within an hour', 'limited-for-an-hour', runOf(once, red), 'kept'],
    ['a repeat within an hour', 'limited-for-an-hour', inWorld(early), 'broken'],
    ['the runner repeats red tests', 'limited-for-an-hour', inWorld(early), 'unclear', undefined, rerun],
    ['other tests ask for what is in no cache', 'limited-for-an-hour', early, 'unclear'],
  ],
  'refused-request': [
    ['no repeat', 'refused-once', runOf(once, red), 'kept'],
    ['a repeat', 'refused-once', twice([100]), 'broken'],
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
    ['one test asks, just after another lookup', 'more-polls', unchanged, 'broken', [before(270), ...late]],
    ['a client that pauses first', 'more-polls', unchanged, 'unclear', [before(200), ...late]],
    [
      'the lookup before is of another process',
      'more-polls',
      unchanged,
      'unclear',
      [before(270, 2), ...late],
    ],
  ],
  'poll-pace': [
    ['polls with a pause', 'pending-longer', polls(4, 1, 20, 4), 'kept', polled],
    ['64 polls', 'pending-longer', polls(64, 0, 4, 64), 'broken', polled, waited(1000)],
    [
      '64 polls, and a wait that takes no time',
      'pending-longer',
      polls(64, 0, 4, 64),
      'unclear',
      polled,
      waited(100),
    ],
    [
      '64 polls, and another test asks later',
      'pending-longer',
      polls(64, 0, 4, 64),
      'unclear',
      polled,
      waited(1000, red),
    ],
    ['64 polls, and no wait', 'pending-longer', polls(64, 0, 4, 64), 'unclear', polled],
    ['64 polls in one of two worlds', 'pending-longer', twoWorlds, 'unclear', polled, waited(1000)],
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
    ['a key in a red run', '503', printing(1, 0, red), 'broken'],
    ['a key in what a runner prints of a red test', '503', printing(0, 1, red), 'unclear'],
    ['the same in a green run', '503', printing(0, 1), 'broken'],
    ['a key in every run', '503', unchanged, 'broken', printing(1)],
  ],
  'key-for-origin': [
    ['no redirect', 'redirected', unchanged, 'notSeen'],
    ['not followed', 'redirected', runOf(once, red), 'kept'],
    ['followed with the key', 'redirected', runOf(once, { ...red, isKeyElsewhere: true }), 'broken'],
  ],
};

for (const [id, rows] of Object.entries(table))
  describe(id, () => {
    for (const [what, state, run, expected, first = unchanged, another] of rows)
      test(`${what}: ${expected}`, () => {
        const runs = new Map([
          ['unchanged', factsOf(first)],
          [state, factsOf(run)],
          ...(another === undefined ? [] : [another]),
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
  assert.deepEqual([broken.outcome, broken.requests], ['broken', ['at 0 ms: GET … → 200']]);
});

const lines: readonly (readonly [line: string, writer: string, redTest?: string])[] = [
  ['GET /api Bearer k', 'program'],
  ["  error: 'Unauthorized with k'", 'program'],
  ['E   ApiError: no k', 'program'],
  ["    Authorization: 'Bearer k',", 'failure'],
  ["E   assert 'k' == 'x'", 'failure'],
  ['test_a.py::test_b[k] PASSED [ 50%]', 'title'],
  ['FAILED test_a.py::test_b - assert 1 == 2', 'program', 'test_a.py::test_b'],
  ['✖ a member (12.5ms)', 'title', 'a member'],
  ['    not ok 3 - a member', 'title', 'a member'],
  ['ERROR: no connection', 'program'],
];
for (const [line, writer, redTest] of lines)
  test(`a line of output: ${line}`, () =>
    assert.deepEqual([writerOf(line), redTestIn(line)], [writer, redTest]));
