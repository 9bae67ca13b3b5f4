import { answerWith, editPayload, fromThird, type Change } from './change.ts';
import type { Exchange } from '../exchange.ts';
import { partnerOf } from '../world.ts';
import {
  executedRows,
  failing,
  failingBy,
  firstPartner,
  noUserData,
  setFields,
  type Faults,
} from './table.ts';

const executed = { kinds: ['executed'] } as const;
const unknown = { endpoint: 'deposit-check', kinds: ['unknown'] } as const;
const notFound = { error: 'Deposit not found' };
const rows = (...names: readonly string[]) => names.map((name) => `valid/deposit-check/${name}`);
/** A deposit that becomes EXECUTED is shown like those that always were. */
const becomesExecuted = 'pending/deposit-check/becomes-executed';

const isLastExecuted = ({ world, finding }: Exchange) =>
  finding.kind === 'executed' &&
  finding.deposit ===
    [...world.deposits.base.values()].findLast(
      (deposit) => deposit.state === 'EXECUTED' && partnerOf(world, deposit) === firstPartner(world),
    );

const rename = (from: string, to: string): Change =>
  editPayload(executed, ({ [from]: value, ...others }) => ({ ...others, [to]: value }));
const amounts = (rewrite: (amount: number) => unknown): Change =>
  editPayload(executed, (payload) => ({ ...payload, amountInUsd: rewrite(Number(payload['amountInUsd'])) }));
const times = (rewrite: (time: number) => unknown): Change =>
  editPayload(executed, (payload) => ({ ...payload, executedAt: rewrite(Number(payload['executedAt'])) }));

/** Wrong answers about EXECUTED deposits of the caller's IB (valid/deposit-check). */
export const validDepositFaults: Faults = {
  ...failing([...executedRows, becomesExecuted], {
    'executed-in-lower-case': ['status is "executed".', setFields(executed, { status: 'executed' })],
    'executed-by-another-name': ['status is "COMPLETED".', setFields(executed, { status: 'COMPLETED' })],
    'executed-with-202': ['An EXECUTED deposit is answered with 202.', answerWith(executed, 202)],
    'executed-not-found': ['An EXECUTED deposit is not found.', answerWith(executed, 404, notFound)],
  }),
  ...failing(rows('executed'), {
    'last-executed-not-found': [
      "The last EXECUTED deposit of the first partner's IB, and no other, is not found.",
      answerWith({ where: isLastExecuted }, 404, notFound),
    ],
  }),
  ...failing(rows('repeatable'), {
    'third-check-not-found': [
      'An EXECUTED deposit is not found from the third lookup of the same spelling with the same key on.',
      (behaviour) => answerWith({ ...executed, where: fromThird() }, 404, notFound)(behaviour),
    ],
  }),
  ...failing(rows('repeatable'), {
    'third-404-has-own-message': [
      'An unknown deposit has another message from the third lookup of the same spelling with the same key on.',
      (behaviour) => answerWith({ ...unknown, where: fromThird() }, 404, { error: 'Not found' })(behaviour),
    ],
  }),
  ...failing(rows('shape'), {
    'time-left-out': [
      'executedAt is left out.',
      editPayload(executed, ({ executedAt: _, ...others }) => others),
    ],
    'amount-in-snake-case': ['amountInUsd is called amount_in_usd.', rename('amountInUsd', 'amount_in_usd')],
    'time-in-snake-case': ['executedAt is called executed_at.', rename('executedAt', 'executed_at')],
  }),
  ...failing([...executedRows, becomesExecuted, ...rows('shape')], {
    'executed-wrapped': [
      'An executed deposit result is wrapped in a field `deposit`.',
      editPayload(executed, (result) => ({ deposit: result })),
    ],
  }),
  ...failing(rows('closed'), {
    'executed-with-fourth-field': [
      'An executed deposit result has a fourth field, without user data.',
      setFields(executed, { currency: 'USD' }),
    ],
  }),
  ...failing([...rows('shape', 'closed'), noUserData], {
    'executed-with-user': [
      'An executed deposit result names its user.',
      editPayload(executed, (payload, { finding }) => ({
        ...payload,
        user_id: finding.kind === 'executed' && finding.deposit.user_id,
      })),
    ],
  }),
  ...failingBy([...rows('amount'), becomesExecuted], amounts, {
    'amount-in-cents': ['amountInUsd is in cents.', (amount) => Math.round(amount * 100)],
    'amount-of-32-bits': ['amountInUsd has been through a 32-bit float.', Math.fround],
    'amount-rounded': ['amountInUsd is rounded to whole dollars.', Math.round],
    'amount-rounded-to-dimes': [
      'amountInUsd is rounded to one decimal place.',
      (amount) => Math.round(amount * 10) / 10,
    ],
    'amount-one-cent-more': [
      'amountInUsd is one cent too high.',
      (amount) => Math.round(amount * 100 + 1) / 100,
    ],
    'amount-negative': ['amountInUsd is negative.', (amount) => -amount],
    'amount-as-text': ['amountInUsd is a text.', String],
  }),
  ...failingBy(rows('amount'), amounts, {
    'amount-capped': [
      'amountInUsd is at most 9999999.99, the most that a column of nine digits holds.',
      (amount) => Math.min(amount, 9_999_999.99),
    ],
  }),
  ...failing(rows('amount'), {
    'last-amount-wrong': [
      "The amount of the last EXECUTED deposit of the first partner's IB, and of no other, is wrong.",
      setFields({ where: isLastExecuted }, { amountInUsd: 999_999.99 }),
    ],
  }),
  ...failingBy([...rows('executed-at'), becomesExecuted], times, {
    'time-in-seconds': ['executedAt is in seconds.', (time) => Math.trunc(time / 1000)],
    'time-in-microseconds': ['executedAt is in microseconds.', (time) => time * 1000],
    'time-rounded-to-seconds': ['executedAt has lost its milliseconds.', (time) => time - (time % 1000)],
    'time-one-ms-late': ['executedAt is one millisecond late.', (time) => time + 1],
    'time-one-hour-late': [
      'executedAt is local time (one hour east) taken for UTC.',
      (time) => time + 3_600_000,
    ],
    'time-of-32-bits': ['executedAt has overflowed a 32-bit integer.', (time) => time | 0],
    'time-as-iso-text': ['executedAt is an ISO 8601 text.', (time) => new Date(time).toISOString()],
    'time-as-digits': ['executedAt is a number as text.', String],
  }),
  ...failing(rows('executed-at'), {
    'last-time-wrong': [
      "The time of the last EXECUTED deposit of the first partner's IB, and of no other, is wrong.",
      setFields({ where: isLastExecuted }, { executedAt: 1_600_000_000_000 }),
    ],
  }),
};
