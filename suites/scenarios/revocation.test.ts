import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trouble } from '../answer.ts';
import { auth } from '../auth.ts';
import type { Request } from '../request.ts';
import type { Scenario } from '../requirement.ts';
import { answerOf, runScenario, sampleKnown } from '../testing/samples.ts';

test('what is sent before a key is revoked is judged like every other lookup', async () => {
  const revocation = auth.find(({ id }) => id === 'auth/user-status/revocation') as Scenario;
  const before: Request[] = [];
  await runScenario(revocation, {
    send: async (...requests) => {
      before.push(...requests);
      return requests.map(({ credential }) =>
        answerOf(credential.as === 'key' && sampleKnown.revokedKeys.includes(credential.key) ? 401 : 200, {}),
      );
    },
    withState: async () => trouble('state-hook', 'no hook'),
  });
  assert.ok(before.length > 0);
  assert.ok(before.every(({ isStateChanged }) => isStateChanged !== true));
});
