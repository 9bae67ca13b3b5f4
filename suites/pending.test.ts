import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pending } from './pending.ts';
import type { Scenario } from './requirement.ts';
import { answerOf, runScenario } from './testing/samples.ts';

const becomesExecuted = pending.find(
  (one): one is Scenario => one.kind === 'scenario' && one.id === 'pending/deposit-check/becomes-executed',
)!;

test('a state hook gets an execution time in whole milliseconds, not in whole seconds, in the past', async () => {
  const startedAt = Date.UTC(2026, 0, 1);
  // Clocks have fractions of milliseconds and go on between two calls.
  for (const step of [0, 0.3, 0.7, 1.1, 333.3, 999.9]) {
    let now = startedAt + 0.25;
    const told: unknown[] = [];
    const finding = await runScenario(becomesExecuted, {
      send: async () => [answerOf(404, { error: 'Deposit not found' })],
      now: () => (now += step),
      withState: async (_state, { executedAt }) => {
        told.push(executedAt);
        return { kind: 'trouble', code: 'state-hook', words: 'enough' };
      },
    });
    assert.equal(finding.kind, 'inconclusive');
    const [executedAt] = told as [number];
    assert.ok(Number.isSafeInteger(executedAt), `${executedAt}`);
    assert.ok(executedAt % 1000 !== 0 && executedAt < startedAt + step, `${executedAt}`);
  }
});

test('if every deposit was EXECUTED before the run, the row is inconclusive', async () => {
  const execution = { status: 'EXECUTED', amountInUsd: 10, executedAt: Date.UTC(2026, 0, 1) };
  const answer = answerOf(200, execution, { date: 'Fri, 02 Jan 2026 00:00:00 GMT' });
  const finding = await runScenario(becomesExecuted, { send: async () => [answer] });
  assert.ok(finding.kind === 'inconclusive' && finding.reason === 'fixture-outdated');
});
