import { dueAt } from './lookup.ts';
import { lookIn } from './overlay.ts';
import type { Deposit, World } from './world.ts';

/** A deposit as it is at a time, with what is to become of it. */
export interface DepositNow {
  readonly reference_id: string;
  readonly user_id: string;
  readonly partner: string | null;
  readonly state: Deposit['state'];
  readonly amountInUsd?: number;
  readonly executedAt?: number;
  /** Until it is executed by itself, in ms. */
  readonly dueInMs?: number;
  /** Polls that will find it pending before one finds it executed. */
  readonly pollsLeft?: number;
}

/** The deposit of a reference_id, in any letter case. */
export function foundDeposit(world: World, id: string): Deposit | undefined {
  return lookIn(world.deposits, id.toLowerCase());
}

/** A deposit at a time in Unix ms. Looking is no poll. */
export function depositNow(world: World, deposit: Deposit, now: number): DepositNow {
  const { reference_id, user_id, partner, state } = deposit;
  const shown = { reference_id, user_id, partner, state };
  if (deposit.state === 'EXECUTED') {
    const { amountInUsd, executedAt } = deposit;
    return { ...shown, amountInUsd, executedAt };
  }
  if (deposit.state === 'failed' || deposit.becomes === undefined) return shown;
  const { amountInUsd, executedAt, afterPolls } = deposit.becomes;
  const id = reference_id.toLowerCase();
  const due = dueAt(world, deposit);
  const at = due === undefined || now < due ? world.foundAt.get(id) : due;
  if (at !== undefined)
    return { ...shown, state: 'EXECUTED', amountInUsd, executedAt: executedAt ?? Math.trunc(at) };
  return afterPolls === undefined
    ? { ...shown, ...(due !== undefined && { dueInMs: due - now }) }
    : { ...shown, pollsLeft: Math.max(0, afterPolls - (world.polls.get(id) ?? 0)) };
}
