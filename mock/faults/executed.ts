import { answerWith, editPayload, fromThird, type Change } from '../change.ts';
import { becomesExecuted, deposit, executedRows, noUserData, rowsOf, type Faults } from './rows.ts';

const notFound = { error: 'Deposit not found' };
const executed = { kinds: ['executed'] } as const;
const rows = (...names: readonly string[]) => rowsOf('valid', deposit, ...names);

const rename = (from: string, to: string): Change =>
  editPayload(executed, ({ [from]: value, ...others }) => ({ ...others, [to]: value }));

const wrongStatus: Faults = {
  'executed-in-lower-case': {
    what: 'status is "executed".',
    fails: [...executedRows, ...becomesExecuted],
    change: editPayload(executed, (payload) => ({ ...payload, status: 'executed' })),
  },
  'executed-by-another-name': {
    what: 'status is "COMPLETED".',
    fails: [...executedRows, ...becomesExecuted],
    change: editPayload(executed, (payload) => ({ ...payload, status: 'COMPLETED' })),
  },
  'executed-with-202': {
    what: 'An EXECUTED deposit is answered with 202.',
    fails: [...executedRows, ...becomesExecuted],
    change: answerWith(executed, 202),
  },
  'executed-not-found': {
    what: 'An EXECUTED deposit is not found.',
    fails: [...executedRows, ...becomesExecuted],
    change: answerWith(executed, 404, notFound),
  },
  'third-check-not-found': {
    what: 'An EXECUTED deposit is not found from the third lookup of the same spelling on.',
    fails: rows('repeatable'),
    change: (behaviour) => answerWith({ ...executed, where: fromThird() }, 404, notFound)(behaviour),
  },
};

const wrongShape: Faults = {
  'time-left-out': {
    what: 'executedAt is left out.',
    fails: rows('shape'),
    change: editPayload(executed, ({ executedAt: _, ...others }) => others),
  },
  'amount-in-snake-case': {
    what: 'amountInUsd is called amount_in_usd.',
    fails: rows('shape'),
    change: rename('amountInUsd', 'amount_in_usd'),
  },
  'time-in-snake-case': {
    what: 'executedAt is called executed_at.',
    fails: rows('shape'),
    change: rename('executedAt', 'executed_at'),
  },
  'executed-wrapped': {
    what: 'An executed deposit result is wrapped in a field `deposit`.',
    fails: [...executedRows, ...becomesExecuted, ...rows('shape')],
    change: editPayload(executed, (result) => ({ deposit: result })),
  },
  'executed-with-fourth-field': {
    what: 'An executed deposit result has a fourth field, without user data.',
    fails: rows('closed'),
    change: editPayload(executed, (payload) => ({ ...payload, currency: 'USD' })),
  },
  'executed-with-user': {
    what: 'An executed deposit result names its user.',
    fails: [...rows('shape', 'closed'), noUserData],
    change: editPayload(executed, (payload, { finding }) => ({
      ...payload,
      user_id: finding.kind === 'executed' && finding.deposit.user_id,
    })),
  },
};

/** Wrong answers about EXECUTED deposits of the caller's IB (deposit-check 200). */
export const executedFaults: Faults = { ...wrongStatus, ...wrongShape };
