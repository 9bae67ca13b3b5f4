import type { FixtureDeposit } from '../schemas/generated/types.ts';
import { inLowerCase } from '../schemas/id-index.ts';
import type { Deposit, World } from './world.ts';

/**
 * The deposits of a world in the form in which they are at hand, changed ones in the place of those that
 * they changed, new ones last. There may be a million: whose they are costs a look-up each, and is asked
 * of the few that are wanted, by `wholeDeposit`.
 */
export function listedDeposits({ deposits: { base, changed } }: World): readonly FixtureDeposit[] {
  if (changed.size === 0) return base.items();
  return [
    ...base.items().map((deposit) => changed.get(inLowerCase(deposit.reference_id)) ?? deposit),
    ...Array.from(changed).flatMap(([id, deposit]) => (base.has(id) ? [] : [deposit])),
  ];
}

/** A listed deposit with the partner to whose IB its user belongs. */
export function wholeDeposit({ deposits: { base } }: World, deposit: FixtureDeposit | Deposit): Deposit {
  return 'partner' in deposit ? deposit : base.whole(deposit);
}
