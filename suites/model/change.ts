import type { FixtureExecutedDeposit } from '../../schemas/generated/types.ts';
import type { FixtureDeposit, Known, KnownKey } from '../catalogue/known.ts';

/** What a state hook changes. */
export type Change =
  | { readonly state: 'deposit executed'; readonly deposit: FixtureExecutedDeposit }
  | { readonly state: 'key revoked'; readonly key: KnownKey };

/** What is known of the target at present. Changes by the state hook replace it. */
export interface Present {
  known: Known;
  /**
   * Whether rows about lookups judge answers. Not while a change is under way: the old and the new state are right.
   * A failure in a changed state is not asked for again, because the change is undone then.
   */
  state: 'as before' | 'changing' | 'changed';
}

export const presentOf = (known: Known): Present => ({ known, state: 'as before' });

/** What a state hook writes, by a run that asks at `now` (Unix ms). */
export const executionAt = (now: number) => ({
  amountInUsd: 123.45,
  // In the past, not in whole seconds. Clocks have fractions of milliseconds.
  executedAt: (Math.floor(now / 1000) - 1) * 1000 + 123,
});

/** What is known after a change. */
export function afterChange(change: Change, known: Known): Known {
  if (change.state === 'deposit executed') return withDeposit(known, change.deposit);
  const { key } = change.key;
  const all = withOpenKeys(known, change.key);
  return {
    ...all,
    everyKey: all.everyKey.map((one) => (one.key === key ? { ...one, state: 'revoked' } : one)),
  };
}

/** What is known once a change is undone: a server may keep answers of the changed state. */
export function afterUndo(change: Change, known: Known): Known {
  if (change.state === 'key revoked') return withOpenKeys(known, change.key);
  const { reference_id, user_id, amountInUsd } = change.deposit;
  const becomes = { state: 'EXECUTED', amountInUsd } as const;
  return withDeposit(known, { reference_id, user_id, state: 'pending', becomes });
}

const withDeposit = (known: Known, deposit: FixtureDeposit): Known => ({
  ...known,
  depositById: new Map([...known.depositById, [deposit.reference_id.toLowerCase(), deposit]]),
});

/** The keys of the partner may work or not. The revoked one is not used any more, unless it is the only one. */
function withOpenKeys(known: Known, { key, partner }: KnownKey): Known {
  const others = known.callerKeys.filter((one) => one.key !== key);
  return {
    ...known,
    callerKeys: others.length > 0 ? others : known.callerKeys,
    everyKey: known.everyKey.map((one) =>
      one.partner === partner && one.state === 'active' ? { ...one, mayBeRefused: true } : one,
    ),
  };
}
