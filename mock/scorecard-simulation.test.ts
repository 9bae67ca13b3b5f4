import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { chaosFor, chaosName, parseChaos, type ChaosPlan } from './chaos.ts';
import { handlerOf } from './handler.ts';
import type { JournalEntry } from './journal.ts';
import { scorecardOf } from './scorecard.ts';
import { builtIn, START } from './testing/probes.ts';
import { createWorld } from './world.ts';

/** An answer as a client gets it: when, in ms from the start, and what. */
interface Got {
  readonly at: number;
  readonly status: number;
  readonly retryAfterSeconds?: number;
}

/** When a client may ask again, in ms from the start. */
interface Hold {
  until: number;
}

/** What a worker asks for, at a time in ms from the start or when its hold ends. */
interface Ask {
  readonly at: number;
  readonly target: string;
  readonly hold: Hold;
}

/** A worker of a client: asks, and is told the answer. */
type Worker = Generator<Ask, void, Got>;

interface Setting {
  readonly fixture: Fixture;
  readonly key: string;
  readonly chaos: ChaosPlan;
  /** Time in ms that a request, or an answer, takes on its way. */
  readonly way: () => number;
}

interface Event {
  readonly at: number;
  readonly happen: () => void;
}

/** What the journal of a mock holds after workers have run against it side by side. Time is only counted. */
function journalOf(
  workers: readonly Worker[],
  { fixture, key, chaos, way }: Setting,
): readonly JournalEntry[] {
  const world = createWorld(fixture, START);
  const handle = handlerOf();
  const journal: JournalEntry[] = [];
  const coming: Event[] = [];

  const answer = (target: string, at: number): Got => {
    const endpoint: Endpoint = target.includes(endpoints['user-status'].path)
      ? 'user-status'
      : 'deposit-check';
    const id = journal.length + 1;
    const action = chaosFor(chaos, 7, key, id);
    const request = { method: 'GET', target, headers: { authorization: `Bearer ${key}` } };
    const real = handle(world, request, START + at);
    const status = action?.kind === 'status' ? action.status : real.status;
    const waitSeconds = action?.kind === 'status' ? 1 : Number(real.headers['Retry-After']);
    const got = { at, status, ...(status === 429 ? { retryAfterSeconds: waitSeconds } : {}) };
    journal.push({
      ...got,
      id,
      at: START + at,
      world: '',
      credentialDigest: key,
      method: 'GET',
      target,
      endpoint,
      reason: '',
      keyInTarget: false,
      ...(action === undefined ? {} : { chaos: chaosName(action) }),
    });
    return got;
  };
  const goOn = (worker: Worker, got?: Got) => {
    const next = got === undefined ? worker.next() : worker.next(got);
    if (next.done !== true) plan(worker, next.value);
  };
  const plan = (worker: Worker, ask: Ask) => {
    const happen = () => {
      // Others may have been told to wait since this was planned.
      const { until } = ask.hold;
      if (ask.at < until) plan(worker, { ...ask, at: until });
      else send(worker, ask);
    };
    coming.push({ at: ask.at, happen });
  };
  const send = (worker: Worker, { at, target }: Ask) => {
    const arrives = at + way();
    const happen = () => {
      const said = answer(target, arrives);
      const returns = arrives + way();
      coming.push({ at: returns, happen: () => goOn(worker, { ...said, at: returns }) });
    };
    coming.push({ at: arrives, happen });
  };
  for (const worker of workers) goOn(worker);
  while (coming.length > 0) {
    const next = coming.reduce((first, event) => (event.at < first.at ? event : first));
    coming.splice(coming.indexOf(next), 1);
    next.happen();
  }
  return journal;
}

const KEY = 'northwind-key';
const fixture: Fixture = {
  ...builtIn,
  limits: {
    'user-status': { failedLookups: 30, windowSeconds: 5 },
    'deposit-check': { requests: 40, windowSeconds: 5 },
  },
};
const POLLED = '77777777-7777-4777-8777-777777777777';
const TIMED = '88888888-8888-4888-8888-888888888888';
const lookUp = (worker: number, job: number) =>
  `/api/ib/user-status?user_id=12345678-1234-4234-8${String(worker).padStart(3, '0')}-${String(job).padStart(12, '0')}`;
const poll = (id: string) => `/api/ib/deposit-check?reference_id=${id}`;

/** Asks until there is an answer but 429 and 5xx, and waits as each 429 says. */
function* patiently(
  from: number,
  target: string,
  hold: Hold,
  jitter: () => number,
): Generator<Ask, Got, Got> {
  let at = from;
  for (let failures = 0; ;) {
    const got = yield { at, target, hold };
    at = got.at;
    if (got.status === 429)
      hold.until = Math.max(hold.until, at + (got.retryAfterSeconds ?? 0) * 1000 + jitter());
    else if (got.status >= 500) at += 100 * 2 ** failures++ + jitter();
    else return got;
  }
}

function* looksUp(worker: number, jobs: number, hold: Hold, jitter: () => number): Worker {
  let at = jitter();
  for (let job = 0; job < jobs; job++) ({ at } = yield* patiently(at, lookUp(worker, job), hold, jitter));
}

function* polls(id: string, everyMs: number, hold: Hold, jitter: () => number): Worker {
  let at = jitter();
  for (;;) {
    const got = yield* patiently(at, poll(id), hold, jitter);
    if (got.status === 200) return;
    at = got.at + everyMs;
  }
}

const params = fc.record({
  workers: fc.integer({ min: 1, max: 8 }),
  jobs: fc.integer({ min: 1, max: 25 }),
  everyMs: fc.integer({ min: 100, max: 2000 }),
  slowest: fc.integer({ min: 0, max: 120 }),
  shared: fc.boolean(),
  chaos: fc.constantFrom<readonly string[]>([], ['429:0.1'], ['503:0.2', '429:0.05']),
  noise: fc.infiniteStream(fc.integer({ min: 0, max: 1_000_000 })),
});

describe('a good client, however many requests it has in flight', () => {
  test('breaks no rule', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(params, ({ workers, jobs, everyMs, slowest, shared, chaos, noise }) => {
        const upTo = (most: number) => (noise.next().value as number) % (most + 1);
        const jitter = () => upTo(300);
        const one: Hold = { until: 0 };
        // Workers share a hold and the users that they ask for, or each has its own.
        const hold = () => (shared ? one : { until: 0 });
        const depositHold: Hold = { until: 0 };
        const fleet = [
          ...Array.from({ length: workers }, (_, worker) =>
            looksUp(shared ? 0 : worker, jobs, hold(), jitter),
          ),
          polls(POLLED, everyMs, depositHold, jitter),
          polls(POLLED, everyMs, depositHold, jitter),
          polls(TIMED, everyMs, depositHold, jitter),
        ];
        const way = () => upTo(slowest);
        const card = scorecardOf(journalOf(fleet, { fixture, key: KEY, chaos: parseChaos(chaos), way }));
        for (const { rule, outcome } of card) {
          assert.notEqual(outcome.kind, 'broken', rule.id);
          if (outcome.kind === 'kept') seen.add(rule.id);
        }
      }),
      { seed: 7, numRuns: 300 },
    );
    assert.ok(seen.has('retry-after') && seen.has('polling'), 'the limiter and the polling came about');
  });
});

describe('a bad client is seen', () => {
  const broken = (workers: readonly Worker[]) =>
    scorecardOf(journalOf(workers, { fixture, key: KEY, chaos: [], way: () => 20 })).flatMap(
      ({ rule, outcome }) => (outcome.kind === 'broken' ? [rule.id] : []),
    );

  function* blindly(targets: readonly string[], gapMs: number): Worker {
    let at = 0;
    for (const target of targets) ({ at } = yield { at: at + gapMs, target, hold: { until: 0 } });
  }
  test('one that goes on whatever it is told', () => {
    const targets = Array.from({ length: 120 }, (_, job) => lookUp(0, job));
    assert.deepEqual(broken([blindly(targets, 0)]), ['retry-after']);
  });
  test('one that repeats itself at an even pace', () => {
    const targets = Array.from({ length: 60 }, () => lookUp(0, 0));
    assert.deepEqual(broken([blindly(targets, 50)]), ['retry-after', 'back-off']);
  });
  test('one that polls on', () => {
    assert.deepEqual(
      broken([
        blindly(
          Array.from({ length: 9 }, () => poll(POLLED)),
          500,
        ),
      ]),
      ['polling'],
    );
  });
});
