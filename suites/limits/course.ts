import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Forecast } from '../../schemas/plan.ts';
import { reserveOf } from '../engine/budget.ts';
import type { Lookup } from '../engine/lookups.ts';
import { createPool } from '../engine/pool.ts';
import type { schedule } from '../engine/schedule.ts';
import { plainLevels } from '../model/factors.ts';
import type { Scenario } from '../requirement.ts';
import { firstKey, nextTurn, reduce, type Asked } from './account.ts';
import { BURST_WINDOWS, explorationMs, REST_WINDOWS, SHORT_WAIT_MS, type RateLimit } from './limit.ts';
import { stateOf, unused, type SoFar } from './so-far.ts';

/** What each forecast of a run starts from. */
export interface Setup {
  readonly soFar?: SoFar;
  readonly limits: Readonly<Partial<Record<Endpoint, RateLimit>>>;
  readonly stated: Setup['limits'];
  /** In the order of the run, by rank. */
  readonly lookups: Readonly<Record<Endpoint, readonly Lookup[]>>;
  /** Maximum number of lookups per endpoint. */
  readonly cases: number;
  readonly scenarios: ReturnType<typeof schedule>;
  /** When a deposit is executed, and when a key is revoked, relative to lookups. */
  readonly changes: {
    readonly execution?: 'beside' | 'after';
    readonly revocation?: 'after' | 'last';
  };
  readonly graceMs: number;
  readonly rate: number | undefined;
  readonly maxRequests: number;
}

/** How a run with these bounds goes. Times are in ms from its start. */
export interface Course extends Forecast {
  readonly sent: readonly Lookup[];
  readonly counted: Readonly<Record<Endpoint, number>>;
  /** When the run reached strength 1 and 2, and with how many requests. */
  readonly reached: readonly { readonly atMs: number; readonly requests: number }[];
  /** Endpoints whose stated limit is not compared. */
  readonly notCompared: readonly Endpoint[];
  readonly isOutOfRequests: boolean;
  /** The part of the time that changes of the target's data add. */
  readonly changesMs: number;
}

/** Requests of a scenario that does not say how many it sends. */
const FEW = 3;

/** Requests that follow the revocation of a key. */
const AFTER_REVOCATION = 105;

/** Requests that show other keys, other requests and the recovery of a limited key. */
const PROBES = 10;

/** One request. */
interface Item {
  readonly cost: 0 | 1;
  /** Whether it likely counts in the end. */
  readonly counts: boolean;
  /** The key it needs; undefined for any key of the partner, empty for none that is accepted. */
  readonly key: string | undefined;
  readonly group: string;
  /** The lookup that it completes. */
  readonly lookup?: Lookup;
}

/** The lookups of the ranks that give a strength, with the scenarios that follow them. */
export const STAGES: readonly (readonly Lookup['rank'][])[] = [
  ['requirement', 'level'],
  ['pair', 'example'],
  ['triple', 'random'],
];

/**
 * Walks through a run by the rules that it keeps to. Nothing is sent, and answers take no time.
 *
 * @param keys number of active keys of the partner
 */
export function courseOf(setup: Setup, maxDurationMs: number, keys: number): Course {
  const { scenarios, limits, graceMs, soFar } = setup;
  const { execution, revocation } = setup.changes;
  const { startedAt, now } = soFar ?? { startedAt: 0, now: 0 };
  const deadline = startedAt + maxDurationMs;
  const reserve = reserveOf(scenarios.limiters.length > 0, setup.maxRequests, maxDurationMs);
  const until = deadline - reserve.ms;
  const target = newTarget(setup, keys, setup.maxRequests - reserve.requests, now);
  const reached: Course['reached'][number][] = [];
  const stage = (nth: number, longestWaitMs: number) => {
    const itemsFor = ({ endpoint, isCut }: Walk) => (isCut ? [] : lookupItems(setup, endpoint, nth, keys));
    const isDone = sendItems(target, itemsFor, until, longestWaitMs);
    if (isDone && isWhole(setup, nth) && reached.length === nth && nth < 2)
      reached.push({ atMs: endOf(target) - startedAt, requests: target.requests });
  };
  const sendScenarios = (isRequired: boolean, end: number) =>
    sendItems(target, ({ endpoint }) => scenarioItems(setup, endpoint, isRequired), end, Infinity);
  stage(0, Infinity);
  const levelsAt = endOf(target);
  sendScenarios(true, until);
  stage(1, Infinity);
  const besideMs =
    execution === 'beside'
      ? Math.max(0, (soFar === undefined ? levelsAt : startedAt) + graceMs - meet(target))
      : 0;
  for (const walk of target.walks) walk.at += besideMs;
  // A stated limit makes crowds smaller.
  const services = [true, false].flatMap((isRequired) => scenarioItems(setup, 'service', isRequired)).length;
  target.requests += Object.keys(limits).length === 0 ? services : services / 4;
  if (execution !== undefined)
    sendItems(
      target,
      ({ endpoint }) => (endpoint === 'deposit-check' ? afterExecution : []),
      until,
      Infinity,
    );
  sendScenarios(false, deadline);
  meet(target);
  stage(2, SHORT_WAIT_MS);
  const afterMs = execution === 'after' || revocation === 'after' ? graceMs : 0;
  const lastMs = revocation === 'last' ? graceMs : 0;
  target.requests += revocation === undefined ? 0 : AFTER_REVOCATION;
  const { endsAt, notCompared } = crossLimits(setup, target, meet(target) + afterMs, deadline);
  return {
    requests: Math.min(setup.maxRequests, Math.round(target.requests)),
    durationMs: Math.min(endsAt + lastMs, deadline) - startedAt,
    strength: reached.length,
    sent: target.sent,
    counted: target.counted,
    reached,
    notCompared,
    isOutOfRequests: target.isOut,
    changesMs: besideMs + afterMs + lastMs,
  };
}

/** Whether the lookups of a stage are all of it: their maximum number may end them. */
const isWhole = ({ lookups, cases }: Setup, stage: number): boolean =>
  Object.values(lookups).every(
    (some) =>
      some.length < cases || !STAGES.slice(0, stage + 1).some((ranks) => ranks.includes(some.at(-1)!.rank)),
  );

/** The lookups of a stage. */
const lookupItems = (
  { lookups, soFar }: Setup,
  endpoint: Endpoint,
  stage: number,
  keys: number,
): readonly Item[] =>
  lookups[endpoint]
    .filter((one) => STAGES[stage]!.includes(one.rank) && soFar?.sent.has(one) !== true)
    .flatMap((lookup, nth) => itemsOfLookup(lookup, `key ${1 + (nth % Math.max(1, keys - 1))}`));

/** What the scenarios of an endpoint, or of the service, send beside its lookups. */
const scenarioItems = (
  { scenarios }: Setup,
  endpoint: Endpoint | 'service',
  isRequired: boolean,
): readonly Item[] =>
  scenarios.lanes
    .flat()
    .filter((one) => one.endpoint === endpoint && (one.level === 'required') === isRequired)
    .flatMap(itemsOf);

/** Crosses the limit of each endpoint, from a time (ms) on. */
function crossLimits({ scenarios, limits, stated }: Setup, target: Target, from: number, deadline: number) {
  const notCompared: Endpoint[] = [];
  let now = from;
  for (const endpoint of endpointNames) {
    if (!scenarios.limiters.some((one) => one.endpoint === endpoint)) continue;
    const limit = limits[endpoint];
    const isCompared =
      limit === undefined || deadline - now > (REST_WINDOWS + BURST_WINDOWS) * limit.windowMs;
    if (!isCompared) notCompared.push(endpoint);
    target.requests += PROBES + (isCompared ? burstOf(endpoint, limit) : 0);
    if (limit === undefined) continue;
    now += isCompared ? exploringMs(limit, stated[endpoint]) : crossingMs(limit, deadline - now);
  }
  return { endsAt: now, notCompared };
}

/** Time (ms) to find out what a limit is. */
function exploringMs(limit: RateLimit, stated: RateLimit | undefined): number {
  const { most, windowMs } = limit;
  // Nothing to compare: a rest and the recovery.
  if (stated === undefined) return (REST_WINDOWS + 1) * windowMs;
  // A second burst must confirm a contradiction.
  if (most !== stated.most) return 2 * (REST_WINDOWS + 1) * windowMs;
  return explorationMs(stated.windowMs);
}

/** Requests until a limit is crossed. Without a known one, a common limit is assumed. */
function burstOf(endpoint: Endpoint, { most }: Pick<RateLimit, 'most'> = { most: 100 }): number {
  // After failed lookups, as many lookups of members.
  return endpoint === 'user-status' ? 2 * most : most;
}

/** Time to cross a limit, and to see that the key recovers, as far as it is left. */
const crossingMs = ({ windowMs }: RateLimit, leftMs: number) =>
  (REST_WINDOWS * windowMs <= leftMs / 4 ? REST_WINDOWS * windowMs : 0) + (windowMs < leftMs ? windowMs : 0);

/** @param other one of the partner's active keys but the first */
function itemsOfLookup(lookup: Lookup, other: string): readonly Item[] {
  const { endpoint, levels, facts, times, account, cost } = lookup;
  const plain = plainLevels(endpoint);
  const isAccepted = facts.key === 'accepted' || facts.key === 'open';
  const own = levels['active key'] === plain['active key'] ? undefined : other;
  const key = !isAccepted ? '' : levels.key === plain.key ? own : levels.key;
  // Most servers find a member by any spelling that may be right.
  const isMember = endpoint === 'user-status' && facts.parameter === 'plain' && facts.entity === 'own user';
  const item: Item = { cost, counts: cost > 0 && !isMember, key, group: `${account}, ${key}` };
  return [...Array.from({ length: times - 1 }, () => item), { ...item, lookup }];
}

const countedItem: Item = { cost: 1, counts: true, key: undefined, group: 'scenario' };
const freeItem: Item = { cost: 0, counts: false, key: '', group: 'free' };

/** The lookups of its owner after a deposit was executed. */
const afterExecution: readonly Item[] = Array.from({ length: 30 }, () => countedItem);

const itemsOf = ({ sends = FEW, sendsFree = 0 }: Scenario): readonly Item[] => [
  ...Array.from({ length: sends }, () => countedItem),
  ...Array.from({ length: sendsFree }, () => freeItem),
];

/** What is sent to an endpoint one after another, up to a time (ms). */
interface Walk {
  readonly endpoint: Endpoint;
  at: number;
  /** Whether items were not even looked at: what comes after them is not sent. */
  isCut: boolean;
}

type Target = ReturnType<typeof newTarget>;

/** A target that keeps to its limits, and what it was sent. */
const newTarget = (setup: Setup, keys: number, maxRequests: number, at: number) => ({
  /** Whether an endpoint has no limit, as far as it is known. */
  isOpen: (endpoint: Endpoint) => setup.soFar === undefined && setup.limits[endpoint] === undefined,
  keys: Array.from({ length: Math.max(1, keys) }, (_, nth) => `key ${nth}`),
  /** Time (ms) between requests, and when the next one may be sent. */
  gapMs: setup.rate === undefined ? 0 : 1000 / setup.rate,
  freeAt: 0,
  maxRequests,
  walks: endpointNames.map((endpoint): Walk => ({ endpoint, at, isCut: false })),
  state: setup.soFar === undefined ? unused(setup.limits) : stateOf(setup.soFar, setup),
  sent: [...(setup.soFar?.sent ?? [])],
  counted: { 'user-status': 0, 'deposit-check': 0 },
  requests: setup.soFar?.requests ?? 0,
  /** Whether a request was not sent because of their number. */
  isOut: false,
});

const endOf = ({ walks }: Target) => Math.max(...walks.map(({ at }) => at));

/** Lets the endpoints wait for each other. */
function meet(target: Target): number {
  const at = endOf(target);
  for (const walk of target.walks) walk.at = at;
  return at;
}

/** Sends items to both endpoints, side by side. Returns whether all were sent. */
function sendItems(
  target: Target,
  itemsFor: (walk: Walk) => readonly Item[],
  until: number,
  longestWaitMs: number,
): boolean {
  const lanes = target.walks.map((walk) => {
    const source = itemsFor(walk).values();
    return { walk, source, pool: createPool(source, ({ group }) => group) };
  });
  let isDone = true;
  for (let active = lanes; active.length > 0;) {
    const lane = active.reduce((first, one) => (one.walk.at < first.walk.at ? one : first));
    const result = step(target, lane, until, longestWaitMs);
    if (result !== 'goes on') active = active.filter((one) => one !== lane);
    isDone &&= result !== 'is held';
  }
  for (const { walk, source } of lanes) walk.isCut ||= source.next().done !== true;
  return isDone;
}

interface Lane {
  readonly walk: Walk;
  readonly pool: ReturnType<typeof createPool<Item>>;
}

/** Sends the next item, or waits. */
function step(
  target: Target,
  { walk, pool }: Lane,
  until: number,
  longestWaitMs: number,
): 'goes on' | 'is held' | 'is done' {
  const now = Math.max(walk.at, target.freeAt);
  if (now > until) return 'is held';
  const next = pool.next((item) => nextTurn(target.state, askedBy(target, walk, item, now), now));
  if (next === undefined) return 'is done';
  if (next.kind === 'at' && next.at <= until && next.at - now <= longestWaitMs) {
    walk.at = Math.max(next.at, now);
    return 'goes on';
  }
  if (next.kind !== 'send') return 'is held';
  const { item } = next;
  if (target.requests >= target.maxRequests) {
    target.isOut = true;
    return 'is held';
  }
  if (item.counts) count(target, askedBy(target, walk, item, now), now);
  target.requests++;
  target.freeAt = now + target.gapMs;
  walk.at = now;
  if (item.lookup !== undefined) target.sent.push(item.lookup);
  return 'goes on';
}

function askedBy(
  { state, isOpen, keys }: Target,
  { endpoint }: Walk,
  { cost, key }: Item,
  now: number,
): Asked {
  if (key !== undefined || isOpen(endpoint)) return { endpoint, cost, key: key ?? '' };
  return { endpoint, cost, key: firstKey(state, { endpoint, cost }, keys, now) };
}

/** A request that counts was sent and answered. */
function count(target: Target, asked: Asked, now: number): void {
  target.counted[asked.endpoint]++;
  if (target.isOpen(asked.endpoint)) return;
  const answered = { kind: 'answered', at: now, sentAt: now, counted: true, isAdmitted: true } as const;
  const state = reduce(target.state, { ...asked, kind: 'sent' });
  target.state = reduce(state, { ...asked, ...answered, policies: [] });
}
