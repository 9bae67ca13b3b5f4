import { editPayload, type Change } from '../change.ts';
import { deposit, rowsOf, type Faults } from './rows.ts';

const rows = (...names: readonly string[]) => rowsOf('valid', deposit, ...names);

const amounts = (rewrite: (amount: number) => unknown): Change =>
  editPayload({ kinds: ['executed'] }, (payload) => ({
    ...payload,
    amountInUsd: rewrite(Number(payload['amountInUsd'])),
  }));

/** Wrong values of amountInUsd (executed deposit result). */
export const amountFaults: Faults = {
  'amount-in-cents': {
    what: 'amountInUsd is in cents.',
    fails: rows('amount'),
    change: amounts((amount) => Math.round(amount * 100)),
  },
  'amount-of-32-bits': {
    what: 'amountInUsd has been through a 32-bit float.',
    fails: rows('amount'),
    change: amounts(Math.fround),
  },
  'amount-rounded': {
    what: 'amountInUsd is rounded to whole dollars.',
    fails: rows('amount'),
    change: amounts(Math.round),
  },
  'amount-rounded-to-dimes': {
    what: 'amountInUsd is rounded to one decimal place.',
    fails: rows('amount'),
    change: amounts((amount) => Math.round(amount * 10) / 10),
  },
  'amount-one-cent-more': {
    what: 'amountInUsd is one cent too high.',
    fails: rows('amount'),
    change: amounts((amount) => Math.round(amount * 100 + 1) / 100),
  },
  'amount-negative': {
    what: 'amountInUsd is negative.',
    fails: rows('amount'),
    change: amounts((amount) => -amount),
  },
  'amount-as-text': {
    what: 'amountInUsd is a text.',
    fails: rows('amount'),
    change: amounts(String),
  },
};
