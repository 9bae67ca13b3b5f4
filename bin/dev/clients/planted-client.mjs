/**
 * A client of the interface and its tests, for `sweep`. `BUG` plants a bug, and `STYLE` chooses among correct ways to
 * write the client and its tests. See check-sweep.ts.
 */
import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

const { IB_CONFORMANCE_MOCK_URL: url, IB_CONFORMANCE_MOCK_KEY: key } = process.env;
const { BUG: bug = '', STYLE: style = '' } = process.env;
const has = (...names) => names.includes(bug);

/** Sends one request without following redirects. */
function send(target, headers) {
  return new Promise((resolve, reject) => {
    const method = has('post-after-error') && headers.retried ? 'POST' : 'GET';
    const timeout = has('no-timeout') ? 0 : 1000;
    delete headers.retried;
    const request = http.request(target, { method, headers, timeout, agent: false }, (response) => {
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
}

const MAX_TRIES = has('many-503') ? 20 : 6;

function pauseOf(answer, tries) {
  const own = 60 * 2 ** tries * (style === 'jitter' ? 0.5 + Math.random() / 2 : 1);
  if (has('no-wait')) return 0;
  if (has('no-wait-429') && answer?.status === 429) return 0;
  if (has('many-503') && answer?.status === 503) return 0;
  if (has('immediate-5xx') && answer?.status >= 500) return 0;
  if (has('even')) return 200;
  if (has('even-5xx') && !(answer?.status < 500)) return 100;
  const after = answer?.headers['retry-after'];
  if (after === undefined || has('ignores-retry-after')) return own;
  if (has('retry-after-as-ms')) return Number(after);
  if (has('date-unread')) return Number(after) * 1000 || 0;
  return /^\d+$/.test(after) ? after * 1000 : Math.max(own, Date.parse(after) - Date.now());
}

function isRetried(status, tries) {
  if (status === 429) return style !== 'never' && !has('no-retry-429');
  if (status === 401)
    return has('retries-401', 'retries-all') ? tries < 4 : has('retries-401-once') && tries < 1;
  if (status === 400) return has('retries-400', 'retries-all') && tries < 4;
  return status >= 500 && style !== 'never' && !has('no-retry-5xx');
}

async function get(path, name, id, withKey = key) {
  const query = `${name}=${has('unencoded') ? id.replaceAll(' ', '%20') : encodeURIComponent(id)}`;
  const inUrl = has('key-in-url') ? `&key=${withKey}` : '';
  let target = `${url}${path}?${query}${inUrl}`;
  for (let tries = 0; ; tries++) {
    const headers = { Authorization: `Bearer ${withKey}` };
    if (has('header-lost') && tries > 0) delete headers.Authorization;
    if (has('post-after-error') && tries > 0) headers.retried = true;
    if (has('debug-log')) process.stderr.write(`GET ${target} ${JSON.stringify(headers)}\n`);
    let answer;
    try {
      answer = await send(target, headers);
    } catch (error) {
      if (tries + 1 >= MAX_TRIES || style === 'never' || has('no-retry-lost')) throw error;
      await sleep(pauseOf(undefined, tries));
      continue;
    }
    const { status } = answer;
    if (status === 200) return JSON.parse(answer.body);
    if (status === 404) return undefined;
    if (status >= 300 && status < 400 && has('redirect-with-key')) {
      target = answer.headers.location;
      continue;
    }
    if (has('log-on-error')) process.stdout.write(`failed ${status} ${JSON.stringify(headers)}\n`);
    if (has('log-base64')) process.stdout.write(`failed ${status} ${btoa(`user:${withKey}`)}\n`);
    if (has('html-crash') && status >= 500) JSON.parse(answer.body);
    if (isRetried(status, tries) && tries + 1 < MAX_TRIES) {
      await sleep(pauseOf(answer, tries));
      continue;
    }
    let text = '';
    try {
      text = JSON.parse(answer.body).error;
    } catch {
      text = `status ${status}`;
    }
    if (has('error-with-key')) throw new Error(`${text} with ${withKey}`);
    throw Object.assign(new Error(text), { status });
  }
}

const cache = new Map();
async function cached(path, name, id, withKey = key) {
  if (style !== 'cache') return get(path, name, id, withKey);
  const found = cache.get(id + withKey) ?? (await get(path, name, id, withKey));
  if (found !== undefined) cache.set(id + withKey, found);
  return found;
}

const isMember = async (id, withKey) =>
  (await cached('/api/ib/user-status', 'user_id', id, withKey)).is_under_ib;
const depositOf = (id, withKey) => cached('/api/ib/deposit-check', 'reference_id', id, withKey);

async function waitFor(id) {
  let found;
  const deadline = Date.now() + 5000;
  const most = has('few-polls') ? 4 : Infinity;
  for (let polls = 0; Date.now() < deadline && polls < most; polls++) {
    found = (await depositOf(id)) ?? found;
    if (found !== undefined && !has('polls-on')) return found;
    if (found !== undefined && polls > 8) return found;
    // A long pause differs little in pace on a busy machine.
    await sleep(has('poll-no-pause') ? 0 : has('polls-on') ? 250 : 60);
  }
  if (found === undefined) throw new Error('not executed in time');
  return found;
}

const id = (digit) => 'dddddddd-dddd-4ddd-8ddd-dddddddddddd'.replaceAll('d', digit);
const executed = { status: 'EXECUTED', amountInUsd: 250.5, executedAt: 1705314600000 };

describe('client', { concurrency: style === 'parallel' || style === 'jitter' }, () => {
  test('a member', async () => assert.equal(await isMember(id('1')), true));
  test("another IB's user", async () => assert.equal(await isMember(id('2')), false));
  test('an executed deposit', async () => assert.deepEqual(await depositOf(id('4')), executed));
  test('a pending deposit', async () => assert.equal(await depositOf(id('5')), undefined));
  test('a refused key', async () => {
    await assert.rejects(isMember(id('1'), 'nope'), /Unauthorized|status/);
  });
  test('an invalid id', async () => {
    await assert.rejects(isMember('a b&c=d'), /Invalid user_id|status/);
  });
  test('polls', async () => assert.equal((await waitFor(id('7'))).amountInUsd, 75.25));
  if (style !== 'plain')
    for (const nth of [1, 2, 3, 4])
      test(`looks again, ${nth}`, async () => {
        const found = await depositOf(id('7'));
        assert.ok(found === undefined || found.status === 'EXECUTED');
        assert.equal(await isMember(id('1')), true);
        await depositOf(id('5'));
      });
});
