import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../answer.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import type { Scenario } from '../rules/requirement.ts';
import type { Context } from '../rules/scenario-context.ts';
import { robustness } from '../requirements/robustness.ts';
import { answerOf, resultIn, sampleKnown } from '../testing/samples.ts';
import { failed, pass } from '../rules/verdict.ts';

const concurrency = robustness.find(({ id }) => id === 'robustness/service/concurrency') as Scenario;

/** Judges a target over 1 s whose answers no row calls wrong. */
const resultOf = (context: Partial<Context>, known = sampleKnown) =>
  resultIn(concurrency, { leftRequests: () => Infinity, verdictsOn: () => [pass], ...context }, known);
const judge = async (...given: Parameters<typeof resultOf>) => (await resultOf(...given)).finding;

const same =
  (answer: Answer) =>
  async (...requests: readonly Request[]) =>
    requests.map(() => answer);
const member = answerOf(200, { is_under_ib: true, date_joined: '2024-01-01T00:00:00Z' });
const crash = answerOf(500, {});

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
  const { finding, where } = await resultOf({ send, sendAtOnce });
  return finding.kind === 'inconclusive' ? finding.reason : (where ?? finding.kind);
}

for (const [gap, expected] of [
  [0, 'passed'],
  [1, 'passed'],
  [3, 'timing-window'],
  [50, 'timing-window'],
] as const)
  test(`lookups sent ${gap} ms apart with a latency of 2 ms: ${expected}`, async () => {
    assert.equal(await findingOf(gap), expected);
    assert.deepEqual(await findingOf(gap, true), ['meanwhile: 15 other lookups are sent']);
  });

const verdictsOn: Context['verdictsOn'] = (_, { status }) =>
  status === 500 ? [failed('status', '200', '500')] : [pass];

test('a lookup that is wrong alone shows nothing about a crowd', async () => {
  const finding = await judge({ send: same(crash), sendAtOnce: same(member), verdictsOn });
  assert.equal(finding.kind === 'inconclusive' && finding.reason, 'depends');
});

test('a wrong answer in a crowd is no failure if the lookup gets it alone, too', async () => {
  let nth = 0;
  const send = async (...requests: readonly Request[]) =>
    requests.map(() => answerOf(200, { is_under_ib: nth++ % 20 !== 0, date_joined: null }));
  const finding = await judge({ send, sendAtOnce: send });
  assert.equal(finding.kind === 'inconclusive' && finding.reason, 'flaky');
});

test('a 503 that only a crowd gets is no failure: a front end refuses load', async () => {
  const busy = { ...answerOf(503, {}), text: 'Service Unavailable' };
  const finding = await judge({ send: same(member), sendAtOnce: same(busy) });
  assert.equal(
    finding.kind === 'inconclusive' && finding.words.replace(/\d+ lookups/, 'N lookups'),
    '503 to some of N lookups at once; --concurrency sends fewer',
  );
});

/** The groups that are sent at once. */
async function crowdsOf(limits: Known['limits']): Promise<readonly (readonly Request[])[]> {
  const crowds: (readonly Request[])[] = [];
  const send = async (...requests: readonly Request[]) => requests.map(() => answerOf(200, {}));
  const sendAtOnce = (...requests: readonly Request[]) => {
    crowds.push(requests);
    return send(...requests);
  };
  await judge({ send, sendAtOnce }, { ...sampleKnown, limits });
  return crowds;
}

test('without a limit, crowds grow; with a stated limit, they have few lookups of deposits', async () => {
  const limits = (windowSeconds: number) => ({ 'deposit-check': { requests: 16, windowSeconds } });
  const figures = async (...of: Parameters<typeof crowdsOf>) =>
    (await crowdsOf(...of)).map((crowd) => [
      crowd.length,
      crowd.filter(({ endpoint }) => endpoint === 'deposit-check').length,
    ]);
  const sizes = (await figures({})).map(([size]) => size);
  assert.deepEqual(sizes, [16, 32, 64]);
  assert.deepEqual((await figures(limits(2))).flat(), [16, 4, 32, 4]);
  assert.deepEqual((await figures(limits(20))).flat(), [16, 2, 32, 2]);
});

test('the same id is looked up with the keys of two partners at once', async () => {
  const [crowd] = await crowdsOf({});
  const partners = new Map<string, Set<string | null | undefined>>();
  for (const { target, credential } of crowd!) {
    const partner = credential.as === 'key' ? credential.key.partner : undefined;
    partners.set(target, (partners.get(target) ?? new Set()).add(partner));
  }
  assert.ok([...partners.values()].filter(({ size }) => size > 1).length >= 2);
});
