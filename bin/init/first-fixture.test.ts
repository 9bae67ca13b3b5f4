import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkFixture } from '../../schemas/fixture.ts';
import { answerOf } from '../../suites/testing/samples.ts';
import { amountIn, dateIn, limitIn, timeIn, type Answers } from './answers.ts';
import { compared, factsOf, fixtureOf, type Replies } from './first-fixture.ts';

const answers: Answers = {
  url: 'http://x',
  key: 'k',
  member: '11111111-1111-4111-8111-111111111111',
  executed: 'd1111111-1111-1111-8111-111111111111',
  dateJoined: undefined,
  amountInUsd: undefined,
  executedAt: undefined,
  failedLookups: undefined,
  requests: undefined,
};
const [dateJoined, executedAt] = ['2024-01-01T00:00:00Z', '1705314600000'];
const typed = { ...answers, dateJoined, amountInUsd: '7', executedAt };
const user = { is_under_ib: true, date_joined: '2024-02-29T23:59:59.999Z' };
const executed = { status: 'EXECUTED', amountInUsd: 250.5, executedAt: 1705314600000 };
const good = { membership: answerOf(200, user), deposit: answerOf(200, executed) };

/** The values in the fixture, and the lines about them. */
function valuesOf(given: Answers, replies: Replies) {
  const facts = factsOf(given, replies);
  const fixture = fixtureOf(given, facts, 's');
  checkFixture(fixture, 'f', { IB_API_KEY: 'k' });
  const { users = [], deposits = [] } = fixture;
  const [deposit] = deposits.map((one) => (one.state === 'EXECUTED' ? one : assert.fail()));
  const values = [users[0]?.date_joined, deposit?.amountInUsd, deposit?.executedAt];
  return { values, lines: compared(facts).join('\n') };
}

/** Answers without data for a fixture. */
const noData: Readonly<Record<string, Replies>> = {
  trouble: {
    membership: { kind: 'trouble', code: 'timeout', words: '' },
    deposit: { kind: 'trouble', code: 'network', words: '' },
  },
  refusals: {
    membership: answerOf(401, { error: 'Unauthorized' }),
    deposit: answerOf(404, { error: 'Deposit not found' }),
  },
  'no member, and a pending deposit': {
    membership: answerOf(200, { ...user, is_under_ib: false }),
    deposit: answerOf(200, { ...executed, status: 'pending' }),
  },
  'values that nobody can read': {
    membership: answerOf(200, { ...user, date_joined: 'yesterday' }),
    deposit: answerOf(200, { status: 'EXECUTED', amountInUsd: 'much', executedAt: null }),
  },
  'correct bodies with a wrong status': { membership: answerOf(201, user), deposit: answerOf(500, executed) },
};

for (const [what, replies] of Object.entries(noData))
  test(`${what}: the records have what was typed, or are left out`, () => {
    const { values, lines } = valuesOf(answers, replies);
    assert.deepEqual(values, [undefined, undefined, undefined]);
    assert.equal(lines.match(/left out/g)?.length, 3);
    assert.deepEqual(valuesOf(typed, replies).values, [typed.dateJoined, 7, 1705314600000]);
  });

test('what was typed comes before what the server sent', () => {
  assert.deepEqual(valuesOf(answers, good).values, ['2024-02-29T23:59:59.999Z', 250.5, 1705314600000]);
  const { values, lines } = valuesOf(typed, good);
  assert.deepEqual(values, [typed.dateJoined, 7, 1705314600000]);
  assert.equal(lines.match(/\(differs\)/g)?.length, 2);
});

test('a date without a zone and an amount as text are shown as sent; a time in seconds is one of 1970', () => {
  const { values, lines } = valuesOf(answers, {
    membership: answerOf(200, { ...user, date_joined: '2024-03-01T01:00:00' }),
    deposit: answerOf(200, { ...executed, amountInUsd: '250.50', executedAt: 1705314600 }),
  });
  assert.deepEqual(values, ['2024-03-01T01:00:00Z', 250.5, 1705314600]);
  for (const shown of [
    /the server sent: {2}"2024-03-01T01:00:00"\n {2}in the fixture: {3}2024-03-01T01:00:00Z$/m,
    /the server sent: {2}"250\.50"\n {2}in the fixture: {3}250\.5$/m,
    /the server sent: {2}\d+\n {2}in the fixture: {3}\d+, that is 1970-/,
  ])
    assert.match(lines, shown);
});

test('a deposit without its user is left out', () => {
  const { values, lines } = valuesOf(answers, { ...good, membership: answerOf(401, {}) });
  assert.deepEqual(values, [undefined, undefined, undefined]);
  assert.equal(lines.match(/left out/g)?.length, 3);
});

describe('values as servers send them', () => {
  for (const [read, value, expected] of [
    [dateIn, '2024-03-01T01:00:00+01:00', '2024-03-01T00:00:00Z'],
    [dateIn, '2024-03-01T01:00:00', '2024-03-01T01:00:00Z'],
    [dateIn, '2024-03-01 01:00:00.25', '2024-03-01T01:00:00.25Z'],
    [dateIn, 1709251199999, '2024-02-29T23:59:59.999Z'],
    [dateIn, 'yesterday', undefined],
    [dateIn, null, undefined],
    [amountIn, '250.50', 250.5],
    [amountIn, '1,000', undefined],
    [amountIn, -1, undefined],
    [amountIn, true, undefined],
    [timeIn, '1705314600000', 1705314600000],
    [timeIn, '2024-01-15T10:30:00Z', 1705314600000],
    [timeIn, 1.5, undefined],
    [timeIn, 'soon', undefined],
  ] as const)
    test(`${read.name}: ${JSON.stringify(value)}`, () => assert.equal(read(value), expected));
  for (const [given, expected] of [
    ['60/1m', [60, 60]],
    ['250 in 90s', [250, 90]],
    ['5 per h', [5, 3600]],
    ['0/1m', undefined],
    ['60/0s', undefined],
    ['60', undefined],
  ] as const)
    test(`a limit: ${given}`, () => {
      const found = limitIn(given);
      assert.deepEqual(found && [found.count, found.windowSeconds], expected);
    });
});
