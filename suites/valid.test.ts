import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Answer } from './answer.ts';
import { expectedOf } from './model/model.ts';
import { depositCheck, userStatus } from './request.ts';
import type { Rule } from './requirement.ts';
import { answerOf } from './sample-answers.ts';
import { sampleKnown as known } from './sample-known.ts';
import { valid } from './valid.ts';

/** What a requirement says of an answer about a member or an EXECUTED deposit. */
function verdictOn(id: string, answer: Answer): string {
  const { holds } = valid.find((candidate) => candidate.id === id) as Rule;
  const request = id.includes('/user-status/')
    ? userStatus(known.members[0]!.user_id)
    : depositCheck(known.executed[0]!.reference_id);
  const verdict = holds!(answer, expectedOf(known, request)!, known);
  return verdict?.kind === 'failed' ? verdict.aspect : (verdict?.kind ?? 'none');
}

const joined = known.members[0]!.date_joined;
const { amountInUsd, executedAt } = known.executed[0]!;
const member = (date: unknown) => JSON.stringify({ is_under_ib: true, date_joined: date });

/** Bodies of a 200, and what a requirement says of each; `none`: another requirement judges what is wrong. */
const bodies: Readonly<Record<string, readonly (readonly [body: string, expected: string])[]>> = {
  'valid/user-status/shape': [
    [member(joined), 'held'],
    ['{"date_joined":null,"is_under_ib":true}', 'held'],
    ['{"is_under_ib":true}', 'shape'],
    ['{"is_under_ib":true,"date_joined":null,"email":null}', 'shape'],
    ['{"is_under_ib":"true","date_joined":null}', 'shape'],
    ['[]', 'shape'],
    ['{"is_under_ib":false,"is_under_ib":true,"date_joined":null}', 'shape'],
  ],
  'valid/user-status/date-joined': [
    [member(joined), 'held'],
    [member(joined.replace('Z', '+00:00')), 'held'],
    [member('2024-02-29T23:59:59.998Z'), 'value'],
    [member(null), 'value'],
    [member('yesterday'), 'none'],
    ['{"is_under_ib":false,"date_joined":null}', 'none'],
  ],
  'valid/user-status/date-joined-format': [
    [member(joined), 'held'],
    [member(joined.replace('Z', '')), 'value'],
    [member(1_709_251_199_999), 'value'],
    [member(null), 'none'],
  ],
  'valid/user-status/date-joined-rfc3339': [
    [member(joined), 'held'],
    [member('20240229T235959Z'), 'value'],
    [member('yesterday'), 'none'],
  ],
  'valid/deposit-check/shape': [
    ['{"status":"EXECUTED","amountInUsd":1,"executedAt":1}', 'held'],
    ['{"status":"EXECUTED","amountInUsd":1,"executedAt":1,"currency":"USD"}', 'held'],
    ['{"status":"EXECUTED","amountInUsd":1}', 'shape'],
    ['{"status":"EXECUTED","amountInUsd":1,"executedAt":1,"email":null}', 'shape'],
    ['null', 'JSON'],
    ['{"status":"pending","status":"EXECUTED","amountInUsd":1,"executedAt":1}', 'shape'],
  ],
  'valid/deposit-check/closed': [
    ['{"status":"EXECUTED","amountInUsd":1,"executedAt":1}', 'held'],
    ['{"status":"EXECUTED","amountInUsd":1,"executedAt":1,"currency":"USD"}', 'shape'],
    ['{"status":"EXECUTED","amount":1,"executedAt":1}', 'none'],
  ],
  'valid/deposit-check/amount': [
    [`{"status":"EXECUTED","amountInUsd":${amountInUsd}}`, 'held'],
    [`{"status":"EXECUTED","amountInUsd":"${amountInUsd}"}`, 'value'],
    ['{"status":"EXECUTED"}', 'unjudged'],
  ],
  'valid/deposit-check/executed-at': [
    [`{"status":"EXECUTED","executedAt":${executedAt}}`, 'held'],
    [`{"status":"EXECUTED","executedAt":${executedAt / 1000}}`, 'value'],
  ],
};

for (const [id, list] of Object.entries(bodies))
  describe(id, () => {
    for (const [body, expected] of list)
      test(`${body}: ${expected}`, () => assert.equal(verdictOn(id, answerOf(200, body)), expected));
    test('other requirements judge another status', () =>
      assert.equal(verdictOn(id, answerOf(404, {})), 'none'));
  });
