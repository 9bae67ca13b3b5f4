import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../answer.ts';
import { auth } from '../requirements/auth.ts';
import { userStatus } from '../request.ts';
import { pending } from '../requirements/pending.ts';
import { rateLimit } from '../requirements/rate-limit.ts';
import { scenario, type Requirement } from '../rules/requirement.ts';
import { wrongUsage } from '../../schemas/problem.ts';
import { answerOf, sampleKnown as known } from '../testing/samples.ts';
import { pass } from '../rules/verdict.ts';
import type { Client } from '../client/client.ts';
import { virtualClock } from './clock.ts';
import type { RunOptions } from './run-options.ts';
import { run } from './run.ts';

const id = '00000000-0000-4000-8000-000000000000';
const clock = virtualClock(0);
type Sent = Awaited<ReturnType<Client['send']>>;
const answer = (status: number, body: string | object = ''): Answer => ({
  ...answerOf(status, body, body === '' ? {} : { 'content-type': 'application/json' }),
  sentAt: clock.now(),
  receivedAt: clock.now(),
  tookMs: 1,
});
const gone: Sent = { kind: 'trouble', code: 'timeout', words: 'no answer' };

const options: Omit<RunOptions, 'requirements' | 'connect'> = {
  target: new URL('http://target'),
  known,
  skip: new Set(),
  seed: 1,
  cases: 1,
  concurrency: 1,
  timeoutMs: 1000,
  maxDurationMs: 600_000,
  maxRequests: 10_000,
  graceMs: 0,
  headers: {},
  tls: { insecure: false },
  clock,
  signal: new AbortController().signal,
  version: 'test',
};

/** Runs requirements against a target with these answers. */
const runOn = (requirements: readonly Requirement[], send: Client['send'], more: Partial<RunOptions> = {}) =>
  run({ ...options, ...more, requirements, connect: () => ({ send, close: async () => {} }) });
const ofAuth = (name: string) => auth.filter((one) => one.id === `auth/user-status/${name}`);

test('a request that cannot be sent ends the run with its reason, also while a stream pauses', async () => {
  const reason = wrongUsage('too many open files');
  let left = 3;
  const send = () => (left-- > 0 ? Promise.resolve(answer(200)) : Promise.reject(reason));
  const burst = scenario({
    id: 'valid/service/burst',
    endpoint: 'service',
    level: 'required',
    clause: '',
    title: '',
    phase: 'last',
    run: async (context) => {
      await context.stream(() => userStatus(id), {
        most: 4,
        inFlight: 2,
        endsAt: Infinity,
        isLast: () => false,
      });
      return { finding: pass };
    },
  });
  await assert.rejects(runOn([burst], send), reason);
});

/** Outcomes or reasons of the rate-limit rows for a target with one status per endpoint. */
async function outcomesAt(statuses: Readonly<Record<string, number>>) {
  const statusOf = (target: string) => statuses[target.includes('deposit') ? 'deposit-check' : 'user-status'];
  const { requirements } = await runOn(rateLimit, async ({ target }) => answer(statusOf(target)!));
  return Object.fromEntries(requirements.map((row) => [row.id, 'reason' in row ? row.reason : row.outcome]));
}

test('a wrong 429 fails although every answer is a 429', async () => {
  const outcomes = await outcomesAt({ 'user-status': 429, 'deposit-check': 429 });
  assert.equal(outcomes['rate-limit/user-status/message'], 'failed');
  assert.equal(outcomes['rate-limit/deposit-check/message'], 'failed');
  assert.equal(outcomes['rate-limit/deposit-check/requests'], 'rate-limited');
});

test('an endpoint that refuses everything does not affect the other one', async () => {
  const outcomes = await outcomesAt({ 'user-status': 429, 'deposit-check': 404 });
  assert.equal(outcomes['rate-limit/deposit-check/requests'], 'limit-not-reached');
});

const unauthorized: Sent = answer(401, { error: 'Unauthorized' });

test('a requirement passes by one answer; levels that were not tried take strength from the run', async () => {
  const verify = (maxRequests: number) =>
    runOn(ofAuth('malformed'), async () => unauthorized, { cases: 200, maxRequests });
  const [cut, whole] = [await verify(4), await verify(1000)];
  for (const { requirements } of [cut, whole]) assert.equal(requirements[0]!.outcome, 'passed');
  assert.ok(cut.requirements[0]!.cases < whole.requirements[0]!.cases);
  assert.deepEqual([cut.strength, cut.requests], [0, 4]);
});

for (const [code, times] of [
  ['network', 3],
  ['timeout', 1],
] as const)
  test(`a lookup that is lost (${code}) is sent again after the others and judged`, async () => {
    const tries: string[] = [];
    const lost: Sent = { kind: 'trouble', code, words: 'lost' };
    const { requirements } = await runOn(ofAuth('missing'), async ({ target, headers }) => {
      if (headers['authorization'] === undefined) tries.push(target);
      return tries.length > 0 && tries.length <= times ? lost : unauthorized;
    });
    assert.equal(tries.filter((one) => one === tries[0]).length, times + 1);
    assert.equal(requirements[0]!.outcome, 'passed');
  });

test('a target that stalls once loses nothing', async () => {
  // Answers take time: all requests of both endpoints that are sent during the stall are lost together.
  const passing = { ...virtualClock(0), during: <Result>(work: Promise<Result>) => work };
  const [timeoutMs, stallMs] = [1000, 500];
  const requirements = auth.filter((one) => /\/(?:missing|unknown-key)$/.test(one.id));
  const isActive = (field = '') => known.callerKeys.some(({ key }) => field === `Bearer ${key}`);
  const concurrency = 8;
  let inFlight = 0;
  let lost = 0;
  let stallsUntil: number | undefined;
  const record = await runOn(
    requirements,
    async ({ target, headers }) => {
      const sentAt = passing.now();
      if (++inFlight > concurrency) stallsUntil ??= sentAt + stallMs;
      const isLost = sentAt < (stallsUntil ?? 0);
      await passing.sleep(isLost ? timeoutMs : 10);
      inFlight--;
      if (isLost) lost++;
      if (isLost) return gone;
      const at = { sentAt, receivedAt: passing.now() };
      if (isActive(headers['authorization'])) return { ...answerOf(200, ''), ...at };
      const error = target.includes('user-status') ? 'Unauthorized' : 'UNAUTHORIZED';
      return { ...answerOf(401, { error }, { 'content-type': 'application/json' }), ...at };
    },
    { concurrency, cases: 200, clock: passing },
  );
  assert.ok(lost > 1, `${lost} lost`);
  assert.deepEqual(
    record.requirements.map(({ outcome }) => outcome),
    requirements.map(() => 'passed'),
  );
});

test('no lookup asks for a deposit that becomes EXECUTED by itself, nor waits for it', async () => {
  const reference_id = '4b000000-0000-4000-8000-00000000000b';
  const becomes = { state: 'EXECUTED', amountInUsd: 1, afterSeconds: 3600 } as const;
  const becoming = [{ reference_id, user_id: id, state: 'pending', becomes }] as const;
  const depositById = new Map([[reference_id, becoming[0]]]);
  const requirements = [
    ...ofAuth('missing'),
    ...pending.filter((one) => one.id.endsWith('/becomes-executed')),
  ];
  for (const others of [known.pending, []]) {
    const by = new Set<string | undefined>();
    const answerTo: Client['send'] = async ({ target }) =>
      target.includes(reference_id) ? answer(404, { error: 'Deposit not found' }) : unauthorized;
    const record = await runOn(requirements, answerTo, {
      known: { ...known, becoming, pending: others, depositById },
      onExchange: ({ request, of }) => void (request.target.includes(reference_id) && by.add(of)),
    });
    assert.equal(record.requirements[0]!.outcome, 'passed');
    assert.deepEqual([...by], ['deposits that become EXECUTED']);
  }
});
