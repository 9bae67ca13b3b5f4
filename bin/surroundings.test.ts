/**
 * A run tells what the target did from what happened to it, by three lists of surroundings: the target's own faults
 * that look like an outage, what never ends, and what a correct target must not be blamed for.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { around, error, on } from '../mock/deviations/deviate.ts';
import { reference, type Behaviour } from '../mock/server/handler.ts';
import { endpoints } from '../schemas/endpoints.ts';
import type { FixtureLimits, RunRecord } from '../schemas/generated/types.ts';
import { reports } from '../reports/index.ts';
import { judgedBy } from '../reports/judgement.ts';
import { readBody, type Reply } from '../suites/answer.ts';
import { catalogue, type Client } from '../suites/index.ts';
import { part, partOf } from './dev/testing/part.ts';
import { failedIds, limitsOf, verifyMock, type MockRunOptions } from './dev/testing/verify-mock.ts';
import { exitCodeOf } from './exit-codes.ts';
import { loadFixture } from './input-files.ts';

const { limits: _, ...fixture } = await loadFixture(undefined, {});

/** A request at a time: its number, the ms since the start, and how many are in flight. */
interface Sent {
  readonly nth: number;
  readonly at: number;
  readonly inFlight: number;
  readonly request: Parameters<Client['send']>[0];
}

/** What stands between the run and the target, with a memory of its own: an answer, or undefined to let it pass. */
type Between = () => (sent: Sent) => Reply | undefined;

const answer = (status: number, text: string): Reply => ({
  kind: 'answer',
  status,
  headers: {},
  ...readBody(Buffer.from(text)),
  sentAt: 0,
  receivedAt: 0,
  tookMs: 0,
});
const page = (status: number, words = '') => answer(status, `<html><title>${status}</title>${words}</html>`);
const json = (status: number, words: string) => answer(status, JSON.stringify({ error: words }));
const refused: Reply = { kind: 'trouble', code: 'network', words: 'connect ECONNREFUSED' };
const silent: Reply = { kind: 'trouble', code: 'timeout', words: 'no answer within 5 s' };

const keyOf = ({ headers }: Sent['request']): string =>
  String(Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')?.[1]);
const [first, ...others] = fixture
  .apiKeys!.filter(({ state }) => state === 'active')
  .map(({ key }) => `Bearer ${key}`);
const isKey = (request: Sent['request']) => [first, ...others].includes(keyOf(request));
const spare = 'Bearer northwind-spare-key';
const isMalformed = ({ target }: Sent['request']) =>
  !/=[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/i.test(target);

/** Answers so from the nth request on, for so many ms. */
const outage =
  (nth: number, ms: number, made: (sent: Sent) => Reply): Between =>
  () => {
    let end: number | undefined;
    return (sent) => {
      if (sent.nth >= nth) end ??= sent.at + ms;
      return end !== undefined && sent.at < end ? made(sent) : undefined;
    };
  };
/** Answers so for so many ms, each time after so many requests of a kind. */
const after =
  (
    many: number,
    isCounted: (sent: Sent) => boolean,
    ms: number,
    made: () => Reply,
    group: (sent: Sent) => string = () => '',
  ): Between =>
  () => {
    const counts = new Map<string, { count: number; end: number }>();
    return (sent) => {
      const state = counts.get(group(sent)) ?? { count: 0, end: 0 };
      counts.set(group(sent), state);
      if (sent.at < state.end) return made();
      if (isCounted(sent) && ++state.count % many === 0) state.end = sent.at + ms;
      return undefined;
    };
  };
const isWrongKey = ({ request }: Sent) => !isKey(request);
const expired =
  (isLost: (sent: Sent) => boolean, status = 401, ms = 2000): Between =>
  () =>
  (sent) =>
    sent.at > ms && isLost(sent)
      ? json(
          status,
          `${keyOf(sent.request)} has expired, request ${createHash('md5').update(`${sent.nth}`).digest('hex')}`,
        )
      : undefined;

interface Row extends Partial<MockRunOptions> {
  readonly between?: Between;
  readonly behaviour?: Behaviour;
  /** Of the target; the fixture states none. */
  readonly limits?: FixtureLimits;
}

/** A limiter that answers otherwise than with 429. */
const limiter = (seconds: number, status: number, body: string): Row => ({
  behaviour: on(429, () => ({ status, body }))(reference),
  limits: limitsOf(20, 20, seconds),
});
/** Each key is banned after 20 malformed ids. */
const bannedKey = (ms: number): Row => ({
  between: after(
    20,
    ({ request }) => isKey(request) && isMalformed(request),
    ms,
    () => json(403, 'Forbidden'),
    ({ request }) => keyOf(request),
  ),
});
const ofNginx = '<html><center><h1>503 Service Temporarily Unavailable</h1></center><hr>nginx</html>';
/** All keys are refused, for good, once one is revoked. */
const killsAll = around((next) => {
  let isDead = false;
  return (world, request, now) => {
    const made = next(world, request, now);
    isDead ||= [...world.keys.changed.values()].some(
      ({ key, state }) => state === 'revoked' && world.keys.base.get(key)?.state === 'active',
    );
    return isDead
      ? { ...made, response: { ...made.response, status: 401, body: '{"error":"Unauthorized"}' } }
      : made;
  };
})(reference);

const mustFail: Readonly<Record<string, Row>> = {
  'a limiter that answers with the 503 page of nginx, 3 s': limiter(3, 503, ofNginx),
  'a limiter that answers with the 503 page of nginx, 10 s': limiter(10, 503, ofNginx),
  'a limiter that answers 403, 3 s': limiter(3, 403, '{"error":"Forbidden"}'),
  'a limiter that answers 403, 10 s': limiter(10, 403, '{"error":"Forbidden"}'),
  'a limiter that answers 401, 3 s': limiter(3, 401, '{"error":"Unauthorized"}'),
  'a limiter that answers 401, 10 s': limiter(10, 401, '{"error":"Unauthorized"}'),
  'a key that is banned for 3 s after 20 malformed ids': bannedKey(3000),
  'a key that is banned for 10 s after 20 malformed ids': bannedKey(10_000),
  'ids that crash a process, which is back in 5 s': {
    between: after(
      1,
      ({ request }) => /%00|%0a/i.test(request.target),
      5000,
      () => refused,
    ),
  },
  'a process that dies after every 300 requests': {
    between: after(
      300,
      () => true,
      5000,
      () => refused,
    ),
  },
  'a crowd that breaks a pool, which heals': {
    between: after(
      1,
      ({ inFlight }) => inFlight >= 16,
      500,
      () => json(500, 'no connection'),
    ),
  },
  'a revocation that kills all keys': { behaviour: killsAll },
  'a wrong key that makes the right one 401 for 10 s': {
    between: after(
      1,
      ({ request }) => !isKey(request) && keyOf(request).length > 10,
      10_000,
      () => json(401, 'Unauthorized'),
      ({ request }) => keyOf(request).slice(0, 16),
    ),
  },
  'false for everyone from request 500 on': {
    between:
      () =>
      ({ nth, request }) =>
        nth >= 500 && request.target.includes('user-status') && isKey(request) && !isMalformed(request)
          ? answer(200, '{"is_under_ib":false}')
          : undefined,
  },
  'one of three nodes that is bad, sticky by connection': {
    between:
      () =>
      ({ inFlight }) =>
        inFlight % 3 === 2 ? json(500, 'no connection') : undefined,
  },
  'a stack trace with an e-mail address in the page of an outage': {
    between: outage(600, 2000, ({ nth }) => page(502, `user${nth}@example.com at db.js:12`)),
  },
};

/** Never green and never failed: what was lost is the reason. */
const neverEnds: Readonly<Record<string, readonly [reason: string, Row]>> = {
  'a process that dies': ['outage', { between: outage(300, Infinity, () => refused) }],
  '500 for everything': [
    'outage',
    { between: outage(300, Infinity, () => json(500, 'Internal server error')) },
  ],
  'a gateway without a service': ['outage', { between: outage(700, Infinity, () => page(502)) }],
  'a target that hangs': ['outage', { between: outage(800, Infinity, () => silent) }],
  'one endpoint that is gone': [
    'outage',
    {
      between:
        () =>
        ({ nth, request }) =>
          nth > 900 && request.target.includes('deposit') ? page(502) : undefined,
    },
  ],
  'keys that expire': ['blocked', { between: expired(({ request }) => isKey(request)) }],
  'keys that are locked out': ['blocked', { between: expired(({ request }) => isKey(request), 403) }],
  'one key of two that expires': [
    'key-lost',
    { between: expired(({ request }) => keyOf(request) === spare) },
  ],
  'the only key that expires': [
    'key-lost',
    {
      fixture: { ...fixture, apiKeys: fixture.apiKeys!.filter(({ key }) => `Bearer ${key}` !== spare) },
      // Keys of two partners take turns.
      requirements: catalogue.filter(({ id }) => id.startsWith('foreign-ib/')),
      between: expired(({ request }) => isKey(request), 401, 500),
    },
  ],
  'a ban of the address, 403 with a page': [
    'blocked',
    { between: after(20, isWrongKey, 900_000, () => page(403)) },
  ],
  'a ban of the address, 403': [
    'blocked',
    { between: after(20, isWrongKey, 900_000, () => json(403, 'Banned')) },
  ],
  'a ban of the address, 401': [
    'blocked',
    { between: after(20, isWrongKey, 900_000, () => json(401, 'Banned')) },
  ],
  'a ban of the address, 401 with a page': [
    'blocked',
    { between: after(20, isWrongKey, 900_000, () => page(401)) },
  ],
};

const outages = {
  '502 with a page': () => page(502),
  '503 with another body each time': ({ nth }: Sent) => json(503, `upstream ${nth}`),
  'refused connections': () => refused,
};
const blameless: Readonly<Record<string, Row>> = {
  ...Object.fromEntries(
    Object.entries(outages).flatMap(([what, made]) =>
      [5, 800, 3000].flatMap((nth) =>
        [300, 2000, 8000, 15_000].map((ms) => [
          `${what} from request ${nth} on for ${ms} ms`,
          { between: outage(nth, ms, made) },
        ]),
      ),
    ),
  ),
  'an outage behind a front end that refuses long paths with a page': {
    cases: 1800,
    between: () => {
      const down = outage(2500, 8000, () => page(502))();
      return (sent) => down(sent) ?? (sent.request.target.length > 4000 ? page(414) : undefined);
    },
  },
  'an address that is blocked for 10 s': {
    between: () => {
      const block = outage(0, 10_000, () => page(403))();
      let wrong = 0;
      return (sent) => ((wrong += isWrongKey(sent) ? 1 : 0) >= 20 ? block(sent) : undefined);
    },
  },
  'a deployment: refused, 502, 503, well': {
    between: () => {
      const parts = [
        outage(700, 6000, ({ nth }) => json(503, `${nth}`)),
        outage(700, 4000, () => page(502)),
        outage(700, 2000, () => refused),
      ];
      const made = parts.map((one) => one());
      return (sent) => made.map((one) => one(sent)).findLast((one) => one !== undefined);
    },
  },
  '503 with a page while a limiter is tried': {
    fixture: { ...fixture, limits: limitsOf(20, 20, 3) },
    limits: limitsOf(20, 20, 3),
    between: () => {
      const block = outage(0, 2000, () => page(503))();
      let crowded = 0;
      return (sent) =>
        (crowded += sent.inFlight >= 8 && sent.at > 20_000 ? 1 : 0) > 40 ? block(sent) : undefined;
    },
  },
};

/** Verifies a mock in these surroundings. Each request takes 5 ms. */
async function verified({ between, behaviour = reference, limits, ...more }: Row) {
  const seen = { requests: 0, lostAt: 0 };
  const network: MockRunOptions['network'] = (client, clock) => {
    const startedAt = clock.now();
    const made = between?.();
    let [nth, inFlight] = [0, 0];
    return {
      ...client,
      send: async (request) => {
        const sentAt = clock.now();
        const sent = { nth: ++nth, inFlight: ++inFlight, at: sentAt - startedAt, request };
        await clock.sleep(4);
        const instead = made?.(sent);
        if (instead !== undefined) seen.lostAt ||= nth;
        const reply = instead ?? (await client.send(request));
        await clock.sleep(reply === silent ? 5000 : 1);
        inFlight--;
        seen.requests = nth;
        return reply.kind === 'answer' ? { ...reply, sentAt, receivedAt: clock.now() } : reply;
      },
    };
  };
  const run = { fixture, seed: 1 + (part % 5), cases: 400, maxDurationMs: 300_000, isBrief: true, ...more };
  const record = await verifyMock(
    behaviour,
    { ...run, network },
    limits === undefined ? run.fixture : { ...run.fixture, limits },
  );
  return { record, ...seen, code: exitCodeOf(judgedBy(record, { strict: false, allowIncomplete: true })) };
}

const failedRequired = (record: RunRecord) => {
  const required = new Set(
    record.requirements.flatMap(({ id, level }) => (level === 'required' ? [id] : [])),
  );
  return failedIds(record).filter((id) => required.has(id));
};

/** A pool that leaks: after so many executed deposits, they are not found for so many ms. */
function leak(ms: number): Row {
  let seen = 0;
  let startedAt = Infinity;
  const behaviour = on('executed', (response, exchange) => {
    if (++seen === 40) startedAt = exchange.now;
    const isEmpty = seen > 40 && exchange.now - startedAt < ms;
    return isEmpty ? error(404, endpoints['deposit-check'].messages[404])(response, exchange) : {};
  })(reference);
  return { behaviour, isBrief: false, cases: 1800 };
}

for (const [what, ms] of [
  ['from then on', Infinity],
  ['for 2 s', 2000],
] as const)
  test(`says since when, or how long, a pool leaked: ${what}`, async () => {
    const { record, code } = await verified(leak(ms));
    assert.equal(code, 1);
    const row = record.requirements.find(({ id }) => id === 'valid/deposit-check/executed');
    assert.ok(row?.outcome === 'failed' && row.since !== undefined);
    const { fromRequest, lastRightSeconds, fromSeconds, untilSeconds } = row.since;
    assert.ok(fromRequest > 40 && lastRightSeconds <= fromSeconds);
    const [isOver, lines] = [
      ms < Infinity,
      reports.console(record, { color: false, width: 200 }).split('\n'),
    ];
    assert.equal(untilSeconds !== undefined && untilSeconds < 5, isOver);
    // Its request alone cannot show what is over.
    // Another row of the same mistake may stand for it.
    const blocks = lines.join('\n').split('\n\n');
    const block = blocks.find((one) => one.includes('✗ ') && one.includes(row.id)) ?? '';
    const labels = block.split('\n').map((line) => line.trim().split(/ {2,}/)[0]!);
    assert.ok(labels.includes('since'), labels.join());
    assert.deepEqual([labels.includes('request'), row.replay !== undefined], [!isOver, !isOver]);
  });

for (const [what, row] of partOf(Object.entries(mustFail), 4))
  test(`fails: ${what}`, async () => assert.equal((await verified(row)).code, 1));

for (const [what, [reason, row]] of partOf(Object.entries(neverEnds), 4))
  test(`is incomplete, even with --allow-incomplete: ${what}`, async () => {
    const { record, code, requests, lostAt } = await verified(row);
    assert.deepEqual([code, failedRequired(record)], [3, []]);
    const open = record.requirements.flatMap((one) => (one.outcome === 'inconclusive' ? [one.reason] : []));
    assert.ok(open.includes(reason), open.join());
    for (const { key } of fixture.apiKeys!)
      assert.ok(!JSON.stringify(record).includes(key), 'a key is shown');
    // What goes on at the other endpoint, or with another key, is no matter of the loss.
    if (record.losses?.[0]?.endpoint === undefined && record.losses?.[0]?.keys === undefined)
      assert.ok(requests - lostAt <= 200, `${requests - lostAt} requests`);
  });

for (const [what, row] of partOf(Object.entries(blameless), 4))
  test(`is not blamed: ${what}`, async () => {
    const { record, code } = await verified(row);
    assert.deepEqual(failedRequired(record), []);
    assert.ok(code === 0 || code === 3, `${code}`);
    // A request whose answer came in a loss cannot show it.
    for (const one of record.losses === undefined ? [] : record.requirements)
      assert.ok(one.outcome !== 'failed' || (one.during !== undefined && one.replay === undefined), one.id);
  });
