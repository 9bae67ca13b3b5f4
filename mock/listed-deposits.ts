import { valuesOf } from './overlay.ts';
import type { Deposit, World } from './world.ts';

/** The deposits of a world, changed ones in the place of those that they changed, new ones last. */
export const listedDeposits = ({ deposits }: World): readonly Deposit[] => valuesOf(deposits);

/** A listed deposit with the partner to whose IB its user belongs. */
export const wholeDeposit = (_world: World, deposit: Deposit): Deposit => deposit;
