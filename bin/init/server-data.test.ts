import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFixture } from '../../schemas/fixture.ts';
import { answerOf } from '../../suites/testing/samples.ts';
import { serverDataOf, fixtureOf, fixtureForCheck } from './server-data.ts';

const member = '11111111-1111-4111-8111-111111111111';
const executed = 'd1111111-1111-1111-8111-111111111111';
const ids = { member, executed };
const bodies = [
  { is_under_ib: true, date_joined: '2024-02-29T23:59:59.999Z' },
  { status: 'EXECUTED', amountInUsd: 250.5, executedAt: 1705314600000 },
] as const;
const good = [answerOf(200, bodies[0]), answerOf(200, bodies[1])] as const;

test('a date with an offset is converted to UTC', () => {
  const answer = answerOf(200, { is_under_ib: true, date_joined: '2024-03-01T01:00:00+01:00' });
  assert.equal(serverDataOf(ids, answer, undefined).users[0]?.date_joined, '2024-03-01T00:00:00.000Z');
});

/** Answers without data for a fixture. */
const noData: Readonly<
  Record<string, Parameters<typeof serverDataOf> extends [unknown, ...infer Answers] ? Answers : never>
> = {
  'no answer': [undefined, undefined],
  trouble: [
    { kind: 'trouble', code: 'timeout', words: '' },
    { kind: 'trouble', code: 'network', words: '' },
  ],
  refusals: [answerOf(401, { error: 'Unauthorized' }), answerOf(404, { error: 'Deposit not found' })],
  'no member, and a pending deposit': [
    answerOf(200, { is_under_ib: false, date_joined: '2024-02-29T23:59:59.999Z' }),
    answerOf(200, { status: 'pending', amountInUsd: 1, executedAt: 1 }),
  ],
  'no date, and an amount as text': [
    answerOf(200, { is_under_ib: true, date_joined: 'yesterday' }),
    answerOf(200, { status: 'EXECUTED', amountInUsd: '1', executedAt: 1 }),
  ],
  'correct bodies with a wrong status': [answerOf(201, bodies[0]), answerOf(500, bodies[1])],
};

for (const [what, answers] of Object.entries(noData))
  test(`${what}: neither record is written, and the check expects both`, () => {
    const data = serverDataOf(ids, ...answers);
    const { users, deposits } = fixtureOf(data, '');
    assert.deepEqual([users, deposits], [[], []]);
    const checked = checkFixture(fixtureForCheck({ url: '', key: 'k', ...ids }, data), 'f', {});
    assert.deepEqual([checked.users![0]!.user_id, checked.deposits![0]!.reference_id], [member, executed]);
  });

test('a deposit without its user is not written', () => {
  assert.deepEqual(fixtureOf(serverDataOf(ids, undefined, good[1]), '').deposits, []);
});
