import type { Endpoint } from '../schemas/endpoints.ts';
import type { Behaviour } from './behaviour.ts';
import { gaugesOf } from './gauges.ts';
import { expiryOf } from './key.ts';
import { listedDeposits } from './listed-deposits.ts';
import { dueAt } from './lookup.ts';
import { valuesOf } from './overlay.ts';
import type { World } from './world.ts';

/** What came about by the passing of time. */
export interface Due {
  /** reference_id of each deposit that was executed. */
  readonly deposits: readonly string[];
  /** Name of each key that expired. */
  readonly keys: readonly string[];
  /** Limiters that let go. */
  readonly limiters: readonly { readonly endpoint: Endpoint; readonly key: string }[];
}

/** What fell due in a world after the time `from`, up to and with the time `to`; both in Unix ms. */
export function dueBetween(behaviour: Behaviour, world: World, from: number, to: number): Due {
  const falls = (at: number | undefined) => at !== undefined && from < at && at <= to;
  const limitedAfter = new Set(limitedAt(behaviour, world, to).map(({ window }) => window));
  return {
    deposits: listedDeposits(world).flatMap((deposit) =>
      falls(dueAt(world, deposit)) ? [deposit.reference_id] : [],
    ),
    keys: valuesOf(world.keys).flatMap((key) =>
      key.state === 'active' && falls(expiryOf(world, key)) ? [key.name] : [],
    ),
    limiters: limitedAt(behaviour, world, from).flatMap(({ endpoint, key, window }) =>
      limitedAfter.has(window) ? [] : [{ endpoint, key }],
    ),
  };
}

function limitedAt(behaviour: Behaviour, world: World, now: number) {
  return gaugesOf(behaviour, world, now).flatMap(({ endpoint, key, isLimited }) =>
    isLimited ? [{ endpoint, key, window: `${endpoint} ${key}` }] : [],
  );
}
