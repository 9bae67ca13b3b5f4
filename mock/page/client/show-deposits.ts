import type { DepositNow } from './answers.ts';
import { button, element, type Content } from './element.ts';
import { mockNow, mockTimeAfter, type Received } from './model.ts';
import { state, table } from './table.ts';
import { amount, dateAndTime, duration, plural } from './words.ts';

/** The deposits, and what can be done to the pending ones. */
export function depositTable(deposits: readonly DepositNow[], answer: Received<object>): HTMLElement {
  return table(
    'deposits-heading',
    [
      { head: 'reference_id', kind: 'id' },
      { head: 'State', kind: 'text' },
      { head: 'USD, executed at', kind: 'number' },
      { head: 'Actions', kind: 'actions' },
    ],
    deposits.map((deposit) => ({ key: deposit.reference_id, cells: cellsOf(deposit, answer) })),
  );
}

function cellsOf(deposit: DepositNow, answer: Received<object>): readonly (readonly Content[])[] {
  const { reference_id: id, user_id, partner, amountInUsd, executedAt } = deposit;
  const about = `deposit ${id}`;
  return [
    [id, element('small', {}, `${partner ?? 'no IB'}, ${user_id}`)],
    [state(deposit.state)],
    [
      amountInUsd === undefined ? undefined : amount(amountInUsd),
      element('small', {}, executedAt === undefined ? planOf(deposit, answer) : dateAndTime(executedAt)),
    ],
    deposit.state === 'pending'
      ? [button('execute', id, 'Execute', about), button('fail', id, 'Fail', about)]
      : [],
  ];
}

function planOf({ dueInMs, pollsLeft }: DepositNow, answer: Received<object>): string | undefined {
  if (dueInMs !== undefined) return `in ${duration(mockTimeAfter(dueInMs, answer) - mockNow())}`;
  if (pollsLeft === undefined) return undefined;
  return pollsLeft === 0 ? 'with the next poll' : `after ${plural(pollsLeft, 'poll')}`;
}
