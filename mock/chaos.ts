import { createHash } from 'node:crypto';
import type { HttpResponse } from './exchange.ts';

/**
 * What befalls one request. It is only said here: cutting a connection and waiting are done by the
 * transport, so that nothing else of the mock needs a timer.
 *
 * - `status`: this answer instead of the real one, which is never worked out: nothing is looked up or counted
 * - `reset`: the request is answered, and the connection is reset before the answer leaves
 * - `timeout`: the request is answered, and the answer is held back until the client gives up
 * - `slow`: the answer leaves `delayMs` milliseconds late
 * - `truncate`: the answer breaks off within its body, short of its Content-Length
 */
export type ChaosAction =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'reset' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'slow'; readonly delayMs: number }
  | { readonly kind: 'truncate' };

/** An action that is settled but for its delay, which is drawn between two bounds in ms. */
export type ChaosCause =
  | Exclude<ChaosAction, { readonly kind: 'slow' }>
  | { readonly kind: 'slow'; readonly leastMs: number; readonly mostMs: number };

/** A kind of fault by its name (`500`, `slow`), and the share of requests, 0 to 1, that draw it. */
export interface ChaosRule {
  readonly name: string;
  readonly rate: number;
  readonly cause: ChaosCause;
}

/** Faults that are drawn for each request. Each draws on its own; the first in this order befalls the request. */
export type ChaosPlan = readonly ChaosRule[];

/**
 * What befalls a request: a function of its arguments alone, so that neither time nor the requests
 * of other keys make a difference. A rule draws the same whichever rules stand beside it, and a
 * higher rate keeps what a lower one chose.
 *
 * @param keyName the name of the caller's key, never its value
 * @param requestNumber counts the requests of that key
 * @returns undefined where the request is spared
 */
export function chaosFor(
  plan: ChaosPlan,
  seed: number,
  keyName: string,
  requestNumber: number,
): ChaosAction | undefined {
  const draw = (what: string) => drawn([seed, keyName, requestNumber, what]);
  const rule = plan.find(({ name, rate }) => draw(name) < rate);
  return rule && settled(rule.cause, draw(`delay of ${rule.name}`));
}

/** The name of an action, as in a spec: `503`, `reset`, `slow:250ms`. */
export function chaosName(action: ChaosAction): string {
  if (action.kind === 'status') return `${action.status}`;
  return action.kind === 'slow' ? `slow:${action.delayMs}ms` : action.kind;
}

/** What an action leaves to the transport. */
export function onItsWay(action: ChaosAction): Pick<HttpResponse, 'fate' | 'delayMs'> {
  if (action.kind === 'status') return {};
  return action.kind === 'slow' ? { delayMs: action.delayMs } : { fate: action.kind };
}

/** The action of a cause; `share`, 0 to 1, is where between its bounds a delay lies. */
function settled(cause: ChaosCause, share: number): ChaosAction {
  if (cause.kind !== 'slow') return cause;
  const { leastMs, mostMs } = cause;
  return { kind: 'slow', delayMs: Math.round(leastMs + share * (mostMs - leastMs)) };
}

const BYTES = 6;

/** A number from 0 up to, not including, 1, evenly spread. JSON keeps apart what joined text would mix up. */
function drawn(from: readonly (string | number)[]): number {
  const digest = createHash('sha256').update(JSON.stringify(from)).digest();
  return digest.readUIntBE(0, BYTES) / 2 ** (8 * BYTES);
}
