import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  accountOf,
  limitOf,
  newLimits,
  nextTurn,
  paceOf,
  reduce,
  type Asked,
  type LimitEvent,
  type Limits,
} from './account.ts';
import type { Policy } from './advertised.ts';
import type { RateLimit } from './limit.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Whose request it is, and what its answer says. Each is sent and answered at the same time, unless it says more. */
interface What extends Partial<Asked> {
  readonly sentAt?: number;
  readonly retryAfterMs?: number;
  readonly policies?: readonly Policy[];
  readonly left?: number;
  readonly resetMs?: number;
}

/** What a run knows, and the events that change it, on `deposit-check` with the key `k` unless they say otherwise. */
function knowing(stated?: RateLimit, { deadline = HOUR_MS, runMs = HOUR_MS } = {}) {
  let limits: Limits = newLimits(stated === undefined ? {} : { 'deposit-check': stated }, {
    deadline,
    runMs,
  });
  const askedOf = ({ endpoint = 'deposit-check', key = 'k', cost = 1 }: What): Asked => ({
    endpoint,
    key,
    cost,
  });
  const add = (event: LimitEvent) => {
    const before = structuredClone(limits);
    const next = reduce(limits, event);
    assert.deepEqual(limits, before, 'a state never changes');
    limits = next;
  };
  const endOf = (at: number, what: What) => ({
    ...askedOf(what),
    at,
    sentAt: what.sentAt ?? at,
    policies: what.policies ?? [],
    isAdmitted: true,
    counted: (what.cost ?? 1) > 0,
  });
  const send = (what: What = {}) => add({ ...askedOf(what), kind: 'sent' });
  const answer = (at: number, what: What = {}) => {
    const { left, resetMs = 0, sentAt = at } = what;
    const advertised =
      left === undefined
        ? undefined
        : { field: 'RateLimit', remaining: left, resetAt: at + resetMs, at: sentAt };
    add({
      ...endOf(at, what),
      kind: 'answered',
      advertised,
    });
  };
  const refusal = (at: number, what: What = {}) => {
    const wanted =
      what.retryAfterMs === undefined ? undefined : { ms: what.retryAfterMs, field: 'Retry-After' };
    add({ ...endOf(at, what), kind: 'refused', wanted });
  };
  return {
    send,
    answer,
    refusal,
    add,
    pass: (at: number, what: What = {}) => {
      send(what);
      answer(at, what);
    },
    /** Passes so many, 1 ms apart. */
    passMany: (count: number, from: number, what: What = {}) => {
      for (let nth = 0; nth < count; nth++) {
        send(what);
        answer(from + nth, what);
      }
    },
    refuse: (at: number, what: What = {}) => {
      send(what);
      refusal(at, what);
    },
    /** When a request may be sent: ms, or why not. */
    turn: (now: number, what: What = {}) => {
      const turn = nextTurn(limits, askedOf(what), now);
      return turn.kind === 'at'
        ? turn.at
        : turn.kind === 'now'
          ? now
          : turn.kind === 'reply'
            ? 'reply'
            : turn.why;
    },
    state: () => limits.endpoints['deposit-check'],
    limit: () => {
      const limit = limitOf(limits.endpoints['deposit-check']);
      return limit && [limit.most, limit.windowMs, limit.source];
    },
    pace: () => {
      const { most, windowMs } = paceOf(limits.endpoints['deposit-check'])!;
      return windowMs / (most - 1);
    },
    remarks: () => limits.remarks.map(({ kind, words }) => [kind, words]),
    ignored: () => limits.ignored,
  };
}

const twenty: RateLimit = { most: 20, windowMs: 5 * MINUTE_MS };
const five: RateLimit = { most: 5, windowMs: 3000 };

test('a free request that passes while others still wait does not let them wait for ever', () => {
  for (const isRefused of [false, true]) {
    const one = knowing();
    one.pass(0);
    one.send({ cost: 0 });
    one.refuse(0);
    one.refusal(1, { cost: 0, sentAt: 0 });
    one.refuse(520);
    assert.deepEqual([one.turn(600), one.turn(600, { cost: 0 })], [1540, 600]);
    (isRefused ? one.refuse : one.pass)(600, { cost: 0 });
    assert.equal(one.turn(1540), 1540);
  }
});

describe('each wait of a key that gets only 429, in ms', () => {
  const noMore = /^still 429 after 1 min in which nothing was sent$/;
  for (const [name, stated, retryAfterMs, waits, end] of [
    ['nothing known', undefined, undefined, [520, 1020, 2020, 4020, 8020, 10_020], undefined],
    ['Retry-After', undefined, 1000, [1020, 2020, 60_000], noMore],
    ['Retry-After of nothing', undefined, 0, [20, 1020, 60_000], noMore],
    ['a stated window', five, undefined, [3020, 4020, 60_000], noMore],
    ['a stated window and a longer Retry-After', five, 9000, [9020, 10_020, 60_000], noMore],
    [
      'a stated window of 5 min: twice as long decides',
      twenty,
      undefined,
      [300_020, 301_020, 600_000],
      /^still 429 after 10 min in which nothing was sent$/,
    ],
    [
      'a long Retry-After decides itself',
      undefined,
      400_000,
      [400_020, 401_020, 402_020],
      /^still 429 after 402 s in which nothing was sent$/,
    ],
  ] as const)
    test(name, () => {
      const one = knowing(stated);
      let now = 0;
      one.pass(now);
      for (const wait of waits) {
        one.refuse(now, retryAfterMs === undefined ? {} : { retryAfterMs });
        assert.equal(one.turn(now), now + wait);
        now += wait;
        assert.equal(one.turn(now), now);
      }
      one.refuse(now, retryAfterMs === undefined ? {} : { retryAfterMs });
      if (end !== undefined) assert.match(String(one.turn(now)), end);
    });
  test('a rest that takes more than a quarter of the run is not waited for, but named', () => {
    const one = knowing(five, { runMs: 3 * MINUTE_MS });
    for (const now of [0, 3020, 7040]) one.refuse(now);
    assert.match(
      String(one.turn(7040)),
      /^still 429 after 7 s; 1 min in which nothing is sent would show more$/,
    );
    one.add({ kind: 'retry', endpoint: 'deposit-check', key: 'k', cost: 1 });
    assert.equal(one.turn(7040), 67_040);
  });
  test('after the deadline nothing is sent', () => {
    const one = knowing(five, { deadline: 2000 });
    one.refuse(0);
    assert.match(String(one.turn(0)), /--max-duration/);
  });
});

describe('what goes on while a key is refused', () => {
  test('requests that do not count, other keys, and the other endpoint', () => {
    const one = knowing();
    one.refuse(0, { retryAfterMs: 60_000 });
    assert.equal(one.turn(0), 60_020);
    assert.equal(one.turn(0, { cost: 0 }), 0);
    assert.equal(one.turn(0, { key: 'other' }), 0);
    assert.equal(one.turn(0, { endpoint: 'user-status' }), 0);
  });
  test('nothing with that key, once a request that does not count got 429 too', () => {
    const one = knowing();
    one.refuse(0, { retryAfterMs: 60_000 });
    one.refuse(100, { cost: 0, retryAfterMs: 60_000 });
    assert.equal(one.turn(100, { cost: 0 }), 60_020);
    assert.equal(one.turn(100), 60_020, 'the same wait: it was not refused after a wait');
    one.send({ cost: 0 });
    assert.equal(one.turn(60_020, { cost: 0 }), 'reply', 'one shows whether that has ended');
    one.answer(60_020, { cost: 0 });
    assert.equal(one.turn(60_020, { cost: 0 }), 60_020);
  });
  test('one request that shows whether it has ended, and no other until its answer', () => {
    const one = knowing();
    one.refuse(0, { retryAfterMs: 1000 });
    one.send();
    assert.equal(one.turn(1100), 'reply');
    one.answer(1200, { sentAt: 1100 });
    assert.equal(one.turn(1200), 1200);
  });
  test('answers to requests sent before its end change nothing', () => {
    const one = knowing();
    for (let nth = 0; nth < 4; nth++) one.send();
    one.refusal(10, { sentAt: 0, retryAfterMs: 1000 });
    one.refusal(11, { sentAt: 1, retryAfterMs: 5000 });
    one.answer(12, { sentAt: 2 });
    assert.equal(one.turn(12), 1030);
    assert.equal(accountOf(one.state(), 'k').refusal?.count, 1);
  });
});

describe('a stated limit', () => {
  test('is used but for one request, which is for those that do not count', () => {
    const one = knowing(five);
    one.passMany(4, 0);
    assert.equal(one.turn(10), 3020, 'when the first one has left the window');
    assert.equal(one.turn(10, { cost: 0 }), 10);
    one.pass(10);
    assert.equal(one.turn(11, { cost: 0 }), 3020);
    assert.deepEqual(
      [3020, 3021, 3022].map((now) => one.turn(now)),
      [3021, 3021, 3022],
    );
  });
  test('counts a request from its sending to one window after its answer', () => {
    const one = knowing({ most: 2, windowMs: 1000 });
    one.send();
    assert.equal(one.turn(0), 'reply');
    one.answer(700, { sentAt: 0 });
    assert.equal(one.turn(700), 1720);
  });
  test('is not used up by requests that got 429, nor by those without a key', () => {
    const one = knowing({ most: 3, windowMs: 1000 });
    one.passMany(50, 0, { key: '' });
    one.refuse(50, { retryAfterMs: 0 });
    one.pass(100);
    assert.equal(one.turn(100), 100);
  });
  test('may have counted a lost request', () => {
    const one = knowing({ most: 2, windowMs: 1000 });
    one.send();
    const asked: Asked = { endpoint: 'deposit-check', key: 'k', cost: 1 };
    one.add({ ...asked, kind: 'lost', at: 5, sentAt: 5, isAdmitted: true, counted: true, policies: [] });
    assert.equal(one.turn(5), 1025);
  });
});

const policy = (most: number, windowMs: number): readonly Policy[] => [
  { field: 'ratelimit-policy', most, windowMs },
];

describe('a target that contradicts the stated limit', () => {
  const contradictions: Readonly<
    Record<string, readonly [(one: ReturnType<typeof knowing>) => void, RegExp]>
  > = {
    'a policy with a longer window': [
      (one) => one.pass(0, { policies: policy(20, 10 * MINUTE_MS) }),
      /^deposit-check: ratelimit-policy says 20 in 10 min, but 20 in 5 min is stated$/,
    ],
    'a Retry-After longer than the window, before the limit was reached': [
      (one) => {
        one.passMany(7, 0);
        one.refuse(10, { retryAfterMs: 10 * MINUTE_MS });
      },
      /^deposit-check: 429 after 7 counted requests \(Retry-After 10 min\), but 20 in 5 min is stated$/,
    ],
    'an early 429 that lasts longer than the window': [
      (one) => {
        one.passMany(7, 0);
        one.refuse(10, { retryAfterMs: 4 * MINUTE_MS });
        one.refuse(4 * MINUTE_MS + 30, { retryAfterMs: 3 * MINUTE_MS });
        one.refuse(8 * MINUTE_MS, { retryAfterMs: MINUTE_MS });
        one.pass(19 * MINUTE_MS);
      },
      /^deposit-check: a 429 came before the stated limit was reached and lasted \S+ (s|min), but 20 in 5 min is stated$/,
    ],
  };
  for (const [name, [happens, words]] of Object.entries(contradictions))
    test(`${name}: named once, and the stated limit is given up`, () => {
      const one = knowing(twenty);
      happens(one);
      const found = one.remarks().filter(([kind]) => kind === 'contradiction');
      assert.equal(found.length, 1, JSON.stringify(one.remarks()));
      assert.match(found[0]![1]!, words);
      assert.equal(one.state().stated, undefined);
    });

  const consistent: Readonly<Record<string, (one: ReturnType<typeof knowing>) => void>> = {
    'the same policy': (one) => one.pass(0, { policies: policy(20, 5 * MINUTE_MS) }),
    'the same policy beside a daily one': (one) =>
      one.pass(0, { policies: [...policy(20, 5 * MINUTE_MS), ...policy(20, 1440 * MINUTE_MS)] }),
    'a policy that allows more': (one) => one.pass(0, { policies: policy(1000, 60 * MINUTE_MS) }),
    'a policy with a shorter window': (one) => one.pass(0, { policies: policy(20, MINUTE_MS) }),
    'a policy with the same window and fewer requests': (one) =>
      one.pass(0, { policies: policy(10, 5 * MINUTE_MS) }),
    'a policy in an answer to a request without a key': (one) =>
      one.pass(0, { key: '', cost: 0, policies: policy(1, 60 * MINUTE_MS) }),
    'a Retry-After within the window': (one) => {
      one.passMany(7, 0);
      one.refuse(10, { retryAfterMs: 5 * MINUTE_MS });
    },
    'a 429 at the limit': (one) => {
      one.passMany(20, 0);
      one.refuse(30);
    },
    'a limit that was used up before': (one) => one.refuse(0, { retryAfterMs: 4 * MINUTE_MS }),
  };
  for (const [name, happens] of Object.entries(consistent))
    test(`${name}: no contradiction`, () => {
      const one = knowing(twenty);
      happens(one);
      assert.deepEqual(
        one.remarks().filter(([kind]) => kind === 'contradiction'),
        [],
      );
      assert.deepEqual(one.limit(), [20, 5 * MINUTE_MS, 'stated']);
    });
});

describe('a limit that was used up when the run began', () => {
  test('is named if the first counted request is refused, stated or not', () => {
    for (const stated of [twenty, undefined]) {
      const one = knowing(stated);
      one.pass(0, { key: '', cost: 0 });
      one.refuse(0, { retryAfterMs: 297_000 });
      one.refuse(298_000, { retryAfterMs: 1000 });
      assert.deepEqual(one.remarks(), [
        ['used-up', 'deposit-check: the limit was already used up when this run began (Retry-After 297 s)'],
      ]);
    }
  });
  test('is not named for a request without an accepted key', () => {
    const one = knowing(twenty);
    one.refuse(0, { key: '', cost: 0, retryAfterMs: 1000 });
    assert.deepEqual(one.remarks(), []);
  });
  test('is not named once a counted request passed, with any key', () => {
    const one = knowing();
    one.pass(0, { key: 'other' });
    one.refuse(1, { retryAfterMs: 297_000 });
    assert.deepEqual(one.remarks(), []);
  });
});

describe('a 429 before the stated limit was reached', () => {
  test('is named with the number of counted requests, and keeps the limit', () => {
    const one = knowing(twenty);
    one.passMany(5, 0);
    one.refuse(10, { retryAfterMs: MINUTE_MS });
    assert.deepEqual(one.remarks(), [
      [
        'early',
        'deposit-check: refused after 5 of 20: another run or client used this limit, or it is lower',
      ],
    ]);
    assert.deepEqual(one.limit(), [20, 5 * MINUTE_MS, 'stated']);
  });
  test('is named once', () => {
    const one = knowing(twenty);
    one.pass(0);
    for (const at of [10, 2000]) {
      one.refuse(at, { retryAfterMs: 1000 });
      one.pass(at + 1020);
    }
    assert.equal(one.remarks().length, 1);
  });
  for (const [scope, what] of [
    ['key on both endpoints', { endpoint: 'user-status' }],
    ['endpoint', { key: 'other' }],
    ['service', { endpoint: 'user-status', key: 'other' }],
  ] as const)
    test(`is not early if the limiter counts the ${scope} together`, () => {
      const one = knowing(twenty);
      one.passMany(10, 0, what);
      one.passMany(10, 10);
      one.refuse(30, { retryAfterMs: MINUTE_MS });
      assert.deepEqual([one.remarks(), limitOf(one.state())?.scope], [[], scope]);
      one.pass(MINUTE_MS + 30);
      const isFree = one.turn(MINUTE_MS + 31, { key: 'third' }) === MINUTE_MS + 31;
      assert.equal(isFree, scope === 'key on both endpoints', 'new keys share it');
      assert.equal(one.turn(MINUTE_MS + 31, { key: 'revoked', cost: 0 }), MINUTE_MS + 31, 'free ones do not');
    });
});

describe('without a stated limit', () => {
  test('the end of a refusal gives the window, the requests before it the threshold', () => {
    const one = knowing();
    one.passMany(4, 0);
    one.refuse(10, { retryAfterMs: 3000 });
    one.pass(3030);
    assert.deepEqual(one.limit(), [4, 3000, 'learned']);
  });
  test('of several policies, the shortest window that explains the 429 is the limit', () => {
    const policies = [
      ...policy(1000, 1440 * MINUTE_MS),
      ...policy(3, 60 * MINUTE_MS),
      ...policy(4, MINUTE_MS),
      ...policy(9, 1000),
    ];
    const one = knowing();
    one.passMany(4, 0, { policies });
    assert.equal(one.limit(), undefined, 'a policy alone is no limit');
    one.refuse(10, { policies });
    assert.deepEqual(one.limit(), [4, MINUTE_MS, 'advertised']);
  });
  test('a policy that does not explain the 429 is no limit', () => {
    const one = knowing();
    one.passMany(4, 0);
    one.refuse(10, { policies: policy(100, MINUTE_MS) });
    assert.equal(one.limit(), undefined);
  });
  test('a policy that only a 429 names slows sending, but never stops it', () => {
    const one = knowing();
    const policies = policy(4, 1440 * MINUTE_MS);
    one.passMany(4, 0);
    one.refuse(10, { policies, retryAfterMs: 0 });
    one.pass(30);
    assert.deepEqual(one.limit(), [4, 1440 * MINUTE_MS, 'advertised']);
    assert.equal(one.turn(30), 30);
    one.send();
    assert.equal(one.turn(30), 'reply');
  });
  test('more than twice as many pass as a policy says: it is ignored', () => {
    const one = knowing();
    const policies = policy(4, 1440 * MINUTE_MS);
    one.passMany(4, 0);
    one.refuse(10, { policies, retryAfterMs: 0 });
    one.passMany(4, 30);
    assert.deepEqual(one.ignored(), []);
    one.pass(40);
    assert.deepEqual([one.ignored(), one.limit()], [['ratelimit-policy'], undefined]);
    one.refuse(50, { policies, retryAfterMs: 0 });
    assert.notEqual(one.limit()?.[2], 'advertised');
  });
  test('a 429 that only a header makes last is tested by one more request', () => {
    const one = knowing(undefined, { deadline: MINUTE_MS });
    one.passMany(4, 0);
    one.refuse(10, { retryAfterMs: HOUR_MS });
    assert.equal(one.turn(10), 510);
    one.pass(510);
    assert.deepEqual(one.ignored(), ['Retry-After']);
    assert.ok(Number(one.turn(510)) < 1500, `${one.turn(510)}`);
    one.refuse(20_000, { retryAfterMs: 30_000 });
    assert.ok(Number(one.turn(20_000)) < 22_000, `${one.turn(20_000)}`);
  });
});

describe('an answer that says that nothing is left', () => {
  const none = { left: 0, resetMs: MINUTE_MS };
  test('is tested by one request, before anything waits', () => {
    const one = knowing();
    one.pass(0, none);
    assert.equal(one.turn(1), 1);
    one.send();
    assert.equal(one.turn(1), 'reply');
  });
  test('and was wrong: the field is ignored from then on', () => {
    const one = knowing();
    one.pass(0, none);
    one.pass(5, none);
    assert.deepEqual(one.ignored(), ['RateLimit']);
    for (let nth = 0; nth < 10; nth++) one.send();
    assert.equal(one.turn(6), 6);
  });
  test('and was right: the key waits as after any 429', () => {
    const one = knowing();
    one.pass(0, none);
    one.refuse(5, { retryAfterMs: 59_000 });
    assert.deepEqual([one.turn(5), one.ignored()], [59_025, []]);
  });
  test('is not wrong if its time was over, or if the request had been sent before', () => {
    for (const what of [{ sentAt: 59_900 }, { sentAt: 0 }]) {
      const one = knowing();
      one.pass(0, none);
      one.pass(60_000, what);
      assert.deepEqual(one.ignored(), []);
    }
  });
  test('slows sending to what is left', () => {
    const one = knowing();
    one.pass(0, { left: 3, resetMs: MINUTE_MS });
    one.send();
    assert.equal(one.turn(1), 1);
    one.send();
    assert.equal(one.turn(1), 'reply');
  });
});

test('a bucket has no window, but a pace: one request in so many ms', () => {
  const one = knowing();
  let [level, last] = [20, 0];
  for (let now = 0; now < HOUR_MS; now += 1000) {
    level = Math.min(20, level + (now - last) / 15_000);
    last = now;
    while (one.turn(now) === now)
      if (level >= 1) {
        level--;
        one.pass(now);
      } else one.refuse(now, { retryAfterMs: 15_000 });
  }
  assert.ok(Math.abs(one.pace() / 15_000 - 1) < 0.1, `${one.pace()} ms`);
});

test('a stated window that refuses early takes longer than stated', () => {
  const one = knowing(twenty);
  one.passMany(10, 0);
  assert.equal(one.pace(), twenty.windowMs / 19);
  one.refuse(20);
  assert.ok(one.pace() > 1.2 * (twenty.windowMs / 19));
});

test('a wait that is longer than the stated window contradicts it, whoever else may have counted', () => {
  for (const [retryAfterMs, kinds] of [
    [30_000, ['contradiction']],
    [3000, []],
  ] as const) {
    const one = knowing({ most: 20, windowMs: 3000 });
    one.passMany(10, 0);
    one.passMany(20, 0, { endpoint: 'user-status' });
    one.refuse(20, { retryAfterMs });
    assert.deepEqual(
      one.remarks().map(([kind]) => kind),
      kinds,
    );
  }
});
