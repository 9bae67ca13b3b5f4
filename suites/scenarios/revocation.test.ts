import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auth } from '../catalogue/auth.ts';
import { fingerprint, type Request } from '../request.ts';
import type { Scenario } from '../catalogue/requirement.ts';
import type { Context } from '../scenario-context.ts';
import { answerOf, runScenario, sampleKnown } from '../testing/samples.ts';

test('a revoked key asks before for what it asks after: a cache may keep it, on each of several machines', async () => {
  const revocation = auth.find(({ id }) => id === 'auth/user-status/revocation') as Scenario;
  const [, revoked] = sampleKnown.callerKeys;
  const asked = { before: [] as Request[], after: [] as Request[] };
  let phase: keyof typeof asked = 'before';
  const send = async (...requests: readonly Request[]) => {
    asked[phase].push(...requests);
    return requests.map(({ credential }) => {
      const isRefused = credential.as === 'key' && (credential.key.state === 'revoked' || phase === 'after');
      return answerOf(isRefused ? 401 : 200, {});
    });
  };
  await runScenario(revocation, {
    send,
    sendAtOnce: send,
    now: () => 0,
    wait: () => Promise.resolve(),
    graceMs: 0,
    longestWindowMs: () => 0,
    leftRequests: () => Infinity,
    verdictsOn: () => [],
    failsAnyway: () => false,
    withState: async (_, during) => {
      phase = 'after';
      return during({ askedAt: 0, dueAt: 0, judged: (ask) => ask() });
    },
  } satisfies Partial<Context>);
  const ofRevoked = (requests: readonly Request[]) =>
    requests.filter(({ credential }) => credential.as === 'key' && credential.key === revoked);
  const before = ofRevoked(asked.before).map(fingerprint);
  const after = ofRevoked(asked.after);
  assert.ok(after.length > 0);
  for (const one of after)
    assert.ok(before.filter((name) => name === fingerprint(one)).length >= 2, one.target);
});
