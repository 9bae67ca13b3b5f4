import { answerWith, editBody, onlyIf, setHeader, setJson, type Difference } from './edits.ts';
import type { Exchange } from '../exchange.ts';
import type { Execution } from '../world.ts';
import { answers, define, failing, hasState, type Faults } from './define.ts';

const pending = answers('pending', 'A pending deposit', { where: hasState('pending') });
const failed = answers('failed', 'A failed deposit', { where: hasState('failed') });
const isEncodedPending = (exchange: Exchange) =>
  hasState('pending')(exchange) && exchange.request.target.includes('%');

const becoming =
  (edit: (execution: Execution) => Execution | undefined): Difference =>
  ({ executionOf }) => ({
    executionOf: (world, one, now) => {
      const execution = executionOf(world, one, now);
      return execution && edit(execution);
    },
  });

const executed = { id: 'becomes-executed', what: 'A deposit that became EXECUTED', change: becoming };

const atOnce: Difference = ({ executionOf }) => ({
  executionOf: (world, deposit, now) =>
    executionOf(world, deposit, now) ??
    (deposit.state === 'pending' && deposit.becomes ? { amountInUsd: 1, executedAt: now } : undefined),
});

const shown = (status: string, executedAt = 0) => answerWith(200, { status, amountInUsd: 1, executedAt });
const shownExecuted = shown('EXECUTED', 1_700_000_000_000);

/** Wrong answers about pending and failed deposits (pending; States and transitions). */
export const pendingFaults: Faults = {
  ...define(pending, ['pending/deposit-check/pending'], {
    'with-200: gets 200 and the status PENDING': shown('PENDING'),
    'as-executed: is shown as EXECUTED': shownExecuted,
    'with-202: gets 202': answerWith(202),
    'has-own-message: gets another message': setJson({ error: 'Deposit not executed yet' }),
  }),
  ...define(answers('', 'A pending deposit', {}), ['pending/deposit-check/pending'], {
    'percent-encoded-pending-visible: is shown as EXECUTED, if its id is percent-encoded': onlyIf(
      isEncodedPending,
      shownExecuted,
    ),
  }),
  ...define(failed, ['pending/deposit-check/failed'], {
    'with-200: gets 200 and the status FAILED': shown('FAILED'),
    'with-410: gets 410': answerWith(410),
    'has-own-message: gets another message': setJson({ error: 'Deposit failed' }),
  }),
  ...define(pending, ['pending/deposit-check/indistinguishable'], {
    'told-by-header: gets Retry-After': setHeader('Retry-After', '5'),
    'told-by-space: gets a body that ends in a newline': editBody((body) => `${body}\n`),
  }),
  ...define(failed, ['pending/deposit-check/indistinguishable'], {
    'told-by-header: names its state in a header field': setHeader('X-Deposit-State', 'failed'),
  }),
  ...define({ change: becoming }, ['pending/deposit-check/becomes-executed'], {
    'never-becomes-executed: A deposit that was seen pending stays pending for ever': () => undefined,
  }),
  ...failing(['pending/deposit-check/becomes-executed'], {
    'executed-at-once: A deposit that will be EXECUTED is shown as EXECUTED from the first request on':
      atOnce,
  }),
  ...define(executed, ['pending/deposit-check/becomes-executed'], {
    'without-amount: has the amount 0': (execution) => ({ ...execution, amountInUsd: 0 }),
    'in-1970: has the time 0': (execution) => ({ ...execution, executedAt: 0 }),
  }),
};
