import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Request } from '../request.ts';
import type { TrialContext } from '../scenario-context.ts';
import { answerOf, sampleKnown as known } from '../testing/samples.ts';
import { judgeActiveKeys } from './active-keys.ts';

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
  const context = { send, longestWindowMs: () => 0 } as unknown as TrialContext;
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
