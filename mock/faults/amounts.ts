import { editPayload, type Change } from '../change.ts';
import { becomesExecuted, deposit, rowsOf, type Faults } from './rows.ts';

const wrong = [...rowsOf('valid', deposit, 'amount'), ...becomesExecuted];

const amounts = (rewrite: (amount: number) => unknown): Change =>
  editPayload({ kinds: ['executed'] }, (payload) => ({
    ...payload,
    amountInUsd: rewrite(Number(payload['amountInUsd'])),
  }));

/** Wrong values of amountInUsd (executed deposit result). */
export const amountFaults: Faults = {
  'amount-in-cents': {
    what: 'amountInUsd is in cents.',
    fails: wrong,
    change: amounts((amount) => Math.round(amount * 100)),
  },
  'amount-of-32-bits': {
    what: 'amountInUsd has been through a 32-bit float.',
    fails: wrong,
    change: amounts(Math.fround),
  },
  'amount-rounded': {
    what: 'amountInUsd is rounded to whole dollars.',
    fails: wrong,
    change: amounts(Math.round),
  },
  'amount-rounded-to-dimes': {
    what: 'amountInUsd is rounded to one decimal place.',
    fails: wrong,
    change: amounts((amount) => Math.round(amount * 10) / 10),
  },
  'amount-one-cent-more': {
    what: 'amountInUsd is one cent too high.',
    fails: wrong,
    change: amounts((amount) => Math.round(amount * 100 + 1) / 100),
  },
  'amount-negative': {
    what: 'amountInUsd is negative.',
    fails: wrong,
    change: amounts((amount) => -amount),
  },
  'amount-as-text': {
    what: 'amountInUsd is a text.',
    fails: wrong,
    change: amounts(String),
  },
  'amount-capped': {
    what: 'amountInUsd is at most 9999999.99, the most that a column of nine digits holds.',
    fails: rowsOf('valid', deposit, 'amount'),
    change: amounts((amount) => Math.min(amount, 9_999_999.99)),
  },
};
