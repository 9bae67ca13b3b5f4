import { answerWith, editPayload, fromThird, onlyIf, setFields, type Change, type Edit } from './edits.ts';
import type { Exchange } from '../exchange.ts';
import { partnerOf, type Deposit } from '../world.ts';
import { answers, define, executedIds, failing, firstPartner, noUserData, type Faults } from './define.ts';

const kinds = ['executed'] as const;
const executed = answers('executed', 'An EXECUTED deposit', { kinds });
const notFound = answerWith(404, { error: 'Deposit not found' });
const rows = (...names: readonly string[]) => names.map((name) => `valid/deposit-check/${name}`);
/** Also checks the answer about an EXECUTED deposit. */
const becomesExecuted = 'pending/deposit-check/becomes-executed';

/** Whether an answer shows the last EXECUTED deposit of its partner, if that is the first partner or another one. */
const isLastExecuted =
  (isFirst: boolean) =>
  ({ world, finding, call }: Exchange) => {
    const partner = call?.caller?.partner;
    const isTheirs = (deposit: Deposit) =>
      deposit.state === 'EXECUTED' && partnerOf(world, deposit) === partner;
    return (
      finding.kind === 'executed' &&
      (partner === firstPartner(world)) === isFirst &&
      finding.deposit === [...world.deposits.base.values()].findLast(isTheirs)
    );
  };
const last = {
  id: 'last',
  what: "The last EXECUTED deposit of the first partner's IB, and no other,",
  change: (edit: Edit) => onlyIf(isLastExecuted(true), edit)(),
};
const lastOfOthers = {
  id: 'last-of-others',
  what: 'The last EXECUTED deposit of each other partner, and no other,',
  change: (edit: Edit) => onlyIf(isLastExecuted(false), edit)(),
};

const numbers = (id: string, field: string) => ({
  id,
  what: field,
  change: (rewrite: (number: number) => unknown): Change =>
    editPayload((payload) => ({ ...payload, [field]: rewrite(Number(payload[field])) }))({ kinds }),
});
const amount = numbers('amount', 'amountInUsd');
const time = numbers('time', 'executedAt');
const rename = (from: string, to: string) =>
  editPayload(({ [from]: value, ...others }) => ({ ...others, [to]: value }))({ kinds });

/** Wrong answers about EXECUTED deposits of the caller's IB (valid/deposit-check). */
export const validDepositFaults: Faults = {
  ...define(executed, [...executedIds, becomesExecuted], {
    'in-lower-case: has the status "executed"': setFields({ status: 'executed' }),
    'by-another-name: has the status "COMPLETED"': setFields({ status: 'COMPLETED' }),
    'with-202: gets 202': answerWith(202),
    'not-found: is not found': notFound,
  }),
  ...define(last, rows('executed'), { 'executed-not-found: is not found': notFound }),
  ...failing(rows('repeatable'), {
    'third-check-not-found: An EXECUTED deposit is not found from the third identical lookup on': fromThird(
      notFound,
    )({ kinds }),
    'third-404-has-own-message: An unknown deposit gets another message from the third identical lookup on':
      fromThird(answerWith(404, { error: 'Not found' }))({ endpoint: 'deposit-check', kinds: ['unknown'] }),
  }),
  ...failing(rows('shape'), {
    'time-left-out: executedAt is left out': editPayload(({ executedAt: _, ...others }) => others)({ kinds }),
    'amount-in-snake-case: amountInUsd is called amount_in_usd': rename('amountInUsd', 'amount_in_usd'),
    'time-in-snake-case: executedAt is called executed_at': rename('executedAt', 'executed_at'),
  }),
  ...define(executed, [...executedIds, becomesExecuted, ...rows('shape')], {
    'wrapped: gets the result in a field `deposit`': editPayload((deposit) => ({ deposit })),
  }),
  ...define(executed, rows('closed'), {
    'with-fourth-field: has a fourth field, without user data': setFields({ currency: 'USD' }),
  }),
  ...define(executed, [...rows('shape', 'closed'), noUserData], {
    'with-user: names its user': editPayload((payload, { finding }) => ({
      ...payload,
      user_id: finding.kind === 'executed' && finding.deposit.user_id,
    })),
  }),
  ...define(amount, [...rows('amount'), becomesExecuted], {
    'in-cents: is in cents': (dollars) => Math.round(dollars * 100),
    'of-32-bits: is rounded to a 32-bit float': Math.fround,
    'rounded: is rounded to whole dollars': Math.round,
    'rounded-to-dimes: is rounded to one decimal place': (dollars) => Math.round(dollars * 10) / 10,
    'one-cent-more: is one cent too high': (dollars) => Math.round(dollars * 100 + 1) / 100,
    'negative: is negative': (dollars) => -dollars,
    'as-text: is a text': String,
  }),
  ...define(amount, rows('amount'), {
    'capped: is at most 9,999,999.99 (nine digits)': (dollars) => Math.min(dollars, 9_999_999.99),
  }),
  ...define(last, rows('amount'), {
    'amount-wrong: has a wrong amount': setFields({ amountInUsd: 999_999.99 }),
  }),
  ...define(lastOfOthers, rows('amount'), {
    'amount-wrong: has a wrong amount for that partner': setFields({ amountInUsd: 999_999.99 }),
  }),
  ...define(lastOfOthers, ['foreign-ib/deposit-check/follows-key'], {
    'not-found: is unknown to that partner': notFound,
  }),
  ...define(time, [...rows('executed-at'), becomesExecuted], {
    'in-seconds: is in seconds': (ms) => Math.trunc(ms / 1000),
    'in-microseconds: is in microseconds': (ms) => ms * 1000,
    'rounded-to-seconds: has no milliseconds': (ms) => ms - (ms % 1000),
    'one-ms-late: is one millisecond late': (ms) => ms + 1,
    'one-hour-late: is local time (one hour east) taken for UTC': (ms) => ms + 3_600_000,
    'of-32-bits: overflows a 32-bit integer': (ms) => ms | 0,
    'as-iso-text: is an ISO 8601 text': (ms) => new Date(ms).toISOString(),
    'as-digits: is a number as text': String,
  }),
  ...define(last, rows('executed-at'), {
    'time-wrong: has a wrong time': setFields({ executedAt: 1.6e12 }),
  }),
};
