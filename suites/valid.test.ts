import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Answer } from './answer.ts';
import type { Property } from './requirement.ts';
import { answerOf } from './sample-answers.ts';
import { sampleKnown as known } from './sample-known.ts';
import { valid } from './valid.ts';
import type { Verdict } from './verdict.ts';

/** What a requirement says of its first input, all of whose requests got this answer. */
function verdictOn(id: string, answer: Answer): string {
  const requirement = valid.find((candidate) => candidate.id === id) as Property;
  const [first] = requirement.draw(known, { seed: 1, cases: 10 });
  return shortOf(first!.judge(first!.requests.map(() => answer)));
}

const shortOf = (verdict: Verdict) =>
  verdict.kind === 'failed' ? verdict.aspect : verdict.kind === 'unjudged' ? verdict.reason : verdict.kind;

describe('any-uuid-version: what says nothing of the id is no pass', () => {
  for (const [status, expected] of [
    [200, 'held'],
    [404, 'held'],
    [400, 'status'],
  ] as const)
    test(`${status}: ${expected}`, () =>
      assert.equal(verdictOn('valid/deposit-check/any-uuid-version', answerOf(status, {})), expected));
  for (const status of [401, 403, 500, 502, 503])
    test(`${status}: not held`, () =>
      assert.notEqual(verdictOn('valid/deposit-check/any-uuid-version', answerOf(status, {})), 'held'));
});

/** Bodies of a 200, and what the requirement on the shape says. */
const shapes: Readonly<Record<string, readonly (readonly [body: string, expected: string])[]>> = {
  'valid/user-status/shape': [
    ['{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59Z"}', 'held'],
    ['{"date_joined":null,"is_under_ib":true}', 'held'],
    ['{"is_under_ib":true}', 'shape'],
    ['{"is_under_ib":true,"date_joined":null,"email":null}', 'shape'],
    ['{"is_under_ib":"true","date_joined":null}', 'shape'],
    ['[]', 'shape'],
    ['{"is_under_ib":false,"is_under_ib":true,"date_joined":"2024-02-29T23:59:59Z"}', 'shape'],
  ],
  'valid/deposit-check/shape': [
    ['{"status":"EXECUTED","amountInUsd":1,"executedAt":1}', 'held'],
    ['{"status":"EXECUTED","amountInUsd":1,"executedAt":1,"currency":"USD"}', 'held'],
    ['{"status":"EXECUTED","amountInUsd":1}', 'shape'],
    ['{"status":"EXECUTED","amountInUsd":1,"executedAt":1,"email":null}', 'shape'],
    ['null', 'JSON'],
    ['{"status":"pending","status":"EXECUTED","amountInUsd":1,"executedAt":1}', 'shape'],
  ],
};

for (const [id, bodies] of Object.entries(shapes))
  describe(id, () => {
    for (const [body, expected] of bodies)
      test(`${body}: ${expected}`, () => assert.equal(verdictOn(id, answerOf(200, body)), expected));
    test('another status is spoken of elsewhere', () =>
      assert.equal(verdictOn(id, answerOf(404, {})), 'depends'));
  });
