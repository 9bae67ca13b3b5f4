import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { depositCheck, userStatus } from '../request.ts';
import type { Reply, Trouble } from '../answer.ts';
import { answerOf, limiterOn, sampleKnown as known, unjudged } from '../testing/samples.ts';
import { afterChange, presentOf } from '../known.ts';
import { createBudget } from './budget.ts';
import { virtualClock } from './clock.ts';
import { createSender } from './sender.ts';
import { statedLimits } from '../limits/limit.ts';
import { plainLevels } from '../plan/factors.ts';
import { lookupAt } from '../plan/lookup.ts';

/** One of the user: replies stay as they are. */
const userTrace: Readonly<Record<string, string>> = { traceparent: 'mine' };

/** A sender to a fake target, with the number of requests and of exchanges. */
function senderOf(
  respond: (nth: number, now: number) => Reply | Promise<Reply>,
  {
    signal = new AbortController().signal,
    maxRequests = 1e9,
    reserved = 0,
    maxLostInARow = 10,
    deadline = Number.POSITIVE_INFINITY,
    present = presentOf(known),
    stated = statedLimits({ limits: {} }),
    headers = userTrace,
  } = {},
) {
  const clock = virtualClock(0);
  const budget = createBudget({ clock, signal, deadline, maxRequests, reserved });
  let sent = 0;
  let seen = 0;
  const sender = createSender({
    headers,
    client: {
      send: async () => respond(sent++, clock.now()),
      close: () => Promise.resolve(),
    },
    known,
    clock,
    budget,
    limiter: limiterOn(clock, { budget, stated, deadline, lookupsEndAt: deadline, signal }),
    signal,
    deadline,
    maxLostInARow,
    present,
    onExchange: () => void seen++,
    ...unjudged,
  });
  return { sender, clock, sent: () => sent, seen: () => seen };
}

test('what the client cannot send ends the run, and names the lookup', async () => {
  const { sender } = senderOf(() => Promise.reject(new Error('the request cannot be sent: x')));
  const lookup = lookupAt('user-status', plainLevels('user-status'), { draw: 3 }, { known, seed: 1 });
  await assert.rejects(
    sender.send(lookup.request, { of: 'lookups', lookup }),
    /^Error: user-status;@3: the request cannot be sent: x$/,
  );
  await assert.rejects(
    sender.send(someUser, { of: 'auth' }),
    /GET \/api\/ib\/user-status\?user_id=x \(auth\)/,
  );
});

const broken: Trouble = { kind: 'trouble', code: 'network', words: 'the connection broke' };
const fine = answerOf(200, {});
const someUser = userStatus('x');

test('while one key is rate-limited, another key of the partner is used', async () => {
  const limited = answerOf(429, {}, { 'retry-after': '60' });
  const { sender } = senderOf((nth) => (nth === 0 ? limited : fine));
  const { request } = await sender.send(someUser);
  assert.deepEqual(request.credential, { as: 'key', key: known.callerKeys[1] });
});

test('a key works if one of its plain lookups gets another answer than 401', async () => {
  const plain = userStatus(known.members[0]!.user_id);
  for (const [expected, request, ...statuses] of [
    [false, plain, 401],
    [true, plain, 401, 404],
    [true, plain, 200, 401],
    // A server may refuse these before it reads the key.
    [undefined, someUser, 400],
    [undefined, { ...plain, method: 'POST' }, 405],
  ] as const) {
    const { sender } = senderOf((nth) => answerOf(statuses[nth]!, {}));
    for (const _ of statuses) await sender.send(request);
    assert.equal(sender.keyWorks(), expected);
  }
});

for (const [what, status, waitedMs] of [
  ['still accepted', 404, 60_000],
  ['refused', 401, 0],
] as const)
  test(`if a key is ${what} while it is being revoked, the next lookup waits ${waitedMs} ms for its limit`, async () => {
    const [key] = known.callerKeys;
    const present = presentOf(afterChange({ state: 'key revoked', key: key! }, known));
    const { sender, clock } = senderOf(() => ({ ...answerOf(status, {}), sentAt: 0 }), {
      present,
      stated: { 'deposit-check': { most: 3, windowMs: 60_000 } },
    });
    const request = depositCheck('x', { credential: { as: 'key', key: key! } });
    for (let nth = 0; nth < 2; nth++) await sender.send(request);
    present.known = known;
    await sender.send(request);
    assert.equal(Math.floor(clock.now() / 1000) * 1000, waitedMs);
  });

test('a lookup that a front end refuses twice is sent once more, when no other is in flight', async () => {
  let free = () => {};
  let isBusy = true;
  const first = new Promise<Reply>((resolve) => {
    free = () => {
      isBusy = false;
      resolve(fine);
    };
  });
  const { sender, sent } = senderOf((nth) => (nth === 0 ? first : isBusy ? answerOf(503, {}) : fine));
  const both = Promise.all([sender.send(someUser), sender.send(someUser)]);
  while (sent() < 3) await new Promise((resolve) => setImmediate(resolve));
  free();
  const statuses = (await both).map(({ reply }) => reply.kind === 'answer' && reply.status);
  assert.deepEqual(statuses, [200, 200]);
});

const withoutNumber = ({ nth: _, ...reply }: Reply) => reply;

describe('a connection that breaks', () => {
  const late: Trouble = { ...broken, code: 'timeout' };
  for (const [what, respond, reply, count] of [
    ['is tried three times, and each try is an exchange', () => broken, broken, 3],
    ['is forgotten after an answer', (nth: number) => (nth < 2 ? broken : fine), fine, 3],
    ['is not retried after a timeout', () => late, late, 1],
  ] as const)
    test(what, async () => {
      const { sender, sent, seen } = senderOf(respond);
      assert.deepEqual(withoutNumber((await sender.send(someUser)).reply), reply);
      assert.deepEqual([sent(), seen()], [count, count]);
    });

  test('is not retried after the end of the run', async () => {
    const ending = new AbortController();
    const { sender, sent } = senderOf(
      () => {
        ending.abort();
        return broken;
      },
      { signal: ending.signal },
    );
    const { reply } = await sender.send(someUser);
    assert.deepEqual([reply.kind === 'trouble' && reply.code, sent()], ['interrupted', 1]);
  });

  test('is not retried without requests left', async () => {
    const { sender, sent } = senderOf(() => broken, { maxRequests: 2 });
    const { reply } = await sender.send(someUser);
    assert.deepEqual([reply.kind === 'trouble' && reply.code, sent()], ['budget', 2]);
  });

  for (const [what, lost] of [
    ['refuses connections', broken],
    ['is unavailable', answerOf(503, {})],
  ] as const)
    test(`to a target that ${what} while it restarts is tried again when it is back`, async () => {
      const { sender, clock } = senderOf((nth, now) => (nth > 0 && now < 1900 ? lost : fine));
      await sender.send(someUser);
      const exchanges = await Promise.all(Array.from({ length: 20 }, () => sender.send(someUser)));
      for (const { reply } of exchanges) assert.deepEqual(withoutNumber(reply), fine);
      assert.equal(clock.now(), 2000);
    });

  test('is sent again, without a wait, if the target answers a plain lookup', async () => {
    const { sender, clock, sent } = senderOf((nth) => (nth % 4 === 0 ? fine : broken));
    await sender.send(someUser);
    for (let nth = 0; nth < 2; nth++)
      assert.deepEqual(withoutNumber((await sender.send(someUser)).reply), broken);
    assert.deepEqual([sent(), clock.now()], [1 + 3 + 1 + 3 + 1 + 3, 0]);
  });

  test('waits only once for a target that does not come back', async () => {
    const { sender, clock, sent } = senderOf((nth) => (nth === 0 ? fine : broken));
    for (let nth = 0; nth < 4; nth++) await sender.send(someUser);
    assert.deepEqual([sent(), clock.now()], [1 + 3 + 3 + 20 + 3 * 3, 20_000]);
  });

  test('waits seldom for a target that answers some lookups only with pages', async () => {
    let isPage = false;
    const { sender, clock } = senderOf(() => (isPage ? answerOf(503, {}) : fine));
    for (let nth = 0; nth < 100; nth++) {
      isPage = false;
      await sender.send(someUser);
      isPage = true;
      await sender.send(someUser);
    }
    // After 1 and 11 answers.
    assert.equal(clock.now(), 40_000);
  });

  test('does not wait longer than the run', async () => {
    const { sender, clock } = senderOf((nth) => (nth === 0 ? fine : broken), { deadline: 1200 });
    await sender.send(someUser);
    const { reply } = await sender.send(someUser);
    assert.deepEqual([withoutNumber(reply), clock.now()], [broken, 1200]);
  });

  test('is not retried, nor is anything else sent, if the target is gone', async () => {
    let breakOff!: (trouble: Trouble) => void;
    const slow = new Promise<Trouble>((resolve) => (breakOff = resolve));
    const { sender, sent } = senderOf((nth) => (nth === 0 ? slow : broken), { maxLostInARow: 1 });
    const underWay = sender.send(someUser);
    await sender.send(someUser);
    assert.equal(sent(), 4);
    breakOff(broken);
    assert.deepEqual(withoutNumber((await underWay).reply), broken);
    const { reply } = await sender.send(someUser);
    assert.match(reply.kind === 'trouble' ? reply.words : '', /not sent because/);
    assert.equal(sent(), 4);
  });

  test('does not mean in a burst that the target is gone', async () => {
    const { sender, sent } = senderOf(() => broken, { maxLostInARow: 1 });
    for (let nth = 0; nth < 3; nth++) await sender.sendOnce(someUser);
    await sender.send(someUser);
    assert.equal(sent(), 6);
  });
});

test('each request has a traceparent, equal ones the same, but for one of the user', async () => {
  const { sender } = senderOf(() => fine, { headers: {} });
  const traceOf = async (id: string) => (await sender.send(userStatus(id))).reply.trace!;
  const [one, again, other] = [await traceOf('x'), await traceOf('x'), await traceOf('y')];
  assert.match(one, /^00-[\da-f]{32}-[\da-f]{16}-01$/);
  assert.deepEqual([again === one, other === one], [true, false]);
  assert.equal((await senderOf(() => fine).sender.send(userStatus('x'))).reply.trace, undefined);
});

test('cookies of the target are sent back only where a request says so', async () => {
  const seen: (string | undefined)[] = [];
  const withCookie = {
    ...fine,
    headers: { 'set-cookie': ['sid=abcdefgh; Path=/; HttpOnly', 'theme=dark'] },
  };
  const { sender } = senderOf(() => withCookie);
  const ask = async (changes: Parameters<typeof userStatus>[1]) => {
    const { request } = await sender.send(userStatus('x', changes));
    seen.push(request.headers['cookie']);
  };
  const [key] = known.callerKeys;
  await ask({ credential: { as: 'none' }, cookies: 'of ours' });
  await ask({ credential: { as: 'key', key: key! } });
  await ask({ credential: { as: 'key', key: key! }, cookies: 'of ours' });
  await ask({ credential: { as: 'none' } });
  await ask({ credential: { as: 'none' }, cookies: 'of ours' });
  await ask({ credential: { as: 'key', key: known.otherKeys[0]! }, cookies: 'of ours' });
  await ask({ credential: { as: 'key', key: key! }, cookies: 'of the key' });
  const all = 'sid=abcdefgh; theme=dark';
  assert.deepEqual(seen, [undefined, undefined, undefined, undefined, all, all, all]);
});
