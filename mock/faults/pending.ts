import { answerWith, editHeaders, editResponse, type Change, type When } from './change.ts';
import type { Exchange } from '../exchange.ts';
import type { Execution } from '../world.ts';
import { failing, failingBy, setJson, type Faults } from './table.ts';

const isIn =
  (state: 'pending' | 'failed') =>
  ({ finding }: Exchange) =>
    finding.kind === 'notYet' && finding.deposit.state === state;
const pending: When = { where: isIn('pending') };
const failed: When = { where: isIn('failed') };
const encodedPending: When = {
  where: (exchange) => isIn('pending')(exchange) && exchange.request.target.includes('%'),
};

/** Changes how a pending deposit becomes EXECUTED. */
const becoming =
  (edit: (execution: Execution) => Execution | undefined): Change =>
  (behaviour) => ({
    ...behaviour,
    becomes: (world, one, now) => {
      const execution = behaviour.becomes(world, one, now);
      return execution && edit(execution);
    },
  });

/** Wrong answers about deposits that are not EXECUTED, or not yet (pending; States and transitions). */
export const pendingFaults: Faults = {
  ...failing(['pending/deposit-check/pending'], {
    'pending-with-200': [
      'A pending deposit is answered with 200 and the status PENDING.',
      answerWith(pending, 200, { status: 'PENDING', amountInUsd: 1, executedAt: 0 }),
    ],
    'pending-as-executed': [
      'A pending deposit is answered as if it were EXECUTED.',
      answerWith(pending, 200, { status: 'EXECUTED', amountInUsd: 1, executedAt: 1_700_000_000_000 }),
    ],
    'percent-encoded-pending-visible': [
      'A pending deposit is answered as if it were EXECUTED, if its id is percent-encoded.',
      answerWith(encodedPending, 200, {
        status: 'EXECUTED',
        amountInUsd: 1,
        executedAt: 1_700_000_000_000,
      }),
    ],
    'pending-with-202': ['A pending deposit is answered with 202.', answerWith(pending, 202)],
    'pending-has-own-message': [
      'A pending deposit has a message of its own.',
      setJson(pending, { error: 'Deposit not executed yet' }),
    ],
  }),
  ...failing(['pending/deposit-check/failed'], {
    'failed-with-200': [
      'A failed deposit is answered with 200 and the status FAILED.',
      answerWith(failed, 200, { status: 'FAILED', amountInUsd: 1, executedAt: 0 }),
    ],
    'failed-with-410': ['A failed deposit is answered with 410.', answerWith(failed, 410)],
    'failed-has-own-message': [
      'A failed deposit has a message of its own.',
      setJson(failed, { error: 'Deposit failed' }),
    ],
  }),
  ...failing(['pending/deposit-check/indistinguishable'], {
    'pending-told-by-header': [
      'Answers about pending deposits say when to ask again.',
      editHeaders(pending, () => ({ 'Retry-After': '5' })),
    ],
    'pending-told-by-space': [
      'Answers about pending deposits end in a newline.',
      editResponse(pending, ({ body }) => ({ body: `${body.toString()}\n` })),
    ],
    'failed-told-by-header': [
      'A header field gives the state of failed deposits.',
      editHeaders(failed, () => ({ 'X-Deposit-State': 'failed' })),
    ],
  }),
  ...failingBy(['pending/deposit-check/becomes-executed'], becoming, {
    'never-becomes-executed': ['A deposit that was seen pending stays pending for ever.', () => undefined],
    'becomes-executed-without-amount': [
      'A deposit that became EXECUTED has the amount 0.',
      (execution) => ({ ...execution, amountInUsd: 0 }),
    ],
    'becomes-executed-in-1970': [
      'A deposit that became EXECUTED has the time 0.',
      (execution) => ({ ...execution, executedAt: 0 }),
    ],
  }),
};
