/**
 * A client of the interface and its tests, for `sweep`. `BUG` plants a bug, and `STYLE` chooses among correct ways to
 * write the client and its tests. See check-sweep.ts.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import http from 'node:http';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';

const { IB_CONFORMANCE_MOCK_URL: url, IB_CONFORMANCE_MOCK_KEY: key } = process.env;
const { BUG: bug = '', STYLE: style = '', CLOCK_URL: clock } = process.env;
const has = (...names) => names.includes(bug);

/** Requests without an answer. */
const open = new Set();

/** Sends one request without following redirects. */
function send(target, headers) {
  const answer = new Promise((resolve, reject) => {
    const timeout = has('no-timeout') ? 0 : 10_000;
    const request = http.request(target, { headers, timeout, agent: false }, (response) => {
      let body = '';
      response.on('data', (part) => (body += part));
      response.on('error', reject);
      response.on('aborted', () => reject(new Error('aborted')));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', reject);
    request.end();
  });
  open.add(answer);
  return answer.finally(() => open.delete(answer));
}

/** Moves the clock of the mock forward, and returns its time; both in ms. */
const moveClock = async (ms) => Number((await send(`${clock}/${ms}`, {})).body);

/** The time of the client is that of the mock, so that it does not depend on the machine. */
const time = { now: await moveClock(0) };
const sleepers = [];

/** Waits, at least a ms. */
function sleep(ms) {
  const until = time.now + Math.max(1, Math.ceil(ms));
  return new Promise((wake) => {
    if (sleepers.push({ until, wake }) === 1) void passTime();
  });
}

/**
 * Wakes the sleepers one after another, each when no request waits for its answer. The engine has such a clock, but it
 * takes 0.4 s of the processor to load TypeScript, in each of 156 runs of this file.
 */
async function passTime() {
  while (sleepers.length > 0) {
    // What has just been answered or woken may go on first.
    await setImmediate();
    if (open.size > 0) {
      await Promise.allSettled(open);
      continue;
    }
    sleepers.sort((one, other) => one.until - other.until);
    const { until, wake } = sleepers[0];
    time.now = await moveClock(until - time.now);
    sleepers.splice(0, 1);
    wake();
  }
}

/** A number from 0 to 1 that is random, but the same in each run. */
const chance = (text) => createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32;

const MAX_TRIES = has('many-503') ? 20 : 6;

function pauseOf(lookup, answer, tries) {
  const jitter = chance(`${lookup} ${tries}`);
  const random = style === 'jitter' ? 0.5 + jitter / 2 : style === 'full-jitter' ? jitter : 1;
  const own = 60 * 2 ** tries * random;
  if (has('no-wait')) return 0;
  if (has('no-wait-429') && answer?.status === 429) return 0;
  if (has('many-503', 'immediate-5xx') && answer?.status >= 500) return 0;
  if (has('even')) return 400;
  if (has('even-5xx') && !(answer?.status < 500)) return 400;
  if (has('shorter')) return 800 / 2 ** tries;
  const after = answer?.headers['retry-after'];
  if (after === undefined || has('ignores-retry-after')) return own;
  if (has('retry-after-as-ms')) return Number(after);
  if (has('date-unread')) return Number(after) * 1000 || 0;
  return /^\d+$/.test(after) ? after * 1000 : Math.max(own, Date.parse(after) - time.now);
}

function isRetried(path, { status, body }, tries) {
  if (has('no-retry-deposit-check') && path.endsWith('deposit-check')) return false;
  if (status === 429) return style !== 'never' && !has('no-retry-429');
  if (status === 401) return has('retries-401-once') ? tries < 1 : has('retries-401', 'retries-all');
  if (status === 400) return has('retries-400', 'retries-all') && tries < 4;
  const isFailure = status >= 500 || (status === 200 && jsonOf(body) === undefined);
  return isFailure && style !== 'never' && !has('no-retry-5xx');
}

function jsonOf(body) {
  try {
    return JSON.parse(body);
  } catch {
    return has('html-crash') ? JSON.parse(body) : undefined;
  }
}

async function get(path, name, id, withKey) {
  const inUrl = has('key-in-url') ? `&key=${withKey}` : '';
  let target = `${url}${path}?${name}=${encodeURIComponent(id)}${inUrl}`;
  for (let tries = 0; ; tries++) {
    const headers = {
      Authorization: `Bearer ${withKey}`,
      ...(has('key-in-field') && { 'X-Api-Key': withKey }),
    };
    if (has('header-lost') && tries > 0) delete headers.Authorization;
    if (has('debug-log')) process.stderr.write(`GET ${target} ${JSON.stringify(headers)}\n`);
    let answer;
    try {
      answer = await send(target, headers);
    } catch (error) {
      const isLast = tries + 1 >= MAX_TRIES || style === 'never' || has('no-retry-lost');
      if (isLast || !isRetried(path, { status: 503 }, tries)) throw error;
      await sleep(pauseOf(path + id, undefined, tries));
      continue;
    }
    const { status, body } = answer;
    const payload = jsonOf(body);
    if (status === 200 && payload !== undefined) return payload;
    if (status === 404 && (has('any-404', 'polls-for-ever') || payload?.error === 'Deposit not found'))
      return undefined;
    if (status >= 300 && status < 400 && has('redirect-with-key')) {
      target = answer.headers.location;
      continue;
    }
    if (has('log-on-error')) process.stdout.write(`failed ${status} ${JSON.stringify(headers)}\n`);
    if (has('log-base64')) process.stdout.write(`failed ${status} ${btoa(`user:${withKey}`)}\n`);
    if (isRetried(path, answer, tries) && tries + 1 < MAX_TRIES) {
      await sleep(pauseOf(path + id, answer, tries));
      continue;
    }
    const text = payload?.error ?? `status ${status}`;
    if (has('error-with-key')) throw new Error(`${text} with ${withKey}`);
    throw Object.assign(new Error(text), { status });
  }
}

const cache = new Map();
async function cached(path, name, id, withKey) {
  if (style !== 'cache') return get(path, name, id, withKey);
  const found = cache.get(id + withKey) ?? (await get(path, name, id, withKey));
  if (found !== undefined) cache.set(id + withKey, found);
  return found;
}

const isMember = async (id, withKey) =>
  (await cached('/api/ib/user-status', 'user_id', id, withKey)).is_under_ib;
const depositOf = (id, withKey) => cached('/api/ib/deposit-check', 'reference_id', id, withKey);

/** Polls a deposit until it is EXECUTED. With the bug `polls-on`, until it polled nine times. */
async function waitFor(id, withKey) {
  let found;
  const deadline = has('polls-for-ever') ? Infinity : time.now + 5000;
  const most = has('few-polls') ? 4 : Infinity;
  for (let polls = 1; time.now < deadline && polls <= most; polls++) {
    found = (await depositOf(id, withKey)) ?? found;
    if (found !== undefined && (!has('polls-on') || polls >= 9)) return found;
    await sleep(has('poll-no-pause') ? 0 : has('polls-on') ? 250 : 60);
  }
  if (found === undefined) throw new Error('not executed in time');
  return found;
}

const id = (digit) => 'dddddddd-dddd-4ddd-8ddd-dddddddddddd'.replaceAll('d', digit);
const executed = { status: 'EXECUTED', amountInUsd: 250.5, executedAt: 1705314600000 };
/** The key of a test: with the style `worlds`, each test has a world. */
const own = () => (style === 'worlds' ? `${key}~${crypto.randomUUID()}` : key);

describe('client', { concurrency: ['parallel', 'jitter', 'full-jitter', 'worlds'].includes(style) }, () => {
  test('a member', async () => assert.equal(await isMember(id('1'), own()), true));
  test("another IB's user", async () => assert.equal(await isMember(id('2'), own()), false));
  test('an executed deposit', async () => assert.deepEqual(await depositOf(id('4'), own()), executed));
  test('a pending deposit', async () => assert.equal(await depositOf(id('5'), own()), undefined));
  if (!has('retries-401'))
    test('a refused key', () => assert.rejects(isMember(id('1'), 'nope'), /Unauthorized|status/));
  test('an invalid id', () => assert.rejects(isMember('a b&c=d', own()), /Invalid user_id|status/));
  test('polls', async () => assert.equal((await waitFor(id('7'), own())).amountInUsd, 75.25));
  if (style !== 'plain')
    for (const nth of [1, 2, 3, 4])
      test(`looks again, ${nth}`, async () => {
        const withKey = own();
        const found = await depositOf(id('7'), withKey);
        assert.ok(found === undefined || found.status === 'EXECUTED');
        assert.equal(await isMember(id('1'), withKey), true);
        await depositOf(id('5'), withKey);
      });
});
