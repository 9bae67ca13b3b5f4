import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Checkup, Fixture } from '../../schemas/generated/types.ts';
import validate from '../../schemas/generated/checkup.cjs';
import { catalogue } from '../requirements/catalogue.ts';
import type { Client } from '../client/client.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { knownFrom } from '../known.ts';
import type { StateHook } from '../rules/scenario-context.ts';
import { answerOf, sampleFixture } from '../testing/samples.ts';
import { examine, type ExamineOptions } from './examine.ts';

type Send = Client['send'];

const trouble =
  (words: string, code: 'network' | 'timeout' | 'budget' = 'network'): Send =>
  async () => ({ kind: 'trouble', code, words });
const refusal: Send = async () => answerOf(401, { error: 'Unauthorized' });

interface World {
  readonly send?: Send;
  readonly target?: string;
  readonly fixture?: Fixture;
  readonly hook?: StateHook;
  readonly signal?: AbortSignal;
}

const gatewayToken = 'gw-7fb1c02d9e5a4b63';

/** Examines a fake target and logs its requests. */
async function examined({ send = refusal, target, fixture = sampleFixture, hook, signal }: World) {
  const hand = manualClock(Date.UTC(2026, 0, 1));
  let sent = 0;
  const options: ExamineOptions = {
    target: new URL(target ?? 'http://ib.example.com/gateway'),
    fixture,
    known: knownFrom(fixture),
    requirements: catalogue,
    skip: new Set(),
    seed: 1,
    cases: 1,
    concurrency: 16,
    maxDurationMs: 300_000,
    maxRequests: Number.POSITIVE_INFINITY,
    graceMs: 0,
    timeoutMs: 3000,
    headers: { 'x-gateway-token': gatewayToken },
    tls: { insecure: false },
    ...(hook === undefined ? {} : { stateHook: hook }),
    clock: hand.clock,
    signal: signal ?? new AbortController().signal,
    connect: () => ({
      send: (request) => {
        sent++;
        return send(request);
      },
      close: async () => undefined,
    }),
    version: 'test',
  };
  const checkup = await examine(options);
  assert.ok(validate(checkup), JSON.stringify(validate.errors));
  assert.ok(sent <= 11, `${sent} requests`);
  assert.equal(checkup.requests, sent);
  return checkup;
}

const find = (checkup: Checkup, subject: string) =>
  checkup.checks.find((check) => check.subject === subject)!;

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));

/** Targets that do not answer: requests sent, and fix. */
const ways: Readonly<Record<string, readonly [words: string, fix: RegExp, target?: string]>> = {
  'no such host': ['the name does not resolve', /Correct the host/],
  'nobody listens': ['the connection was refused: nothing listens there', /Start the server.*firewall/],
  'no TLS': ['TLS failed: the port may speak plain HTTP', /^Use http:/, 'https://x'],
  'self-signed': ['its certificate is self-signed: give --ca or --insecure', /--ca.*--insecure/, 'https://x'],
  expired: ['its certificate has expired', /^Renew the certificate/, 'https://x'],
  'HTTP/2': ['the target speaks only HTTP/2; a run needs HTTP/1.1', /^Let the target accept HTTP\/1.1/],
  silence: ['no complete answer within 3000 ms', /https:\/\/.*firewall/],
};

for (const [what, [words, fix, target]] of Object.entries(ways))
  test(`no answer: ${what}`, async () => {
    const checkup = await examined({ send: trouble(words), ...(target && { target }) });
    assert.equal(checkup.verdict, 'unreachable');
    const bad = checkup.checks.filter(({ outcome }) => outcome === 'problem');
    const said = bad.map((check) => [check.subject, check.words]);
    assert.deepEqual(said, [['HTTP', words]]);
    assert.match(bad[0]!.fix!, fix);
    // Nothing else was tried.
    const later = checkup.checks.slice(checkup.checks.indexOf(bad[0]!) + 1);
    const tried = later.filter(({ outcome }) => outcome !== 'unknown');
    assert.deepEqual(tried, []);
    // Checks without a target still run.
    assert.ok(checkup.plan.requests > 0);
    assert.match(checkup.gaps.map(({ reason }) => reason).join(), /no-state-hook/);
  });

test('a gateway that answers alone is named, and no key or entry is blamed', async () => {
  const page = { ...answerOf(502, {}), text: '<h1>Bad Gateway</h1>' };
  const { verdict, checks, requests } = await examined({ send: async () => page });
  const [bad, ...more] = checks.filter(({ outcome }) => outcome === 'problem');
  assert.deepEqual([verdict, bad?.area, bad?.subject, more], ['unreachable', 'reach', 'service', []]);
  assert.match(bad!.words, /answers everything with 502 \(Bad Gateway\)/);
  assert.match(bad!.fix!, /--wait/);
  assert.ok(requests < 10);
});

test('a target that stops answering is a problem only for later checks', async () => {
  let count = 0;
  const checkup = await examined({
    send: async (request) => (++count <= 3 ? refusal(request) : trouble('late', 'budget')(request)),
  });
  assert.equal(find(checkup, 'HTTP').outcome, 'ok');
  assert.equal(find(checkup, 'users[0]').outcome, 'unknown');
  assert.match(find(checkup, 'deposits[0]').words, /no answer within the 5 s of doctor/);
});

test('a broken connection is tried again, once', async () => {
  const all = await examined({ send: trouble('reset') });
  assert.equal(all.requests, 2);
  assert.equal(find(all, 'HTTP').words, 'reset');
  let count = 0;
  const once = await examined({
    send: (request) => (++count === 3 ? trouble('reset')(request) : refusal(request)),
  });
  assert.equal(find(once, 'HTTP').outcome, 'ok');
  assert.ok(!once.checks.some(({ words }) => words === 'reset'));
});

test('one key of each kind is tried', async () => {
  const active = Array.from({ length: 40 }, (_, nth) => ({
    key: `many-${nth}`,
    partner: 'northwind',
    state: 'active' as const,
  }));
  const checkup = await examined({
    fixture: { ...sampleFixture, apiKeys: [...active, ...sampleFixture.apiKeys!] },
  });
  const keys = checkup.checks.filter(({ area }) => area === 'keys');
  const fine = keys.filter(({ outcome }) => outcome === 'ok').map(({ subject }) => subject);
  assert.deepEqual(fine, ['<key northwind/revoked>', '<key northwind/expired>', '<key non-partner/active>']);
  const { words } = find(checkup, '<key northwind/active>');
  assert.match(words, /^refused \(401\), but apiKeys\[0\] is active$/);
});

test('without a key, the other checks still run', async () => {
  const checkup = await examined({ fixture: { ...sampleFixture, apiKeys: [] } });
  assert.equal(checkup.verdict, 'problems');
  assert.match(find(checkup, 'under test').words, /no active key of a partner/);
  assert.match(find(checkup, 'under test').fix!, /"\$\{NAME\}"/);
  assert.match(find(checkup, 'user-status').words, /^401, without a key/);
});

test('another service sees no key but the one under test', async () => {
  const shown = new Set<string>();
  const checkup = await examined({
    send: async ({ headers }) => {
      shown.add(headers['authorization'] ?? '');
      return answerOf(302, '', { location: '/login' });
    },
  });
  assert.deepEqual([...shown], ['', `Bearer ${sampleFixture.apiKeys![2]!.key}`]);
  assert.match(checkup.checks.map(({ words }) => words).join('\n'), /this is another service/);
  assert.equal(checkup.verdict, 'unreachable');
});

test('a service that only looks wrong without a key is fully checked', async () => {
  const checkup = await examined({
    send: async ({ headers }) =>
      headers['authorization'] === undefined
        ? answerOf(302, '', { location: '/login' })
        : answerOf(200, { is_under_ib: true, date_joined: '2024-02-29T23:59:59.999Z' }),
  });
  assert.equal(find(checkup, 'users[0]').outcome, 'ok');
  assert.equal(find(checkup, '<key northwind/revoked>').outcome, 'problem');
});

test('no key or secret header is shown, whatever a target answers', async () => {
  const checkup = await examined({
    send: async ({ headers }) => {
      const authorization = headers['authorization'] ?? '';
      return answerOf(
        200,
        { token: gatewayToken, echo: authorization, more: authorization.repeat(30) },
        { location: authorization },
      );
    },
  });
  const text = JSON.stringify(checkup);
  assert.match(text, /<key northwind\/active>/);
  assert.ok(!text.includes(gatewayToken));
  // Not even a prefix, if an answer is truncated.
  for (const { key } of sampleFixture.apiKeys!) assert.ok(!text.includes(key.slice(0, 8)), key);
});

const answering = (status: number) => () =>
  Promise.reject(Object.assign(new Error(String(status)), { status }));

/** Behaviours of a state hook, and the expected finding. */
const hooks: Readonly<Record<string, readonly [StateHook['change'], outcome: string, words: RegExp]>> = {
  'takes it': [async () => undefined, 'ok', /^accepts/],
  'is not there': [failing('ECONNREFUSED'), 'problem', /ECONNREFUSED/],
  'has no such path': [answering(404), 'problem', /404/],
  refuses: [answering(500), 'unknown', /nothing had been set up/],
};

for (const [what, [change, outcome, words]] of Object.entries(hooks))
  test(`a state hook that ${what}`, async () => {
    const calls: unknown[] = [];
    const checkup = await examined({
      hook: {
        change: (...call) => {
          calls.push(call);
          return change(...call);
        },
      },
    });
    assert.equal(find(checkup, 'teardown').outcome, outcome);
    assert.match(find(checkup, 'teardown').words, words);
    // Nothing is set up.
    assert.deepEqual(calls, [
      ['teardown', 'deposit executed', { reference_id: '4b000000-0000-4000-8000-0000000000a2' }],
    ]);
    assert.deepEqual(checkup.gaps, []);
  });

test('an abort signal ends the checks', async () => {
  const stop = new AbortController();
  const checkup = await examined({
    signal: stop.signal,
    send: (request) => {
      stop.abort();
      return trouble('cut off')(request);
    },
  });
  assert.equal(find(checkup, 'HTTP').words, 'interrupted');
});

test('at most two lookups of each endpoint may count at a limiter', async () => {
  const counts = { 'user-status': 0, 'deposit-check': 0 };
  const known = knownFrom(sampleFixture);
  const members = new Set(known.members.map(({ user_id }) => user_id));
  await examined({
    send: async ({ target, headers }) => {
      const endpoint = target.includes('user-status') ? 'user-status' : 'deposit-check';
      const active = [...known.callerKeys, ...known.otherKeys];
      const key = active.find((one) => headers['authorization'] === `Bearer ${one.key}`);
      const isMembers = key?.partner === known.partner && [...members].some((id) => target.includes(id));
      if (key !== undefined && !isMembers) counts[endpoint]++;
      return refusal({ target, headers, method: 'GET' });
    },
  });
  assert.ok(counts['user-status'] <= 2 && counts['deposit-check'] <= 2, JSON.stringify(counts));
  assert.ok(counts['deposit-check'] > 0);
});
