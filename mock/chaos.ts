import { hash } from 'node:crypto';
import type { Endpoint } from '../schemas/endpoints.ts';
import { didYouMean, wrongUsage } from '../schemas/problem.ts';

/** The transport resets the connection, never sends the response, or closes the connection within the body. */
export type TransportFault = 'reset' | 'timeout' | 'truncate';

/**
 * Chaos for one request. `status` replaces the response, without a lookup and without counting. The other
 * kinds act on the normal response when it is sent.
 */
export type ChaosAction =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: TransportFault }
  | { readonly kind: 'slow'; readonly delayMs: number };

/** A kind of chaos (`500`, `slow`) with its rate: the share of requests that get it, 0 to 1. */
export interface ChaosRule {
  readonly name: string;
  readonly rate: number;
  /** A delay is the minimum. */
  readonly action: ChaosAction;
  /** Maximum of the random ms that are added to the delay. */
  readonly spreadMs: number;
}

/** Rules in order of precedence. Each draws separately; the first that hits is used. */
export type ChaosPlan = readonly ChaosRule[];

/** An action for the next `count` requests. */
export interface QueuedChaos {
  readonly action: ChaosAction;
  readonly count: number;
  /** Undefined: requests to any endpoint. */
  readonly endpoint?: Endpoint | undefined;
}

/** The chaos of one world. */
export interface Chaos {
  readonly plan: ChaosPlan;
  readonly seed: number;
  /** Number of requests for which the plan has drawn, by key name. */
  readonly drawn: Map<string, number>;
  /** Actions for the next requests. They come before the plan. */
  queue: readonly QueuedChaos[];
}

/** Whether a request may draw any chaos. */
export const hasChaos = ({ plan, queue }: Chaos): boolean => plan.length > 0 || queue.length > 0;

/** Returns the chaos for the next request with a key, and removes it from the queue; undefined: none. */
export function takeChaos(chaos: Chaos, keyName: string, endpoint: Endpoint): ChaosAction | undefined {
  const { plan, seed, drawn } = chaos;
  const at = chaos.queue.findIndex((one) => one.endpoint === undefined || one.endpoint === endpoint);
  const first = chaos.queue[at];
  if (first !== undefined) {
    const left = first.count > 1 ? [{ ...first, count: first.count - 1 }] : [];
    chaos.queue = chaos.queue.toSpliced(at, 1, ...left);
    return first.action;
  }
  if (plan.length === 0) return undefined;
  const requestNumber = (drawn.get(keyName) ?? 0) + 1;
  drawn.set(keyName, requestNumber);
  return drawChaos(plan, seed, keyName, requestNumber);
}

/**
 * Returns the chaos for a request. It depends only on the arguments, not on time or other keys. Each rule draws
 * independently, and a higher rate includes the hits of a lower one.
 *
 * @param keyName name of the caller's key, never its value
 * @param requestNumber number of this request among those with the key
 */
export function drawChaos(
  plan: ChaosPlan,
  seed: number,
  keyName: string,
  requestNumber: number,
): ChaosAction | undefined {
  const draw = (what: string) => hashToUnit([seed, keyName, requestNumber, what]);
  const rule = plan.find(({ name, rate }) => draw(name) < rate);
  if (rule?.action.kind !== 'slow') return rule?.action;
  const delayMs = Math.round(rule.action.delayMs + draw(`delay of ${rule.name}`) * rule.spreadMs);
  return { kind: 'slow', delayMs };
}

const HASH_BYTES = 6;

/** Hashes values to a number from 0 to below 1, evenly distributed. */
function hashToUnit(from: readonly (string | number)[]): number {
  return hash('sha256', JSON.stringify(from), 'buffer').readUIntBE(0, HASH_BYTES) / 2 ** (8 * HASH_BYTES);
}

/** Formats an action as in a spec: `503`, `reset`, `slow:250ms`. */
export function chaosName(action: ChaosAction): string {
  if (action.kind === 'status') return `${action.status}`;
  return action.kind === 'slow' ? `slow:${action.delayMs}ms` : action.kind;
}

/** Returns what the transport does to the response. */
export function transportEffect(action: ChaosAction) {
  if (action.kind === 'status') return {};
  return action.kind === 'slow' ? { delayMs: action.delayMs } : { transportFault: action.kind };
}

const MAX_DELAY_MS = 600_000;

/** Kinds without a response first, then kinds that change it, then delays. */
const precedence: readonly ChaosAction['kind'][] = ['reset', 'timeout', 'status', 'truncate', 'slow'];

const chaosProblem = (spec: string, why: string) => wrongUsage(`chaos ${spec}: ${why}`);

/**
 * Parses specs such as `500:0.1`, `reset:0.02`, `timeout`, `truncate:0.1`, `slow:2s` and `slow:200ms..2s:0.5`:
 * a kind, a time for `slow`, and a rate from 0 to 1 (default 1). If several hit a request, the precedence is
 * reset, timeout, statuses in the given order, truncate, slow.
 *
 * @throws Problem with code `usage`
 */
export function parseChaos(specs: readonly string[]): ChaosPlan {
  const plan = specs.map(parseSpec);
  const twice = plan.find(({ name }, index) => plan.findIndex((rule) => rule.name === name) !== index);
  if (twice !== undefined) throw chaosProblem(twice.name, 'is given twice; give each kind once');
  const rank = ({ action }: ChaosRule) => precedence.indexOf(action.kind);
  return plan.toSorted((one, other) => rank(one) - rank(other));
}

const commonKinds = ['reset', 'timeout', 'slow', 'truncate', '429', '500', '502', '503', '504'] as const;

function parseSpec(spec: string): ChaosRule {
  const [name = '', ...rest] = spec.split(':');
  const [action, spreadMs] =
    name === 'slow' ? parseSlow(rest.shift() ?? '', spec) : [parseAction(name, spec), 0];
  const text = rest.length === 0 ? '1' : rest.join(':');
  const rate = /^(?:\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (rate >= 0 && rate <= 1) return { name, rate, action, spreadMs };
  throw chaosProblem(spec, 'the rate must be a number from 0 to 1, such as 0.1 for one request in ten');
}

function parseAction(name: string, spec: string): ChaosAction {
  if (name === 'reset' || name === 'timeout' || name === 'truncate') return { kind: name };
  if (/^(?:200|400|401|404|429|5\d\d)$/.test(name)) return { kind: 'status', status: Number(name) };
  // Do not suggest another status.
  const suggestion = /^\d{3}$/.test(name) ? '' : didYouMean(name, commonKinds);
  const kinds = 'kinds: 200, 400, 401, 404, 429, 500 to 599, reset, timeout, slow, truncate';
  throw chaosProblem(spec, `there is no such kind${suggestion} (${kinds})`);
}

function parseSlow(time: string, spec: string): readonly [action: ChaosAction, spreadMs: number] {
  const [min, max = min, ...others] = time.split('..').map(parseDuration);
  if (min === undefined || max === undefined || others.length > 0)
    throw chaosProblem(spec, 'needs one or two times of at most 10m, such as slow:200ms or slow:200ms..2s');
  if (min > max) throw chaosProblem(spec, 'the shorter time comes first, as in slow:200ms..2s');
  return [{ kind: 'slow', delayMs: min }, max - min];
}

const unitsInMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

function parseDuration(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
  const delay = Number(amount) * (unitsInMs[unit] ?? Number.NaN);
  return delay <= MAX_DELAY_MS ? delay : undefined;
}

/** Formats a rule as a spec. */
export function ruleSpec({ rate, action, spreadMs }: ChaosRule): string {
  const maximum = spreadMs > 0 && action.kind === 'slow' ? `..${action.delayMs + spreadMs}ms` : '';
  return `${chaosName(action)}${maximum}${rate === 1 ? '' : `:${rate}`}`;
}

const MAX_COUNT = 1_000_000;

/**
 * Parses chaos for the next requests.
 *
 * @param kind a spec without a rate: `503`, `reset`, `timeout`, `truncate`, `slow:2s`
 * @throws Problem with code `usage`
 */
export function parseQueuedChaos(kind: string, count: number, only?: Endpoint): QueuedChaos {
  const { action, spreadMs, rate } = parseSpec(kind);
  if (rate !== 1) throw chaosProblem(kind, 'the next requests have no rate; remove it');
  if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT)
    throw chaosProblem(kind, `count must be a whole number from 1 to ${MAX_COUNT}: ${count}`);
  if (spreadMs > 0) throw chaosProblem(kind, 'the next requests need a single time, such as slow:2s');
  // The interface has a 404 only there.
  const endpoint = only ?? (kind === '404' ? 'deposit-check' : undefined);
  if (kind === '404' && endpoint !== 'deposit-check')
    throw chaosProblem(kind, `${endpoint} has no answer 404`);
  return { action, count, ...(endpoint && { endpoint }) };
}
