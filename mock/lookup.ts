import type { Endpoint } from '../schemas/endpoints.ts';
import type { FixtureDeposit } from '../schemas/generated/types.ts';
import type { Behaviour } from './behaviour.ts';
import type { Call, DepositFinding, Execution, UserFinding } from './exchange.ts';
import { lookIn } from './overlay.ts';
import type { Deposit, World } from './world.ts';

type LookUp<Found> = (behaviour: Behaviour, world: World, call: Call, id: string, now: number) => Found;

/** Finds a user, and whether it belongs to the caller's IB (Endpoints, user-status). */
const lookUpUser: LookUp<UserFinding> = (behaviour, world, call, id) => {
  const user = lookIn(world.users, id);
  if (user === undefined) return { kind: 'unknown' };
  return behaviour.owns(call, user.partner) ? { kind: 'member', user } : { kind: 'foreign', user };
};

/** Finds a deposit, and whether the caller may see it (Endpoints, deposit-check; States). */
const lookUpDeposit: LookUp<DepositFinding> = (behaviour, world, call, id, now) => {
  const deposit = lookIn(world.deposits, id);
  if (deposit === undefined) return { kind: 'unknown' };
  if (!behaviour.owns(call, deposit.partner)) return { kind: 'foreign', deposit };
  if (deposit.state === 'EXECUTED') {
    const { amountInUsd, executedAt } = deposit;
    return { kind: 'executed', deposit, amountInUsd, executedAt };
  }
  const execution = behaviour.becomes(world, deposit, now);
  return execution === undefined ? { kind: 'notYet', deposit } : { kind: 'executed', deposit, ...execution };
};

/** The lookup of each endpoint; `id` is in the spelling of the world's maps. */
export const lookUps = {
  'user-status': lookUpUser,
  'deposit-check': lookUpDeposit,
} as const satisfies Record<Endpoint, LookUp<UserFinding | DepositFinding>>;

/**
 * Amount and time of a pending deposit if it has become EXECUTED by now (States and transitions).
 * Asking counts as a poll, so only the owning partner's lookups may ask. Without a time in the
 * fixture it was executed when it fell due, or when a poll first found it so.
 */
export function becomeExecuted(world: World, deposit: Deposit, now: number): Execution | undefined {
  if (deposit.state !== 'pending' || deposit.becomes === undefined) return undefined;
  const { becomes } = deposit;
  const id = deposit.reference_id.toLowerCase();
  const due =
    becomes.afterPolls === undefined
      ? dueBy(world, deposit, now)
      : polledAt(world, id, becomes.afterPolls, now);
  if (due === undefined) return undefined;
  return { amountInUsd: becomes.amountInUsd, executedAt: becomes.executedAt ?? Math.trunc(due) };
}

/** Unix ms at which a pending deposit is executed by itself; undefined: never, or by polls. */
export function dueAt(world: World, deposit: FixtureDeposit | Deposit): number | undefined {
  if (deposit.state !== 'pending' || deposit.becomes?.afterSeconds === undefined) return undefined;
  const since = 'since' in deposit ? deposit.since : undefined;
  return (since ?? world.createdAt) + deposit.becomes.afterSeconds * 1000;
}

function dueBy(world: World, deposit: Deposit, now: number): number | undefined {
  const due = dueAt(world, deposit);
  return due === undefined || now < due ? undefined : due;
}

function polledAt(world: World, id: string, afterPolls: number, now: number): number | undefined {
  const polls = world.polls.get(id) ?? 0;
  if (polls < afterPolls) {
    world.polls.set(id, polls + 1);
    return undefined;
  }
  const found = world.foundAt.get(id) ?? now;
  world.foundAt.set(id, found);
  return found;
}
