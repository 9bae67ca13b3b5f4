import { answerWith, editHeaders, editPayload, editResponse, type Change, type When } from '../change.ts';
import type { Execution } from '../exchange.ts';
import { deposit, rowsOf, type Faults } from './rows.ts';

const inState = (state: 'pending' | 'failed'): When => ({
  kinds: ['notYet'],
  where: ({ finding }) => finding.kind === 'notYet' && finding.deposit.state === state,
});
const pending = inState('pending');
const failed = inState('failed');
const rows = (...names: readonly string[]) => rowsOf('pending', deposit, ...names);

/** Changes how a pending deposit comes out of its transition. */
const becoming =
  (edit: (execution: Execution) => Execution | undefined): Change =>
  (behaviour) => ({
    ...behaviour,
    becomes: (world, one, now) => {
      const execution = behaviour.becomes(world, one, now);
      return execution && edit(execution);
    },
  });

const visible: Faults = {
  'pending-with-200': {
    what: 'A pending deposit is answered with 200 and the status PENDING.',
    fails: rows('pending'),
    change: answerWith(pending, 200, { status: 'PENDING', amountInUsd: 1, executedAt: 0 }),
  },
  'pending-as-executed': {
    what: 'A pending deposit is answered as if it were EXECUTED.',
    fails: rows('pending'),
    change: answerWith(pending, 200, { status: 'EXECUTED', amountInUsd: 1, executedAt: 1_700_000_000_000 }),
  },
  'pending-with-202': {
    what: 'A pending deposit is answered with 202.',
    fails: rows('pending'),
    change: answerWith(pending, 202),
  },
  'pending-has-own-message': {
    what: 'A pending deposit has a message of its own.',
    fails: rows('pending'),
    change: editPayload(pending, () => ({ error: 'Deposit not executed yet' })),
  },
  'failed-with-200': {
    what: 'A failed deposit is answered with 200 and the status FAILED.',
    fails: rows('failed'),
    change: answerWith(failed, 200, { status: 'FAILED', amountInUsd: 1, executedAt: 0 }),
  },
  'failed-with-410': {
    what: 'A failed deposit is answered with 410.',
    fails: rows('failed'),
    change: answerWith(failed, 410),
  },
  'failed-has-own-message': {
    what: 'A failed deposit has a message of its own.',
    fails: rows('failed'),
    change: editPayload(failed, () => ({ error: 'Deposit failed' })),
  },
};

const tellingApart: Faults = {
  'pending-told-by-header': {
    what: 'Answers about pending deposits say when to ask again.',
    fails: rows('indistinguishable'),
    change: editHeaders(pending, () => ({ 'Retry-After': '5' })),
  },
  'pending-told-by-space': {
    what: 'Answers about pending deposits end in a newline.',
    fails: rows('indistinguishable'),
    change: editResponse(pending, ({ body }) => ({ body: `${body.toString()}\n` })),
  },
  'failed-told-by-header': {
    what: 'A header field gives the state of failed deposits.',
    fails: rows('indistinguishable'),
    change: editHeaders(failed, () => ({ 'X-Deposit-State': 'failed' })),
  },
};

const transitions: Faults = {
  'never-becomes-executed': {
    what: 'A deposit that was seen pending stays pending for ever.',
    fails: rows('becomes-executed'),
    change: becoming(() => undefined),
  },
  'becomes-executed-without-amount': {
    what: 'A deposit that became EXECUTED has the amount 0.',
    fails: rows('becomes-executed'),
    change: becoming((execution) => ({ ...execution, amountInUsd: 0 })),
  },
  'becomes-executed-in-1970': {
    what: 'A deposit that became EXECUTED has the time 0.',
    fails: rows('becomes-executed'),
    change: becoming((execution) => ({ ...execution, executedAt: 0 })),
  },
};

/** Deposits that are not EXECUTED, or not yet (pending; States and transitions). */
export const pendingFaults: Faults = { ...visible, ...tellingApart, ...transitions };
