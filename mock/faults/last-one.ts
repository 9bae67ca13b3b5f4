import { answerWith, editPayload } from '../change.ts';
import type { Exchange } from '../exchange.ts';
import { valuesOf } from '../overlay.ts';
import { deposit, executedRows, memberRows, rowsOf, type Faults } from './rows.ts';

function isLastMember({ world, call, finding }: Exchange): boolean {
  const own = valuesOf(world.users).filter(({ partner }) => partner === call?.caller?.partner);
  return finding.kind === 'member' && finding.user === own.at(-1);
}

function isLastExecuted({ world, call, finding }: Exchange): boolean {
  const own = [...world.asFixture.deposits.values()].filter(
    ({ partner, state }) => partner === call?.caller?.partner && state === 'EXECUTED',
  );
  return finding.kind === 'executed' && finding.deposit === own.at(-1);
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
