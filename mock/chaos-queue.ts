import { Problem } from '../schemas/problem.ts';
import type { ChaosAction, ChaosCause } from './chaos.ts';
import { parseSpec } from './chaos-spec.ts';

/** The same action for so many requests. */
export interface QueuedChaos {
  readonly action: ChaosAction;
  /** 1 or more. */
  readonly count: number;
}

/** What befalls the next requests, whatever the plan would have drawn. */
export type ChaosQueue = readonly QueuedChaos[];

/** Most requests that one entry of a queue may stand for. */
const MOST = 1_000_000;

/**
 * An entry of a queue.
 *
 * @param kind a spec without a rate: `503`, `reset`, `timeout`, `truncate`, `slow:2s`
 * @throws Problem of code `usage`
 */
export function queuedChaos(kind: string, count: number): QueuedChaos {
  const { cause, rate } = parseSpec(kind);
  const wrong = (why: string) => new Problem('usage', `chaos ${kind}: ${why}`);
  if (rate !== 1) throw wrong('the next requests take no rate; leave it out');
  if (!Number.isInteger(count) || count < 1 || count > MOST)
    throw wrong(`count has to be a whole number from 1 to ${MOST}: ${count}`);
  const action = fixed(cause);
  if (action === undefined) throw wrong('the next requests take one time, such as slow:2s');
  return { action, count };
}

function fixed(cause: ChaosCause): ChaosAction | undefined {
  if (cause.kind !== 'slow') return cause;
  return cause.leastMs === cause.mostMs ? { kind: 'slow', delayMs: cause.leastMs } : undefined;
}

/** The action for the next request, undefined where the queue is empty, and the queue behind it. */
export function takeNext(queue: ChaosQueue): readonly [action: ChaosAction | undefined, rest: ChaosQueue] {
  const [first, ...rest] = queue;
  if (first === undefined) return [undefined, queue];
  const { action, count } = first;
  return [action, count > 1 ? [{ action, count: count - 1 }, ...rest] : rest];
}
