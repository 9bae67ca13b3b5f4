import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from './sample-answers.ts';
import { sampleKnown } from './sample-known.ts';
import { rateLimit } from './rate-limit.ts';
import { depositCheck, userStatus } from './request.ts';

const id = '1a000000-0000-4000-8000-00000000000a';

test('a 429 to HEAD has no body that could be wrong', () => {
  for (const ask of [userStatus, depositCheck])
    for (const [method, verdict] of [
      ['HEAD', undefined],
      ['GET', 'failed'],
    ] as const) {
      const exchange = { request: ask(id, { method }), answer: answerOf(429, '') };
      const verdicts = rateLimit.flatMap((requirement) =>
        requirement.kind === 'watch' ? [requirement.sees(exchange, sampleKnown)?.kind] : [],
      );
      assert.ok(
        verdicts.includes(verdict) && (method === 'GET' || verdicts.every((kind) => kind === undefined)),
      );
    }
});
