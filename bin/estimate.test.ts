/** What `doctor` promises of a run, compared with runs on the virtual clock. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reference } from '../mock/server/handler.ts';
import { catalogue } from '../suites/index.ts';
import { expectedRun } from '../suites/engine/expected-run.ts';
import { defaults } from './commands/flags.ts';
import { builtIn, oneKey, unlimited } from './dev/testing/fixtures.ts';
import { partOf } from './dev/testing/part.ts';
import { limitsOf, verifyMock, type MockRunOptions } from './dev/testing/verify-mock.ts';
import { runOptions } from './run-options.ts';

const [first, second] = builtIn.users!;
const small = {
  ...unlimited,
  users: [first!, second!],
  deposits: builtIn.deposits!.filter(({ user_id }) => user_id === first!.user_id),
};
const rowsOf = (suite: string) => catalogue.filter(({ id }) => id.startsWith(suite));
const perMinute = limitsOf(60, 250, 60);

type Case = Pick<MockRunOptions, 'fixture'> & Partial<MockRunOptions>;

const cases: Readonly<Record<string, Case>> = {
  'the built-in fixture, with a state hook': { fixture: builtIn, hasStateHook: true },
  'no limits': { fixture: unlimited },
  'few entities': { fixture: small },
  'limits of a minute': { fixture: { ...unlimited, limits: perMinute } },
  'one key': { fixture: { ...oneKey, limits: limitsOf(100, 100, 60) } },
  'short windows': { fixture: { ...unlimited, limits: limitsOf(30, 30, 10) } },
  'few entities and limits': { fixture: { ...small, limits: limitsOf(60, 60, 60) } },
  'keys that share a limit': { fixture: { ...oneKey, limits: { ...perMinute, scope: 'partner' } } },
  'few cases': { fixture: { ...unlimited, limits: perMinute }, cases: 100 },
  'a rate': { fixture: unlimited, rate: 20 },
  'windows that are longer than the run': {
    fixture: { ...unlimited, limits: limitsOf(20, 100, 300, 900) },
    maxDurationMs: 300_000,
  },
  'one suite': { fixture: { ...unlimited, limits: perMinute }, requirements: rowsOf('valid/') },
  'limits alone': { fixture: { ...unlimited, limits: perMinute }, requirements: rowsOf('rate-limit/') },
};

/** Estimates may be wrong by so much, and by so many ms. */
const [PART, SLACK_MS] = [0.3, 1000];

describe('an estimate is right within 30 %', () => {
  for (const [what, more] of partOf(Object.entries(cases), 5))
    test(what, async () => {
      const times: number[] = [];
      const given = { seed: 1, cases: defaults.cases, hasStateHook: false, requirements: catalogue, ...more };
      const { requests } = await verifyMock(reference, {
        ...given,
        onExchange: ({ reply }) => reply.kind === 'answer' && times.push(reply.receivedAt),
      });
      const { hasStateHook, requirements } = given;
      const run = runOptions({ maxDurationMs: Number.POSITIVE_INFINITY, ...given });
      const stateHook = hasStateHook ? { change: () => Promise.resolve() } : undefined;
      const options = { ...run, requirements, skip: new Set<string>() };
      const expected = expectedRun({ ...options, ...(stateHook && { stateHook }) });
      const durationMs = times.at(-1)! - times[0]!;
      const isNear = (one: number, other: number, slack: number) =>
        Math.abs(one - other) <= PART * other + slack;
      const told = JSON.stringify({ ...expected, needs: undefined, found: { requests, durationMs } });
      assert.ok(isNear(expected.requests, requests, 0), told);
      assert.ok(isNear(expected.durationMs, durationMs, SLACK_MS), told);
    });
});
