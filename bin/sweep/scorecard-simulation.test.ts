import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Fixture } from '../../schemas/generated/types.ts';
import { scorecardOf } from './scorecard.ts';
import { builtIn, depositPath, ids, testSession, userPath } from '../../mock/testing/session.ts';

/** A received answer; times are ms from the start. */
interface Reply {
  readonly at: number;
  readonly status: number;
  readonly retryAfterMs: number;
}

/** Earliest time of the next request. */
interface Hold {
  until: number;
}

/** A request of a worker, at a time or when its wait ends. */
interface Ask {
  readonly at: number;
  readonly target: string;
  readonly hold: Hold;
}

type Worker = Generator<Ask, void, Reply>;

const fixture: Fixture = {
  ...builtIn,
  limits: {
    'user-status': { failedLookups: 30, windowSeconds: 5 },
    'deposit-check': { requests: 40, windowSeconds: 5 },
  },
};

/** Runs workers in parallel in simulated time, and returns broken and kept rules. `travel` is the latency in ms. */
function graded(workers: readonly Worker[], travel: () => number, chaos: readonly string[] = []) {
  const mock = testSession({ fixture, chaos, chaosSeed: 7, journal: 100_000 });
  let now = 0;
  const events: { readonly at: number; readonly run: () => void }[] = [];
  const after = (at: number, run: () => void) => void events.push({ at, run });
  const step = (worker: Worker, reply?: Reply) => {
    const next = reply === undefined ? worker.next() : worker.next(reply);
    if (next.done !== true) send(worker, next.value);
  };
  const send = (worker: Worker, ask: Ask) =>
    after(ask.at, () => {
      // Another worker may have got a 429 since this was planned.
      if (now < ask.hold.until) return send(worker, { ...ask, at: ask.hold.until });
      return after(now + travel(), () => {
        const { status, headers } = mock.get(ask.target);
        const retryAfterMs = Number(headers['Retry-After'] ?? 0) * 1000;
        after(now + travel(), () => step(worker, { at: now, status, retryAfterMs }));
      });
    });
  for (const worker of workers) step(worker);
  while (events.length > 0) {
    const next = events.reduce((first, event) => (event.at < first.at ? event : first));
    events.splice(events.indexOf(next), 1);
    mock.passTime(next.at - now);
    now = next.at;
    next.run();
  }
  const card = scorecardOf(mock.entries());
  return (kind: 'broken' | 'kept') =>
    card.filter(({ outcome }) => outcome === kind).map(({ id }) => id as string);
}

const lookUp = (worker: number, job: number) =>
  userPath(`12345678-1234-4234-8${String(worker).padStart(3, '0')}-${String(job).padStart(12, '0')}`);

/** Retries on 429 and 5xx, and waits as each 429 says. */
function* retry(at: number, target: string, hold: Hold, jitter: () => number): Generator<Ask, Reply, Reply> {
  for (let failures = 0; ;) {
    const reply = yield { at, target, hold };
    at = reply.at;
    if (reply.status === 429) hold.until = Math.max(hold.until, at + reply.retryAfterMs + jitter());
    else if (reply.status >= 500) at += 100 * 2 ** failures++ + jitter();
    else return reply;
  }
}

function* looksUp(worker: number, jobs: number, hold: Hold, jitter: () => number): Worker {
  let at = jitter();
  for (let job = 0; job < jobs; job++) ({ at } = yield* retry(at, lookUp(worker, job), hold, jitter));
}

function* polls(id: string, everyMs: number, hold: Hold, jitter: () => number): Worker {
  for (let at = jitter(); ;) {
    const reply = yield* retry(at, depositPath(id), hold, jitter);
    if (reply.status === 200) return;
    at = reply.at + everyMs;
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

test('a good client breaks no rule, with any number of requests in flight', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(params, ({ workers, jobs, everyMs, slowest, shared, chaos, noise }) => {
      const upTo = (most: number) => (noise.next().value as number) % (most + 1);
      const jitter = () => upTo(300);
      // Workers share their wait and their users, or each has its own.
      const one: Hold = { until: 0 };
      const depositHold: Hold = { until: 0 };
      const fleet = [
        ...Array.from({ length: workers }, (_, worker) =>
          looksUp(shared ? 0 : worker, jobs, shared ? one : { until: 0 }, jitter),
        ),
        ...[ids.afterPolls, ids.afterPolls, ids.afterSeconds].map((id) =>
          polls(id, everyMs, depositHold, jitter),
        ),
      ];
      const rules = graded(fleet, () => upTo(slowest), chaos);
      assert.deepEqual(rules('broken'), []);
      for (const id of rules('kept')) seen.add(id);
    }),
    { seed: 7, numRuns: 100 },
  );
  assert.ok(seen.has('retry-after') && seen.has('polling'), 'clients met the limiter and polled');
});
