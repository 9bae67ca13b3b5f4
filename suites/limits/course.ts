import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Forecast } from '../../schemas/plan.ts';
import { reserveOf } from '../engine/budget.ts';
import type { Lookup } from '../engine/lookups.ts';
import { createPool } from '../engine/pool.ts';
import type { schedule } from '../engine/schedule.ts';
import { plainLevels } from '../model/factors.ts';
import type { Scenario } from '../requirement.ts';
import { firstKey, newLimits, nextTurn, reduce, type Asked } from './account.ts';
import { BURST_WINDOWS, explorationMs, REST_WINDOWS, SHORT_WAIT_MS, type RateLimit } from './limit.ts';

/** What each forecast of a run starts from. */
export interface Setup {
  readonly limits: Readonly<Partial<Record<Endpoint, RateLimit>>>;
  /** In the order of the run, by rank. */
  readonly lookups: Readonly<Record<Endpoint, readonly Lookup[]>>;
  readonly scenarios: ReturnType<typeof schedule>;
  /** When a deposit is executed, and when a key is revoked, relative to lookups. */
  readonly changes: {
    readonly execution?: 'before' | 'beside' | 'after';
    readonly revocation?: 'after' | 'last';
  };
  readonly graceMs: number;
  readonly rate: number | undefined;
  readonly maxRequests: number;
}

/** Bounds of a run, and the number of active keys of the partner. */
export interface Bounds {
  readonly maxDurationMs: number;
  readonly keys: number;
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

/** Requests that follow the execution of a deposit, and the revocation of a key. */
const [AFTER_EXECUTION, AFTER_REVOCATION] = [45, 105];

/** Requests that show other keys, other requests and the recovery of a limited key. */
const PROBES = 10;

/** One request, to be sent `left` times. */
interface Item {
  readonly cost: 0 | 1;
  /** Whether it likely counts in the end. */
  readonly counts: boolean;
  /** The key it needs; undefined for any key of the partner, empty for none that is accepted. */
  readonly key: string | undefined;
  readonly group: string;
  readonly left: number;
  readonly lookup?: Lookup;
}

/** The lookups of the ranks that give a strength, with the scenarios that follow them. */
const STAGES: readonly (readonly Lookup['rank'][])[] = [
  ['requirement', 'level'],
  ['pair', 'example'],
  ['triple', 'random'],
];

/** Walks through a run by the rules that it keeps to. Nothing is sent, and answers take no time. */
export function courseOf(setup: Setup, { maxDurationMs, keys }: Bounds): Course {
  const { scenarios, limits, rate, graceMs } = setup;
  const { execution, revocation } = setup.changes;
  const beforeMs = execution === 'before' ? graceMs : 0;
  const isLimited = scenarios.limiters.length > 0;
  const reserve = reserveOf(isLimited, setup.maxRequests, maxDurationMs);
  const most = setup.maxRequests - reserve.requests;
  const until = maxDurationMs - reserve.ms;
  const target = createTarget(limits, keys, rate, most);
  const reached: Course['reached'][number][] = [];
  const walks = endpointNames.map((endpoint) => ({ endpoint, at: beforeMs, isCut: false }));
  const both = (itemsFor: (endpoint: Endpoint) => readonly Item[], end: number, longestWaitMs: number) => {
    const results = target.walk(
      walks.map((one) => ({ ...one, items: itemsFor(one.endpoint) })),
      end,
      longestWaitMs,
    );
    for (const [nth, { at }] of results.entries()) walks[nth]!.at = at;
    return results;
  };
  // What comes after lookups that were not even looked at is not sent.
  const isCut = (endpoint: Endpoint) => walks.some((one) => one.endpoint === endpoint && one.isCut);
  const meet = () => {
    const at = Math.max(...walks.map((one) => one.at));
    for (const walk of walks) walk.at = at;
    return at;
  };
  const stage = (nth: number, longestWaitMs: number) => {
    const results = both(
      (name) => (isCut(name) ? [] : lookupItems(setup, name, nth, keys)),
      until,
      longestWaitMs,
    );
    for (const [at, { hasMore }] of results.entries()) walks[at]!.isCut ||= hasMore;
    if (results.every(({ isDone }) => isDone) && reached.length === nth && nth < 2)
      reached.push({ atMs: Math.max(...walks.map(({ at }) => at)), requests: target.requests() });
  };
  stage(0, Infinity);
  const levelsAt = Math.max(...walks.map(({ at }) => at));
  both((name) => scenarioItems(setup, name, true), until, Infinity);
  stage(1, Infinity);
  const besideMs = execution === 'beside' ? Math.max(0, levelsAt + graceMs - meet()) : 0;
  for (const walk of walks) walk.at += besideMs;
  const services = scenarios.lanes
    .flat()
    .filter(({ endpoint }) => endpoint === 'service')
    .flatMap(itemsOf).length;
  // A stated limit makes crowds smaller.
  target.spend(Object.keys(limits).length === 0 ? services : services / 4);
  both((name) => scenarioItems(setup, name, false), maxDurationMs, Infinity);
  meet();
  stage(2, SHORT_WAIT_MS);
  const afterMs = execution === 'after' || revocation === 'after' ? graceMs : 0;
  const lastMs = revocation === 'last' ? graceMs : 0;
  const changedAt = meet() + afterMs;
  target.spend(execution === undefined ? 0 : AFTER_EXECUTION);
  target.spend(revocation === undefined ? 0 : AFTER_REVOCATION);
  const { endsAt, notCompared } = crossLimits(setup, target, changedAt, maxDurationMs);
  return {
    requests: Math.min(setup.maxRequests, Math.round(target.requests())),
    durationMs: Math.min(endsAt + lastMs, maxDurationMs),
    strength: reached.length,
    sent: target.sent(),
    counted: target.counted(),
    reached,
    notCompared,
    isOutOfRequests: target.isOut(),
    changesMs: beforeMs + besideMs + afterMs + lastMs,
  };
}

/** The lookups of a stage. */
const lookupItems = ({ lookups }: Setup, endpoint: Endpoint, stage: number, keys: number): readonly Item[] =>
  lookups[endpoint]
    .filter(({ rank }) => STAGES[stage]!.includes(rank))
    .map((lookup, nth) => itemOf(lookup, `key ${1 + (nth % Math.max(1, keys - 1))}`));

/** What the scenarios of an endpoint send beside its lookups. */
const scenarioItems = ({ scenarios }: Setup, endpoint: Endpoint, isRequired: boolean): readonly Item[] =>
  scenarios.lanes
    .flat()
    .filter((one) => one.endpoint === endpoint && (one.level === 'required') === isRequired)
    .flatMap(itemsOf);

/** Crosses the limit of each endpoint, from a time (ms) on. */
function crossLimits({ scenarios, limits }: Setup, target: Target, from: number, maxDurationMs: number) {
  const notCompared: Endpoint[] = [];
  let now = from;
  for (const endpoint of endpointNames) {
    if (!scenarios.limiters.some((one) => one.endpoint === endpoint)) continue;
    const limit = limits[endpoint];
    const isCompared =
      limit === undefined || maxDurationMs - now > (REST_WINDOWS + BURST_WINDOWS) * limit.windowMs;
    if (!isCompared) notCompared.push(endpoint);
    target.spend(PROBES + (isCompared ? burstOf(endpoint, limit) : 0));
    if (limit === undefined) continue;
    now += isCompared ? explorationMs(limit.windowMs) : crossingMs(limit, maxDurationMs - now);
  }
  return { endsAt: now, notCompared };
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
function itemOf(lookup: Lookup, other: string): Item {
  const { endpoint, levels, facts, times, account, cost } = lookup;
  const plain = plainLevels(endpoint);
  const isAccepted = facts.key === 'accepted' || facts.key === 'open';
  const own = levels['active key'] === plain['active key'] ? undefined : other;
  const key = !isAccepted ? '' : levels.key === plain.key ? own : levels.key;
  // Most servers find a member by any spelling that may be right.
  const isMember = endpoint === 'user-status' && facts.parameter === 'plain' && facts.entity === 'own user';
  return { cost, counts: cost > 0 && !isMember, key, group: `${account}, ${key}`, left: times, lookup };
}

const countedItem: Item = { cost: 1, counts: true, key: undefined, group: 'scenario', left: 1 };
const freeItem: Item = { cost: 0, counts: false, key: '', group: 'free', left: 1 };

const itemsOf = ({ sends = FEW, sendsFree = 0 }: Scenario): readonly Item[] => [
  ...Array.from({ length: sends }, () => countedItem),
  ...Array.from({ length: sendsFree }, () => freeItem),
];

/** The items of an endpoint, from a time (ms) on. */
interface Walk {
  readonly endpoint: Endpoint;
  readonly at: number;
  readonly items: readonly Item[];
}

type Target = ReturnType<typeof createTarget>;

/** A target that keeps to its limits. */
function createTarget(limits: Setup['limits'], keys: number, rate: number | undefined, maxRequests: number) {
  const gapMs = rate === undefined ? 0 : 1000 / rate;
  const own = Array.from({ length: Math.max(1, keys) }, (_, nth) => `key ${nth}`);
  const sent: Lookup[] = [];
  const counted = { 'user-status': 0, 'deposit-check': 0 };
  let [state, requests, freeAt] = [newLimits(limits), 0, 0];
  let isOut = false;
  const askedBy = (endpoint: Endpoint, { cost, key }: Item, now: number): Asked => {
    if (key !== undefined || limits[endpoint] === undefined) return { endpoint, cost, key: key ?? '' };
    return { endpoint, cost, key: firstKey(state, { endpoint, cost }, own, now) };
  };
  const send = (asked: Asked, counts: boolean, now: number) => {
    requests++;
    freeAt = Math.max(freeAt, now) + gapMs;
    if (!counts) return;
    counted[asked.endpoint]++;
    if (limits[asked.endpoint] === undefined) return;
    state = reduce(state, { ...asked, kind: 'sent' });
    const times = { at: now, sentAt: now };
    state = reduce(state, {
      ...asked,
      ...times,
      kind: 'answered',
      counted: true,
      isAdmitted: true,
      policies: [],
    });
  };
  /** Sends the next item of a walk, or waits. Returns the new time; undefined if the walk is over. */
  const step = (walk: PooledWalk, until: number, longestWaitMs: number): number | undefined => {
    const now = Math.max(walk.at, freeAt);
    const turnOf = (item: Item) => nextTurn(state, askedBy(walk.endpoint, item, now), now);
    const next = now > until ? undefined : walk.pool.next(turnOf);
    if (now <= until && next === undefined) walk.isDone = true;
    if (next?.kind === 'at')
      return next.at > until || next.at - now > longestWaitMs ? undefined : Math.max(next.at, now);
    if (next?.kind !== 'send') return undefined;
    const { item } = next;
    if (requests >= maxRequests) {
      isOut = true;
      walk.pool.putBack(item);
      return undefined;
    }
    send(askedBy(walk.endpoint, item, now), item.counts, now);
    if (item.left > 1) walk.pool.putBack({ ...item, left: item.left - 1 });
    else if (item.lookup !== undefined) sent.push(item.lookup);
    return now;
  };
  return {
    requests: () => requests,
    /** Whether a request was not sent because of their number. */
    isOut: () => isOut,
    sent: () => sent,
    counted: () => counted,
    /** Takes requests that no limit holds up. */
    spend: (count: number): void => {
      requests += count;
    },
    /** Walks side by side. Returns when each ended, whether all items were sent, and if not, whether all were held. */
    walk: (from: readonly Walk[], until: number, longestWaitMs: number) => {
      const walks = from.map(({ endpoint, at, items }) => {
        const source = items.values();
        return { endpoint, at, source, pool: createPool(source, ({ group }) => group), isDone: false };
      });
      for (let active: PooledWalk[] = walks; active.length > 0;) {
        const walk = active.reduce((first, one) => (one.at < first.at ? one : first));
        const at = step(walk, until, longestWaitMs);
        if (at === undefined) active = active.filter((one) => one !== walk);
        else walk.at = at;
      }
      return walks.map(({ at, isDone, source }) => ({ at, isDone, hasMore: source.next().done !== true }));
    },
  };
}

interface PooledWalk {
  readonly endpoint: Endpoint;
  readonly pool: ReturnType<typeof createPool<Item>>;
  at: number;
  isDone: boolean;
}
