import type { FixtureDeposit } from '../schemas/generated/types.ts';
import { depositNow, foundDeposit, type DepositNow } from './deposit-now.ts';
import { tell } from './events.ts';
import type { Execution } from './exchange.ts';
import { lookIn } from './overlay.ts';
import { Refusal } from './refusal.ts';
import { timeIn, type Sandbox, type Session } from './session.ts';
import type { Deposit } from './world.ts';

/** Amount (USD) of a deposit that is executed where neither the call nor the fixture names one. */
const USUAL_AMOUNT = 100;

/**
 * Adds a deposit, as a fixture would have it; `afterSeconds` counts from now.
 *
 * @throws Refusal, 400 where there is no such user, 409 where there is such a deposit
 */
export function addDeposit(session: Session, sandbox: Sandbox, deposit: FixtureDeposit): DepositNow {
  const { reference_id, user_id } = deposit;
  const user = lookIn(sandbox.world.users, user_id.toLowerCase());
  if (user === undefined)
    throw new Refusal(400, `user_id ${user_id} is not among the users; POST /__admin/users adds one`, {
      place: 'user_id',
    });
  if (foundDeposit(sandbox.world, reference_id) !== undefined)
    throw new Refusal(409, `there is a deposit ${reference_id} already`, { place: 'reference_id' });
  const since = timeIn(session, sandbox);
  return put(session, sandbox, 'added', { ...deposit, partner: user.partner, since });
}

/**
 * Executes a pending deposit now, with what is given, or what the fixture plans, or 100 USD now.
 *
 * @throws Refusal, 404 where there is none, 409 where its state is final
 */
export function executeDeposit(
  session: Session,
  sandbox: Sandbox,
  id: string,
  given: Partial<Execution> = {},
): DepositNow {
  const deposit = pendingDeposit(session, sandbox, id);
  const planned = deposit.state === 'pending' ? deposit.becomes : undefined;
  const { reference_id, user_id, partner } = deposit;
  return put(session, sandbox, 'executed', {
    reference_id,
    user_id,
    partner,
    state: 'EXECUTED',
    amountInUsd: given.amountInUsd ?? planned?.amountInUsd ?? USUAL_AMOUNT,
    executedAt: Math.trunc(given.executedAt ?? planned?.executedAt ?? timeIn(session, sandbox)),
  });
}

/**
 * Lets a pending deposit fail now.
 *
 * @throws Refusal, 404 where there is none, 409 where its state is final
 */
export function failDeposit(session: Session, sandbox: Sandbox, id: string): DepositNow {
  const { reference_id, user_id, partner } = pendingDeposit(session, sandbox, id);
  return put(session, sandbox, 'failed', { reference_id, user_id, partner, state: 'failed' });
}

/**
 * The deposit of a reference_id.
 *
 * @throws Refusal, 404 where there is none
 */
export function knownDeposit(sandbox: Sandbox, id: string): Deposit {
  const deposit = foundDeposit(sandbox.world, id);
  if (deposit === undefined)
    throw new Refusal(404, `there is no deposit ${id} here; GET /__admin/deposits lists them`);
  return deposit;
}

function pendingDeposit(session: Session, sandbox: Sandbox, id: string): Deposit {
  const deposit = knownDeposit(sandbox, id);
  const { state } = depositNow(sandbox.world, deposit, timeIn(session, sandbox));
  if (state === 'pending') return deposit;
  throw new Refusal(409, `the deposit is ${state}, which is final; a reset begins anew`, { state });
}

function put(session: Session, sandbox: Sandbox, what: string, deposit: Deposit): DepositNow {
  sandbox.world.deposits.changed.set(deposit.reference_id.toLowerCase(), deposit);
  const words = `deposit ${deposit.reference_id} ${what}`;
  tell(session.watchers, () => ({ kind: 'change', world: sandbox.name, what: words }));
  return depositNow(sandbox.world, deposit, timeIn(session, sandbox));
}
