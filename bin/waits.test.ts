/** Each wait of a run has its real reason: on the console, in the record and in the summary of every report. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { error, header, on } from '../mock/deviations/deviate.ts';
import { faults } from '../mock/deviations/faults.ts';
import { variants } from '../mock/deviations/variants.ts';
import { reference, type Behaviour } from '../mock/server/handler.ts';
import { reports } from '../reports/index.ts';
import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import type { WaitReason } from '../schemas/generated/types.ts';
import { waitWords } from '../schemas/progress.ts';
import { renderWaiting } from './display.ts';
import { oneKey, unlimited } from './dev/testing/fixtures.ts';
import { delayed, limitsOf, verifyMock, type MockRunOptions } from './dev/testing/verify-mock.ts';

/** A server whose 429 names another time than that of its limiter. */
const says = (value: string) => ({ behaviour: on(429, header('Retry-After', value))(reference) });

/** Breaks connections from the 60th request on, for 2 s. */
let [sent, backAt] = [0, Infinity];
const restarts = delayed(1, 0, async (request, client, clock) => {
  if (++sent === 60) backAt = clock.now() + 2000;
  const isDown = sent >= 60 && clock.now() < backAt;
  return isDown ? { kind: 'trouble', code: 'network', words: 'down' } : client.send(request);
});

/** What stands around a run. It has the limits 5 in 10 s, which nobody stated. */
interface Around extends Partial<MockRunOptions> {
  readonly isStated?: true;
  readonly behaviour?: Behaviour;
}

const noRetryAfter = { behaviour: variants['retry-after-left-out']!.change(reference) };
const toldByHeader = { behaviour: faults['foreign-user-told-by-header']!.change(reference) };
const unending = { maxDurationMs: Infinity };
const inVain = 'in vain: pauses double';
const theEnd = 'the end of the run: short waits test it';
const repeats = 'lookups are repeated: foreign-ib/user-status/indistinguishable';

/** The reason of a wait, the sentence on the console, where … is any time, and what the run meets. */
const rows: readonly (readonly [WaitReason, sentence: string, Around?])[] = [
  ['stated-limit', 'waiting … for user-status (stated limit, 5 in 10 s)', { isStated: true }],
  ['retry-after', 'waiting … for user-status (429, Retry-After 10 s)'],
  ['retry-after', 'waiting 0:01 for user-status (429, Retry-After 0 s)', says('0')],
  ['doubled', `waiting 0:03 for user-status (429, Retry-After 1 s, twice ${inVain})`, says('1')],
  ['back-off', 'waiting … for user-status (429 without Retry-After, for a known window)', noRetryAfter],
  ['doubled', `waiting 0:05 for user-status (429 without Retry-After, 3 times ${inVain})`, noRetryAfter],
  ['back-off', `waiting … for user-status (429, Retry-After 1440 min, after ${theEnd})`, says('86400')],
  ['rest', 'waiting … for user-status (a rest before the limit is tried)', { isStated: true, ...unending }],
  ['change', 'waiting … (a change of data: pending/deposit-check/becomes-executed)'],
  ['change', 'waiting … (a change of data: key revoked)'],
  ['repeat', `waiting … (a pause before ${repeats})`, { ...toldByHeader, ...unending }],
  ['lost-target', 'waiting 0:01 (the target did not answer as before)', { network: restarts }],
];

for (const [reason, sentence, { isStated, behaviour = reference, ...more } = {}] of rows)
  test(`a run waits because of ${reason}, and says: ${sentence}`, async () => {
    const limits = limitsOf(5, 5, 10);
    const fixture = isStated === true ? { ...oneKey, limits } : oneKey;
    const said = new Set<string>();
    const onWait: MockRunOptions['onWait'] = (waiting) => said.add(renderWaiting(waiting));
    const run = { fixture, seed: 1, cases: 40, maxDurationMs: 300_000, onWait, ...more };
    const { waits = [], ...record } = await verifyMock(behaviour, run, { ...oneKey, limits });
    const withAnyTime = [...said].map((one) => one.replace(/\d+:\d\d/, '…'));
    assert.ok([...said, ...withAnyTime].includes(sentence), [...said].join('\n'));
    assert.ok(waits.some((one) => one.reason === reason && one.waitedMs > 0));
    for (const render of [reports.console, reports.markdown]) {
      const text = render({ ...record, waits }, { color: false, width: 200 });
      assert.ok(text.replaceAll(/\s+/g, ' ').includes(waitWords[reason]));
    }
    // Nothing is told that was not waited for.
    const of429 = new Set<string>(['retry-after', 'back-off', 'doubled']);
    if (record.rateLimited.answers === 0) assert.ok(!waits.some((one) => of429.has(one.reason)));
    const ofEndpoints = waits.filter(({ endpoint }) => endpoint !== undefined);
    const sumMs = ofEndpoints.reduce((sum, { waitedMs }) => sum + waitedMs, 0);
    assert.equal(record.rateLimited.waitedMs, sumMs);
  });

/** A server that answers 429 to lookups of some ids, and of no others. */
const limits = (endpoint: Endpoint, ids: readonly string[], retryAfter: string): Behaviour =>
  on(endpoint, (response, exchange) => {
    const isLimited = ids.some((id) => exchange.request.target.toLowerCase().includes(id.toLowerCase()));
    const body = error(429, endpoints[endpoint].messages[429])(response, exchange);
    return isLimited ? { ...body, headers: { ...response.headers, 'Retry-After': retryAfter } } : {};
  })(reference);

const isOurs = (id: string) => oneKey.users!.some((one) => one.user_id === id && one.partner === 'northwind');
const foreigners = oneKey.users!.map((one) => one.user_id).filter((id) => !isOurs(id));
const ownDeposits = oneKey.deposits!.filter((one) => one.state === 'EXECUTED' && isOurs(one.user_id));
const deposits = ownDeposits.map((one) => one.reference_id);
const [foreign, executed] = ['foreign-ib/user-status/other-ib', 'valid/deposit-check/executed'];
for (const [what, endpoint, ids, row, other] of [
  ['users of other IBs', 'user-status', foreigners, foreign, 'valid/user-status/member'],
  ['deposits', 'deposit-check', deposits, executed, 'foreign-ib/deposit-check/unknown'],
] as const)
  for (const retryAfter of ['1', '60', '86400'])
    test(`429 for ${what} alone, Retry-After ${retryAfter}: their rows name one, others are judged`, async () => {
      const bounds = { seed: 1, cases: 200, maxDurationMs: 300_000, skip: ['rate-limit'] };
      const server = limits(endpoint, ids, retryAfter);
      const { requirements } = await verifyMock(server, { fixture: unlimited, ...bounds });
      const found = (name: string) => requirements.find(({ id }) => id === name)!;
      const named = found(row);
      assert.ok(named.outcome === 'inconclusive' && named.reason === 'id-limited', JSON.stringify(named));
      assert.ok(ids.some((id) => named.words.includes(id)));
      assert.equal(found(other).outcome, 'passed');
      assert.ok(!requirements.some(({ outcome }) => outcome === 'failed'));
    });
