import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Reply, Trouble } from '../answer.ts';
import { knownFrom } from '../known.ts';
import { userStatus } from '../request.ts';
import { answerOf } from '../testing/samples.ts';
import type { Context } from './scenario-context.ts';
import { observes } from './requirement.ts';

const watched = observes({
  id: 'a/service/b',
  endpoint: 'service',
  clause: 'not shown',
  title: 'Something',
  requests: () => [['one', userStatus('x')]],
});
const known = knownFrom({});
const finding = async (reply: Reply) => {
  const context: Partial<Context> = { send: async () => [reply] };
  return (await watched.run(context as Context, known)).finding;
};

describe('an observation', () => {
  test('is the answer of the target', async () => {
    assert.equal((await finding(answerOf(200, {}))).kind, 'observed');
  });
  for (const code of ['timeout', 'network'] as const)
    test(`may be that the target does not answer: ${code}`, async () => {
      assert.equal((await finding({ kind: 'trouble', code, words: 'none' })).kind, 'observed');
    });
  for (const code of ['budget', 'interrupted', 'rate-limited'] as const satisfies readonly Trouble['code'][])
    test(`is inconclusive if nothing was sent: ${code}`, async () => {
      assert.deepEqual(await finding({ kind: 'trouble', code, words: 'no time' }), {
        kind: 'inconclusive',
        reason: code,
        words: 'no time',
      });
    });
});
