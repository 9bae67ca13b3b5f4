import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from './answer.ts';
import type { Request } from './request.ts';
import type { Scenario } from './requirement.ts';
import { robustness } from './robustness.ts';
import { answerOf, runScenario, sampleKnown } from './testing/samples.ts';

const concurrency = robustness.find(({ id }) => id === 'robustness/service/concurrency') as Scenario;

/** A target with a latency of 2 ms. The crowd is sent `gap` ms apart, and answers may be mixed up. */
async function findingOf(gap: number, isMixedUp = false) {
  let now = 0;
  const answer = ({ target }: Request): Answer => ({
    ...answerOf(200, { is_under_ib: target.length % 2 === 0, date_joined: target }),
    sentAt: (now += gap),
    receivedAt: now + 2,
  });
  const send = async (...requests: readonly Request[]) => requests.map(answer);
  const sendAtOnce = async (...requests: readonly Request[]) => {
    const answers = await send(...requests);
    return isMixedUp ? answers.toReversed() : answers;
  };
  const finding = await runScenario(concurrency, { send, sendAtOnce, leftMs: () => 1000 });
  return finding.kind === 'inconclusive' ? finding.reason : finding.kind;
}

for (const [gap, expected] of [
  [0, 'passed'],
  [1, 'passed'],
  [3, 'timing-window'],
  [50, 'timing-window'],
] as const)
  test(`lookups sent ${gap} ms apart with a latency of 2 ms: ${expected}`, async () => {
    assert.equal(await findingOf(gap), expected);
    assert.equal(await findingOf(gap, true), 'failed');
  });

test('a lookup that is wrong alone shows nothing about a crowd', async () => {
  const send = async (...requests: readonly Request[]) => requests.map(() => answerOf(500, {}));
  const sendAtOnce = async (...requests: readonly Request[]) =>
    requests.map(() => answerOf(200, { is_under_ib: true, date_joined: '2024-01-01T00:00:00Z' }));
  const finding = await runScenario(concurrency, { send, sendAtOnce, leftMs: () => 1000 });
  assert.equal(finding.kind === 'inconclusive' && finding.reason, 'depends');
});

/** The sizes of the groups that are sent at once, with a stated limit of 2 s. */
async function crowdsOf(leftMs: number): Promise<readonly number[]> {
  const sizes: number[] = [];
  const send = async (...requests: readonly Request[]) => requests.map(() => answerOf(200, {}));
  const sendAtOnce = (...requests: readonly Request[]) => {
    sizes.push(requests.length);
    return send(...requests);
  };
  const limits = { 'deposit-check': { requests: 16, windowSeconds: 2 } };
  const members = Array.from('123456', (user_id) => ({ ...sampleKnown.members[0]!, user_id }));
  await runScenario(
    concurrency,
    { send, sendAtOnce, leftMs: () => leftMs },
    { ...sampleKnown, limits, members },
  );
  return sizes;
}

test('a crowd repeats few entities; it is smaller if the window of a stated limit outlasts the run', async () => {
  assert.deepEqual([await crowdsOf(1999), await crowdsOf(2000)], [[8], [17]]);
});
