import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { virtualClock } from '../engine/clock.ts';
import { figuresOf } from '../engine/figures.ts';
import { answerOf, limiterOn } from '../testing/samples.ts';
import {
  admit,
  compareWithStated,
  firstKey,
  longestWindowMs,
  recordReply,
  turnOf,
  type LimiterOptions,
} from './limiter.ts';
import type { Asked } from './limit.ts';

const counted: Asked = { endpoint: 'user-status', key: 'a', cost: 1 };
const free: Asked = { ...counted, cost: 0 };
const DEADLINE = 300_000;

function limited(options: Partial<LimiterOptions> = {}) {
  const clock = virtualClock(0);
  const remarks: string[] = [];
  const onRemark = (words: string) => remarks.push(words);
  const limiter = limiterOn(clock, { deadline: DEADLINE, lookupsEndAt: DEADLINE, onRemark, ...options });
  /** Sends a request as soon as it may be sent. Returns when that was, in ms; undefined if it may not. */
  const send = async (asked: Asked, status: number, retryAfter?: string) => {
    if ((await admit(limiter, asked)) !== undefined) return undefined;
    const sentAt = clock.now();
    const headers = retryAfter === undefined ? {} : { 'retry-after': [retryAfter] };
    const reply = { ...answerOf(status, {}), headers, sentAt, receivedAt: sentAt };
    const how = { counted: status !== 429 && asked.cost > 0, isAdmitted: true };
    if (recordReply(limiter, asked, reply, how)) compareWithStated(limiter, asked, reply);
    return sentAt;
  };
  return { limiter, clock, send, remarks };
}

describe('after a 429', () => {
  test('the key pauses as long as Retry-After says', async () => {
    const { send } = limited();
    await send(counted, 429, '3');
    assert.equal(await send(counted, 200), 3020);
    assert.equal(await send(counted, 200), 3020);
  });

  test('Retry-After is obeyed as it stands, at least 0.5 s, until it was in vain twice with nothing else sent', async () => {
    for (const [retryAfter, between, expected] of [
      ['1', 0, [0, 1020, 2040, 4060, 8080]],
      ['0', 0, [0, 520, 1040, 2060, 4080]],
      // A lookup that does not count passes in each pause.
      ['1', 500, [0, 1020, 2040, 3060, 4080]],
    ] as const) {
      const { send, clock } = limited();
      const times = [];
      for (const _ of expected) {
        times.push(await send(counted, 429, retryAfter));
        if (between > 0) await clock.sleep(between);
        if (between > 0) await send(free, 200);
      }
      assert.deepEqual(times, expected);
    }
  });

  test('without Retry-After, twice as long each time, and then as long as was enough', async () => {
    const { send } = limited();
    const times = [];
    for (const status of [429, 429, 429, 200]) times.push(await send(counted, status));
    assert.deepEqual(times, [0, 520, 1540, 3560]);
    await send(counted, 429);
    assert.equal(await send(counted, 200), 3560 + 3560 + 20);
  });

  test('other keys, the other endpoint and what does not count go on', async () => {
    const { send, limiter } = limited();
    await send(counted, 429, '30');
    assert.equal(await send(free, 200), 0);
    assert.equal(await send({ ...counted, endpoint: 'deposit-check' }, 404), 0);
    assert.equal(firstKey(limiter, counted, ['a', 'b']), 'b');
    assert.equal(await send({ ...counted, key: 'b' }, 200), 0);
    assert.equal(longestWindowMs(limiter, 'user-status'), 30_000);
  });

  test('where a free request gets 429, all requests of a key wait, and any of them shows the end', async () => {
    const { send } = limited();
    await send(free, 429, '5');
    assert.equal(await send(free, 200), 5020);
    await send(counted, 429, '5');
    assert.equal(await send(free, 200), 10_040);
    assert.equal(await send(counted, 200), 10_040);
  });

  test('one request shows whether a pause is over', async () => {
    const { send, limiter, clock } = limited();
    await send(counted, 429, '1');
    await clock.sleep(2000);
    assert.equal(await admit(limiter, counted), undefined);
    assert.deepEqual(turnOf(limiter, counted), { kind: 'reply' });
  });

  test('a Retry-After beyond the end of the run is tested by short waits, and then given up', async () => {
    const { send, clock } = limited();
    const times = [];
    for (let at = await send(counted, 429, '3600'); at !== undefined; at = await send(counted, 429, '3600'))
      times.push(at);
    assert.deepEqual(times, [0, 520, 1540, 3560, 7580, 15_600]);
    assert.ok(clock.now() < 20_000);
    const passing = limited();
    await passing.send(counted, 429, '3600');
    assert.equal(await passing.send(counted, 200), 520);
    assert.equal(await passing.send(counted, 200), 520);
  });
});

describe('a stated limit', () => {
  const stated = { 'user-status': { most: 5, windowMs: 1000 } };

  test('lets one request less than stated pass in a window; what does not count is free', async () => {
    const { send } = limited({ stated });
    const times = [];
    for (let nth = 0; nth < 9; nth++) times.push(await send(counted, 200));
    assert.deepEqual(times, [0, 0, 0, 0, 1020, 1020, 1020, 1020, 2040]);
    assert.equal(await send(free, 200), 2040);
  });

  test('keeps a part for what comes after lookups, once that is less than a window away', async () => {
    const { send, limiter, clock } = limited({
      stated,
      lookupsEndAt: 10_000,
      reserved: { 'user-status': 2, 'deposit-check': 0 },
    });
    await send(counted, 200);
    await send(counted, 200);
    assert.equal(turnOf(limiter, counted).kind, 'now');
    await clock.sleep(9500);
    await send(counted, 200);
    await send(counted, 200);
    assert.equal(turnOf(limiter, counted).kind, 'at');
    assert.equal(await send(counted, 200), 9500);
  });

  test('that comes too early is remarked, with a cause', async () => {
    const { send, remarks, limiter } = limited({ stated });
    await send(counted, 200);
    for (let nth = 0; nth < 4; nth++) await send(free, 200);
    await send(free, 429, '1');
    assert.match(remarks[0]!, /429 after 1 counted requests and 4 others.*lookups of members count/);
    assert.ok(figuresOf(limiter).endpoints[0]!.contradiction !== undefined);
    const right = limited({ stated });
    for (let nth = 0; nth < 4; nth++) await right.send(counted, 200);
    await right.send(free, 429, '1');
    assert.deepEqual(right.remarks, []);
  });
});
