import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trouble, type Reply } from '../answer.ts';
import { pending } from '../requirements/pending.ts';
import type { Request } from '../request.ts';
import type { Scenario } from '../rules/requirement.ts';
import type { Context, Shared } from '../rules/scenario-context.ts';
import { answerOf, resultIn, runScenario, sampleKnown } from '../testing/samples.ts';

const becomesExecuted = pending.find(
  (one): one is Scenario => one.kind === 'scenario' && one.id === 'pending/deposit-check/becomes-executed',
)!;

/** A context over a clock that only waits move. Its changes end at once. */
function contextOf(answer: (request: Request, now: number) => Reply): Partial<Context> {
  let now = Date.UTC(2026, 0, 1);
  const send = async (...requests: readonly Request[]) =>
    requests.map((request) => ({ ...answer(request, now), sentAt: now, receivedAt: now }));
  return {
    send,
    sendAtOnce: send,
    now: () => now,
    wait: async (ms) => void (now += ms),
    graceMs: 5000,
    longestWindowMs: () => 0,
    leftRequests: () => Infinity,
    failsAnyway: () => false,
  } satisfies Partial<Context>;
}

const notFound = answerOf(404, { error: 'Deposit not found' });

test('if every deposit was EXECUTED before the run, the row is inconclusive, however short ago that was', async () => {
  const execution = { status: 'EXECUTED', amountInUsd: 10, executedAt: Date.UTC(2026, 0, 1) };
  const finding = await runScenario(
    becomesExecuted,
    contextOf(() => answerOf(200, execution)),
  );
  assert.ok(finding.kind === 'inconclusive' && finding.reason === 'fixture-outdated');
});

test('a deposit with another execution time at each look was not EXECUTED before the run', async () => {
  let executedAt = Date.UTC(2026, 0, 1);
  const finding = await runScenario(
    becomesExecuted,
    contextOf(({ target }) =>
      target.includes('4d000000')
        ? answerOf(200, { status: 'EXECUTED', amountInUsd: 10, executedAt: executedAt++ })
        : notFound,
    ),
  );
  assert.equal(finding.kind, 'failed');
});

for (const [what, delayMs, expected] of [
  ['within the grace', 4000, 'passed'],
  ['after the grace', 7000, 'failed'],
] as const)
  test(`a deposit that shows ${what} after its last poll: ${expected}`, async () => {
    const shownFrom = Date.UTC(2026, 0, 1) + delayMs;
    const execution = { status: 'EXECUTED', amountInUsd: 10, executedAt: Date.UTC(2026, 0, 1) };
    const finding = await runScenario(
      becomesExecuted,
      contextOf((_, now) => (now < shownFrom ? notFound : answerOf(200, execution))),
    );
    assert.equal(finding.kind, expected);
  });

for (const [what, last, expected] of [
  ['nothing is left of a limit', trouble('rate-limited', 'limited'), 'passed'],
  ['it is gone', notFound, 'failed'],
] as const)
  test(`a deposit became EXECUTED beside the lookups, and ${what} once they are sent: ${expected}`, async () => {
    const execution = { status: 'EXECUTED', amountInUsd: 10, executedAt: Date.UTC(2026, 0, 1) };
    let areSent = false;
    const results = new Map<unknown, unknown>();
    const context: Partial<Context> = {
      ...contextOf((_, now) =>
        areSent ? last : now > Date.UTC(2026, 0, 1) ? answerOf(200, execution) : notFound,
      ),
      once: async <Result>(of: Shared<Result, Context>) => {
        if (!results.has(of)) results.set(of, await of.make(context as Context, sampleKnown));
        return results.get(of) as Result;
      },
    };
    await becomesExecuted.begin!(context as Context, sampleKnown);
    areSent = true;
    const finding = await runScenario(becomesExecuted, context);
    assert.equal(finding.kind, expected);
  });

for (const [what, isLost, expected] of [
  ['404 now and then', (nth: number) => nth % 3 === 2, { failed: 3, of: 7 }],
  ['404 for good', () => true, undefined],
] as const)
  test(`a deposit that gets ${what} after it was EXECUTED fails, and is marked intermittent accordingly`, async () => {
    const startedAt = Date.UTC(2026, 0, 1);
    const execution = { status: 'EXECUTED', amountInUsd: 10, executedAt: startedAt };
    let [shownAt, asked] = [Infinity, 0];
    const context = contextOf((_, now) => {
      if (now > startedAt) shownAt = Math.min(shownAt, now);
      const isShown = now >= shownAt + 5000 ? !isLost(asked++) : now >= shownAt;
      return isShown ? answerOf(200, execution) : notFound;
    });
    const { finding, intermittent } = await resultIn(becomesExecuted, context);
    assert.equal(finding.kind, 'failed');
    assert.deepEqual(intermittent, expected);
  });
