import { answerWith, editPayload } from '../change.ts';
import type { Exchange } from '../exchange.ts';
import type { Deposit, User } from '../world.ts';
import { deposit, executedRows, memberRows, rowsOf, type Faults } from './rows.ts';

type Owned = { readonly partner: string | null };

/** The last of each partner that passes a test; looked for once in all that a fixture has. */
function lastOf<Item extends Owned>(isMeant: (item: Item) => boolean) {
  const found = new WeakMap<object, Map<string | null, Item>>();
  return (items: { values(): Iterable<Item> }, partner: string | null | undefined): Item | undefined => {
    let last = found.get(items);
    if (last === undefined) {
      last = new Map();
      for (const item of items.values()) if (isMeant(item)) last.set(item.partner, item);
      found.set(items, last);
    }
    return partner === undefined ? undefined : last.get(partner);
  };
}

const lastMember = lastOf<User>(() => true);
const lastExecuted = lastOf<Deposit>(({ state }) => state === 'EXECUTED');

function isLastMember({ world, call, finding }: Exchange): boolean {
  return (
    finding.kind === 'member' && finding.user === lastMember(world.asFixture.users, call?.caller?.partner)
  );
}

function isLastExecuted({ world, call, finding }: Exchange): boolean {
  const last = lastExecuted(world.asFixture.deposits, call?.caller?.partner);
  return finding.kind === 'executed' && finding.deposit.reference_id === last?.reference_id;
}

/** Faults that concern a single user or deposit of a partner: the last one that the fixture has. */
export const lastOneFaults: Faults = {
  'last-member-denied': {
    what: "The last member of the caller's IB, and nobody else, is not found.",
    fails: memberRows,
    change: editPayload({ where: isLastMember }, () => ({ is_under_ib: false, date_joined: null })),
  },
  'last-executed-not-found': {
    what: "The last EXECUTED deposit of the caller's IB, and no other, is not found.",
    fails: executedRows,
    change: answerWith({ where: isLastExecuted }, 404, {
      error: 'Deposit not found',
    }),
  },
  'last-amount-wrong': {
    what: "The amount of the last EXECUTED deposit of the caller's IB, and of no other, is wrong.",
    fails: rowsOf('valid', deposit, 'amount'),
    change: editPayload({ where: isLastExecuted }, (payload) => ({ ...payload, amountInUsd: 999_999.99 })),
  },
  'last-time-wrong': {
    what: "The time of the last EXECUTED deposit of the caller's IB, and of no other, is wrong.",
    fails: rowsOf('valid', deposit, 'executed-at'),
    change: editPayload({ where: isLastExecuted }, (payload) => ({
      ...payload,
      executedAt: 1_600_000_000_000,
    })),
  },
};
