import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownFrom } from '../known.ts';
import { depositCheck, userStatus, type Request } from '../request.ts';
import { failed } from '../rules/verdict.ts';
import { answerOf } from '../testing/samples.ts';
import { causeOf } from './causes.ts';

/** Two days around a new year, whose weeks belong to the other one, and one in summer. */
const dates = ['2024-12-30T13:05:06.500Z', '2021-01-02T00:30:00.250Z', '2023-06-07T15:00:00.000Z'];
const amounts = [250.5, 0.285, 1234.56];
const times = [1_705_314_600_123, 1_709_251_199_999, 1_705_341_600_000];

const idOf = (nth: number) => `abcdef00-0000-4000-8000-00000000000${nth}`;
const key = { key: 'key-of-ours', partner: 'own', state: 'active' } as const;
const users = dates.map((date_joined, nth) => ({ user_id: idOf(nth), partner: 'own', date_joined }));
const deposits = users.map(({ user_id }, nth) => ({
  reference_id: idOf(nth),
  user_id,
  state: 'EXECUTED' as const,
  amountInUsd: amounts[nth]!,
  executedAt: times[nth]!,
}));
const known = knownFrom({ apiKeys: [key], users, deposits }, 'own');

type Values = readonly (number | string)[];

/** What is said of answers with these values of a field. */
function causeBy(field: string, values: Values): string | undefined {
  const isUser = field === 'date_joined';
  const asked = (nth: number): Request => {
    const changes = { credential: { as: 'key', key: known.callerKeys[0]! } } as const;
    return isUser ? userStatus(idOf(nth), changes) : depositCheck(idOf(nth), changes);
  };
  const body = (nth: number, value: number | string) =>
    isUser
      ? { is_under_ib: true, [field]: value }
      : { status: 'EXECUTED', amountInUsd: amounts[nth], executedAt: times[nth], [field]: value };
  const log = values.map((value, nth) => ({
    request: asked(nth),
    reply: answerOf(200, JSON.stringify(body(nth, value))),
  }));
  const right: Values = isUser ? dates : field === 'amountInUsd' ? amounts : times;
  const exchange = log[values.findIndex((value, nth) => value !== right[nth])]!;
  const verdict = failed('value', `"${field}": …`, '…');
  assert.ok(verdict.kind === 'failed');
  return causeOf({ kind: 'property' }, { verdict, exchange }, { log, known });
}

const mistakes: readonly (readonly [field: string, values: Values, words: string])[] = [
  ['amountInUsd', [25_050, 28, 123_456], '100 times as much'],
  ['amountInUsd', [2.505, 0.002_85, 12.3456], 'a hundredth'],
  ['amountInUsd', [250, 0, 1234], 'cut to whole dollars'],
  ['amountInUsd', [251, 0, 1235], 'rounded to whole dollars'],
  ['amountInUsd', [250.5, 0.2, 1234.5], 'cut to one decimal'],
  ['amountInUsd', [250.5, 0.3, 1234.6], 'rounded to one decimal'],
  ['amountInUsd', [250.5, 0.28, 1234.56], 'cut to cents'],
  ['amountInUsd', [250.5, 0.284_999_996_423_721_3, 1234.560_058_593_75], '32 bits'],
  ['amountInUsd', ['250.50', '0.28', '1234.56'], 'a text'],
  ['executedAt', [1_705_314_600, 1_709_251_199, 1_705_341_600], 'a thousandth'],
  ['executedAt', [1_705_314_600_123_000, 1_709_251_199_999_000, 1_705_341_600_000_000], '1,000 times'],
  ['executedAt', [1_705_314_600_000, 1_709_251_199_000, 1_705_341_600_000], 'no milliseconds'],
  ['executedAt', [1_705_321_800_123, 1_709_258_399_999, 1_705_348_800_000], '2 h late'],
  ['date_joined', ['2025-12-30T13:05:06.500Z', '2020-01-02T00:30:00.250Z', dates[2]!], 'that of the week'],
  [
    'date_joined',
    ['2024-12-30T01:05:06.500Z', '2021-01-02T12:30:00.250Z', '2023-06-07T03:00:00Z'],
    '1 to 12',
  ],
  ['date_joined', ['2024-12-30T13:05:06Z', '2021-01-02T00:30:00Z', dates[2]!], 'no fraction'],
  ['date_joined', ['2024-12-30', '2021-01-02', '2023-06-07'], 'no time of day'],
  ['date_joined', [1_735_563_906, 1_609_547_400, 1_686_150_000], 'Unix seconds'],
  [
    'date_joined',
    ['2024-12-30T07:35:06.500Z', '2021-01-01T19:00:00.250Z', '2023-06-07T09:30:00Z'],
    '5.5 h early',
  ],
];

test('a mistake is named that explains all wrong values', () => {
  for (const [field, values, words] of mistakes) {
    const cause = causeBy(field, values);
    assert.ok(cause?.startsWith(`${field}: `) && cause.includes(words), `${values.join(', ')}: ${cause}`);
  }
});

test('none is named if another value is right that it would change, or wrong in another way', () => {
  for (const [field, values] of mistakes) {
    // The last value that the mistake changes.
    const right: Values = { amountInUsd: amounts, executedAt: times }[field] ?? dates;
    const at = values.findLastIndex((value, nth) => value !== right[nth]);
    for (const other of [right[at]!, field === 'date_joined' ? '2001-02-03T04:05:06Z' : 7]) {
      const changed = values.with(at, other);
      if (changed.some((value, nth) => value !== right[nth]))
        assert.equal(causeBy(field, changed), undefined, changed.join(', '));
    }
  }
});
