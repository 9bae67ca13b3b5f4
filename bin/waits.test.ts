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
import { limitsOf, verifyMock, type MockRunOptions } from './dev/testing/verify-mock.ts';

/** A server whose 429 names another time than that of its limiter. */
const says = (value: string): Behaviour => on(429, header('Retry-After', value))(reference);

/** Breaks connections from the 60th request on, for 2 s. */
const restarts: MockRunOptions['network'] = (client, clock) => {
  let [sent, backAt] = [0, Infinity];
  return {
    ...client,
    send: async (request) => {
      await clock.sleep(1);
      if (++sent === 60) backAt = clock.now() + 2000;
      const isDown = sent >= 60 && clock.now() < backAt;
      return isDown ? { kind: 'trouble', code: 'network', words: 'down' } : client.send(request);
    },
  };
};

interface Row extends Partial<MockRunOptions> {
  readonly isStated?: true;
  readonly behaviour?: Behaviour;
  /** A sentence on the console. */
  readonly says: RegExp;
}

/** What a run meets that has the limits 5 in 10 s, or others that are stated. */
const rows: Readonly<Record<string, readonly [WaitReason, Row]>> = {
  'a stated limit': [
    'stated-limit',
    { isStated: true, says: /^waiting 0:\d\d for user-status \(stated limit, 5 in 10 s\)$/ },
  ],
  'a 429 with Retry-After': [
    'retry-after',
    { says: /^waiting 0:\d\d for user-status \(429, Retry-After 10 s\)$/ },
  ],
  'Retry-After 0': [
    'retry-after',
    { behaviour: says('0'), says: /^waiting 0:01 for user-status \(429, Retry-After 0 s\)$/ },
  ],
  'a Retry-After that is too short': [
    'doubled',
    {
      behaviour: says('1'),
      says: /^waiting 0:03 for user-status \(429, Retry-After 1 s, twice in vain: pauses double\)$/,
    },
  ],
  'a 429 without Retry-After': [
    'back-off',
    {
      behaviour: variants['retry-after-left-out']!.change(reference),
      says: /for user-status \(429 without Retry-After, for a known window\)$/,
    },
  ],
  'no Retry-After, in vain': [
    'doubled',
    {
      behaviour: variants['retry-after-left-out']!.change(reference),
      says: /^waiting 0:05 for user-status \(429 without Retry-After, 3 times in vain: pauses double\)$/,
    },
  ],
  'a Retry-After of a day': [
    'back-off',
    {
      behaviour: says('86400'),
      says: /\(429, Retry-After 1440 min, after the end of the run: short waits test it\)$/,
    },
  ],
  'the trial of a limiter': [
    'rest',
    {
      isStated: true,
      maxDurationMs: Infinity,
      says: /for user-status \(a rest before the limit is tried\)$/,
    },
  ],
  'a deposit that becomes EXECUTED': [
    'change',
    { says: /^waiting 0:\d\d \(a change of data: pending\/deposit-check\/becomes-executed\)$/ },
  ],
  'a key that is revoked': ['change', { says: /^waiting 0:\d\d \(a change of data: key revoked\)$/ }],
  'a difference that is compared again': [
    'repeat',
    {
      behaviour: faults['foreign-user-told-by-header']!.change(reference),
      maxDurationMs: Infinity,
      says: /\(a pause before lookups are repeated: foreign-ib\/user-status\/indistinguishable\)$/,
    },
  ],
  'a target that restarts': [
    'lost-target',
    { network: restarts, says: /^waiting 0:01 \(the target did not answer as before\)$/ },
  ],
};

for (const [what, [reason, { isStated, behaviour = reference, says: sentence, ...more }]] of Object.entries(
  rows,
))
  test(`a run that meets ${what} waits, and says why`, async () => {
    const limits = limitsOf(5, 5, 10);
    const fixture = isStated === true ? { ...oneKey, limits } : oneKey;
    const sentences = new Set<string>();
    const onWait: MockRunOptions['onWait'] = (waiting) => sentences.add(renderWaiting(waiting));
    const run = { fixture, seed: 1, cases: 40, maxDurationMs: 300_000, onWait, ...more };
    const record = await verifyMock(behaviour, run, { ...oneKey, limits });
    assert.ok(
      [...sentences].some((one) => sentence.test(one)),
      [...sentences].join('\n'),
    );
    const waits = record.waits!.filter((one) => one.reason === reason);
    assert.ok(waits.some(({ waitedMs }) => waitedMs > 0));
    for (const render of [reports.console, reports.markdown])
      assert.ok(
        render(record, { color: false, width: 200 }).replaceAll(/\s+/g, ' ').includes(waitWords[reason]),
      );
    // Nothing is told that was not waited for.
    const isOf429 = (one: { readonly reason: WaitReason }) =>
      ['retry-after', 'back-off', 'doubled'].includes(one.reason);
    if (record.rateLimited.answers === 0) assert.deepEqual(record.waits!.filter(isOf429), []);
    const sumMs = record.waits!.reduce(
      (sum, one) => sum + (one.endpoint === undefined ? 0 : one.waitedMs),
      0,
    );
    assert.equal(record.rateLimited.waitedMs, sumMs);
  });

/** A server that answers 429 to lookups of some ids, and of no others. */
const limits = (endpoint: Endpoint, ids: readonly string[], retryAfter: string): Behaviour =>
  on(endpoint, (response, exchange) => {
    const isLimited = ids.some((id) => exchange.request.target.toLowerCase().includes(id.toLowerCase()));
    const body = error(429, endpoints[endpoint].messages[429])(response, exchange);
    return isLimited ? { ...body, headers: { ...response.headers, 'Retry-After': retryAfter } } : {};
  })(reference);

const foreigners = oneKey.users!.filter(({ partner }) => partner !== 'northwind').map((one) => one.user_id);
const isOurs = (id: string) => oneKey.users!.some((one) => one.user_id === id && one.partner === 'northwind');
const deposits = oneKey
  .deposits!.filter((one) => one.state === 'EXECUTED' && isOurs(one.user_id))
  .map((one) => one.reference_id);
for (const [what, endpoint, ids, row, other] of [
  [
    'users of other IBs',
    'user-status',
    foreigners,
    'foreign-ib/user-status/other-ib',
    'valid/user-status/member',
  ],
  ['deposits', 'deposit-check', deposits, 'valid/deposit-check/executed', 'foreign-ib/deposit-check/unknown'],
] as const)
  for (const retryAfter of ['1', '60', '86400'])
    test(`429 for ${what} alone, Retry-After ${retryAfter}: their rows name one, others are judged`, async () => {
      const { requirements } = await verifyMock(limits(endpoint, ids, retryAfter), {
        fixture: unlimited,
        seed: 1,
        cases: 200,
        maxDurationMs: 300_000,
        skip: ['rate-limit'],
      });
      const found = (name: string) => requirements.find(({ id }) => id === name)!;
      const named = found(row);
      assert.ok(named.outcome === 'inconclusive' && named.reason === 'id-limited', JSON.stringify(named));
      assert.ok(ids.some((id) => named.words.includes(id)));
      assert.equal(found(other).outcome, 'passed');
      assert.deepEqual(
        requirements.filter(({ outcome }) => outcome === 'failed'),
        [],
      );
    });
