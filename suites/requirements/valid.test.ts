import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Answer } from '../answer.ts';
import { factsOf } from '../rules/facts-of-request.ts';
import { depositCheck, userStatus } from '../request.ts';
import type { Property } from '../rules/requirement.ts';
import { answerOf, sampleKnown as known } from '../testing/samples.ts';
import { valid } from './valid.ts';

/** The verdict of a requirement on an answer about a member or an EXECUTED deposit. */
function verdictOn(id: string, answer: Answer): string {
  const { holds } = valid.find((candidate) => candidate.id === id) as Property;
  const request = id.includes('/user-status/')
    ? userStatus(known.members[0]!.user_id)
    : depositCheck(known.executed[0]!.reference_id);
  const verdict = holds(answer, factsOf(known, request)!, known);
  return verdict?.kind === 'failed' ? verdict.aspect : (verdict?.kind ?? 'none');
}

/** Bodies of a 200 that no fault of the mock produces, and the verdict on each. */
const bodies: Readonly<Record<string, readonly (readonly [body: string, expected: string])[]>> = {
  'valid/user-status/shape': [
    ['{"date_joined":null,"is_under_ib":true}', 'passed'],
    ['{"is_under_ib":false,"is_under_ib":true,"date_joined":null}', 'shape'],
  ],
  'valid/deposit-check/shape': [
    ['null', 'JSON'],
    ['{"status":"pending","status":"EXECUTED","amountInUsd":1,"executedAt":1}', 'shape'],
  ],
  'valid/deposit-check/closed': [['{"status":"EXECUTED","amount":1,"executedAt":1}', 'none']],
  'valid/deposit-check/amount': [['{"status":"EXECUTED"}', 'inconclusive']],
};

for (const [id, list] of Object.entries(bodies))
  describe(id, () => {
    for (const [body, expected] of list)
      test(`${body}: ${expected}`, () => assert.equal(verdictOn(id, answerOf(200, body)), expected));
    test('other requirements judge another status', () =>
      assert.match(verdictOn(id, answerOf(404, {})), /^(?:none|inconclusive)$/));
  });
