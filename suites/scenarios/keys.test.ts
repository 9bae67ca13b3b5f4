import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auth } from '../requirements/auth.ts';
import { fingerprint, type Request } from '../request.ts';
import type { Scenario } from '../rules/requirement.ts';
import type { Context } from '../rules/scenario-context.ts';
import { answerOf, runScenario, sampleKnown as known } from '../testing/samples.ts';
import { judgeActiveKeys } from './keys.ts';

/** Judges a server that refuses the keys of some partners. */
async function judged(isRefused: (partner: string | null) => boolean) {
  const sent: Request[] = [];
  const send = async (...requests: readonly Request[]) => {
    sent.push(...requests);
    return requests.map(({ credential }) =>
      credential.as === 'key' && isRefused(credential.key.partner)
        ? answerOf(401, { error: 'Unauthorized' })
        : answerOf(200, {}),
    );
  };
  const context = { send, longestWindowMs: () => 0 } as unknown as Context;
  return { sent, ...(await judgeActiveKeys('user-status')(context, known)) };
}

test('each active key asks for what its partner sees, and for what the partner under test sees', async () => {
  const { finding, sent } = await judged(() => false);
  assert.equal(finding.kind, 'passed');
  const keys = sent.map(({ credential }) => credential.as === 'key' && credential.key);
  assert.deepEqual(new Set(keys), new Set([...known.callerKeys, ...known.otherKeys]));
  const ours = known.members[0]!.user_id.toLowerCase();
  for (const key of known.otherKeys) {
    const asked = sent.filter(({ credential }) => credential.as === 'key' && credential.key === key);
    assert.ok(asked.some(({ target }) => target.includes(ours)));
  }
});

test('a key of another partner that is refused fails, by its name', async () => {
  const { finding } = await judged((partner) => partner !== known.partner);
  assert.ok(finding.kind === 'failed');
  assert.match(finding.expected, /<key contoso\/active>, which the fixture calls active/);
});

test('a revoked key asks before for what it asks after: a cache may keep it, on each of several machines', async () => {
  const revocation = auth.find(({ id }) => id === 'auth/user-status/revocation') as Scenario;
  const [, revoked] = known.callerKeys;
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
