import { chaosFor, type ChaosAction, type ChaosPlan } from './chaos.ts';
import { takeNext, type ChaosQueue } from './chaos-queue.ts';

/** What befalls the requests of one world. */
export interface Chaos {
  readonly plan: ChaosPlan;
  readonly seed: number;
  /** Requests that the plan has been asked about, by the name of their key. */
  readonly numbers: Map<string, number>;
  /** What befalls the next requests, before the plan is asked. */
  queue: ChaosQueue;
}

/** A plan that has drawn nothing yet. */
export function newChaos(plan: ChaosPlan, seed: number): Chaos {
  return { plan, seed, numbers: new Map(), queue: [] };
}

/**
 * What befalls the next request of a key, undefined where it is spared. What is queued comes first,
 * and leaves the numbers of the plan alone.
 *
 * @param keyName the name of the key, which draws of its own in each world
 */
export function nextChaos(chaos: Chaos, keyName: string): ChaosAction | undefined {
  const [action, queue] = takeNext(chaos.queue);
  chaos.queue = queue;
  if (action !== undefined || chaos.plan.length === 0) return action;
  const number = (chaos.numbers.get(keyName) ?? 0) + 1;
  chaos.numbers.set(keyName, number);
  return chaosFor(chaos.plan, chaos.seed, keyName, number);
}
