import { createHash } from 'node:crypto';
import { didYouMean, wrongUsage } from '../schemas/problem.ts';

/**
 * What the transport does to a response: it resets the connection; holds the response back until the
 * client gives up; or breaks off within the body, short of its Content-Length.
 */
export type TransportFault = 'reset' | 'timeout' | 'truncate';

/**
 * Chaos that hits one request. `status` replaces the response: nothing is looked up or counted. With the
 * others the request is answered as usual, and the transport spoils or delays the response.
 */
export type ChaosAction =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: TransportFault }
  | { readonly kind: 'slow'; readonly delayMs: number };

/** A kind of chaos by its name (`500`, `slow`), and the share of requests, 0 to 1, that it hits. */
export interface ChaosRule {
  readonly name: string;
  readonly rate: number;
  /** A delay is the shortest one. */
  readonly action: ChaosAction;
  /** How much longer (ms) a delay may be: it is drawn. */
  readonly spreadMs: number;
}

/** Each rule draws on its own; the first one that hits, in this order, decides. */
export type ChaosPlan = readonly ChaosRule[];

/** The same action for the next `count` requests. */
export interface QueuedChaos {
  readonly action: ChaosAction;
  readonly count: number;
}

/** The chaos of one world. */
export interface Chaos {
  readonly plan: ChaosPlan;
  readonly seed: number;
  /** Requests for which the plan has drawn, by the name of their key. */
  readonly drawn: Map<string, number>;
  /** Actions for the next requests, before the plan draws. */
  queue: readonly QueuedChaos[];
}

/** A plan that has drawn nothing yet. */
export function newChaos(plan: ChaosPlan, seed: number): Chaos {
  return { plan, seed, drawn: new Map(), queue: [] };
}

/**
 * Takes the chaos that hits the next request of a key; undefined: none.
 *
 * @param keyName the name of the key in its world
 */
export function takeChaos(chaos: Chaos, keyName: string): ChaosAction | undefined {
  const { plan, seed, drawn } = chaos;
  const [first, ...rest] = chaos.queue;
  if (first !== undefined) {
    chaos.queue = first.count > 1 ? [{ ...first, count: first.count - 1 }, ...rest] : rest;
    return first.action;
  }
  if (plan.length === 0) return undefined;
  const requestNumber = (drawn.get(keyName) ?? 0) + 1;
  drawn.set(keyName, requestNumber);
  return chaosFor(plan, seed, keyName, requestNumber);
}

/**
 * The chaos that hits a request. It depends on the arguments alone, not on time or on other keys. A rule
 * draws the same whatever other rules there are, and a higher rate hits all that a lower rate hits.
 *
 * @param keyName the name of the caller's key, never its value
 * @param requestNumber counts the requests of that key
 */
export function chaosFor(
  plan: ChaosPlan,
  seed: number,
  keyName: string,
  requestNumber: number,
): ChaosAction | undefined {
  const draw = (what: string) => share([seed, keyName, requestNumber, what]);
  const rule = plan.find(({ name, rate }) => draw(name) < rate);
  if (rule?.action.kind !== 'slow') return rule?.action;
  const delayMs = Math.round(rule.action.delayMs + draw(`delay of ${rule.name}`) * rule.spreadMs);
  return { kind: 'slow', delayMs };
}

const BYTES = 6;

/** A number from 0 up to, not including, 1, evenly spread. */
function share(from: readonly (string | number)[]): number {
  const digest = createHash('sha256').update(JSON.stringify(from)).digest();
  return digest.readUIntBE(0, BYTES) / 2 ** (8 * BYTES);
}

/** The name of an action, as in a spec: `503`, `reset`, `slow:250ms`. */
export function chaosName(action: ChaosAction): string {
  if (action.kind === 'status') return `${action.status}`;
  return action.kind === 'slow' ? `slow:${action.delayMs}ms` : action.kind;
}

/** What an action leaves to the transport. */
export function transportPart(action: ChaosAction): {
  readonly transportFault?: TransportFault;
  readonly delayMs?: number;
} {
  if (action.kind === 'status') return {};
  return action.kind === 'slow' ? { delayMs: action.delayMs } : { transportFault: action.kind };
}

const MAX_DELAY = 600_000;

/** What keeps a response from arriving goes before what spoils it, and a delay comes last. */
const precedence: readonly ChaosAction['kind'][] = ['reset', 'timeout', 'status', 'truncate', 'slow'];

const wrongIn = (spec: string, why: string) => wrongUsage(`chaos ${spec}: ${why}`);

/**
 * A plan from specs such as `500:0.1`, `reset:0.02`, `timeout`, `truncate:0.1`, `slow:2s` and
 * `slow:200ms..2s:0.5`: a kind, for `slow` a time, and a rate from 0 to 1, which is 1 where it is missing.
 * Where several hit a request, reset goes before timeout, then statuses in the given order, truncate, slow.
 *
 * @throws Problem of code `usage`
 */
export function parseChaos(specs: readonly string[]): ChaosPlan {
  const plan = specs.map(parseSpec);
  const twice = plan.find(({ name }, index) => plan.findIndex((rule) => rule.name === name) !== index);
  if (twice !== undefined) throw wrongIn(twice.name, 'is given twice; give it once, with one rate');
  const place = ({ action }: ChaosRule) => precedence.indexOf(action.kind);
  return plan.toSorted((one, other) => place(one) - place(other));
}

const commonKinds = ['reset', 'timeout', 'slow', 'truncate', '429', '500', '502', '503', '504'] as const;

function parseSpec(spec: string): ChaosRule {
  const [name = '', ...rest] = spec.split(':');
  const [action, spreadMs] =
    name === 'slow' ? slowAction(rest.shift() ?? '', spec) : [plainAction(name, spec), 0];
  const text = rest.length === 0 ? '1' : rest.join(':');
  const rate = /^(?:\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (rate >= 0 && rate <= 1) return { name, rate, action, spreadMs };
  throw wrongIn(spec, 'the rate must be a number from 0 to 1, such as 0.1 for one request in ten');
}

function plainAction(name: string, spec: string): ChaosAction {
  if (name === 'reset' || name === 'timeout' || name === 'truncate') return { kind: name };
  if (/^(?:200|400|401|404|429|5\d\d)$/.test(name)) return { kind: 'status', status: Number(name) };
  // Another status is no useful suggestion.
  const near = /^\d{3}$/.test(name) ? '' : didYouMean(name, commonKinds);
  const kinds = 'kinds: 200, 400, 401, 404, 429, 500 to 599, reset, timeout, slow, truncate';
  throw wrongIn(spec, `there is no such kind${near} (${kinds})`);
}

function slowAction(time: string, spec: string): readonly [action: ChaosAction, spreadMs: number] {
  const [least, most = least, ...others] = time.split('..').map(inMs);
  if (least === undefined || most === undefined || others.length > 0)
    throw wrongIn(
      spec,
      'say how slow, by a time of up to 10m or by two, such as slow:200ms or slow:200ms..2s',
    );
  if (least > most) throw wrongIn(spec, 'the shorter time comes first, as in slow:200ms..2s');
  return [{ kind: 'slow', delayMs: least }, most - least];
}

const unitsInMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

function inMs(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
  const delay = Number(amount) * (unitsInMs[unit] ?? Number.NaN);
  return delay <= MAX_DELAY ? delay : undefined;
}

/** A spec of a rule. */
export function specOf({ rate, action, spreadMs }: ChaosRule): string {
  const most = spreadMs > 0 && action.kind === 'slow' ? `..${action.delayMs + spreadMs}ms` : '';
  return `${chaosName(action)}${most}${rate === 1 ? '' : `:${rate}`}`;
}

const MAX_COUNT = 1_000_000;

/**
 * An entry of the queue.
 *
 * @param kind a spec without a rate: `503`, `reset`, `timeout`, `truncate`, `slow:2s`
 * @throws Problem of code `usage`
 */
export function queuedChaos(kind: string, count: number): QueuedChaos {
  const { action, spreadMs, rate } = parseSpec(kind);
  if (rate !== 1) throw wrongIn(kind, 'the next requests take no rate; leave it out');
  if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT)
    throw wrongIn(kind, `count must be a whole number from 1 to ${MAX_COUNT}: ${count}`);
  if (spreadMs > 0) throw wrongIn(kind, 'the next requests take one time, such as slow:2s');
  return { action, count };
}
