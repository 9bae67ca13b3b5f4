import type { Endpoint } from '../../schemas/endpoints.ts';
import { NOT_SENT, trouble, type Trouble } from '../answer.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known } from '../catalogue/known.ts';
import { askedBy, costOf } from '../limits/limit.ts';
import type { Rank } from '../model/factors.ts';
import { timesOf, type Lookup } from '../model/lookup.ts';
import { lookupOf, type Request } from '../request.ts';
import type { Run } from './setup.ts';
import { addMissing, isSilenceJudged } from './tally.ts';
import type { Step } from './tasks.ts';
import type { Turn } from '../limits/limiter.ts';

/** A lookup, and how often it is still to be sent. */
interface Item {
  readonly lookup: Lookup;
  readonly left: number;
  /** How it was lost before: a bad network loses some lookups even with retries. */
  readonly lostBy?: Trouble;
}

/** What a step knows of its lookups. */
interface Sending {
  /** Those that were lost once. They are sent again at the end of the step. */
  readonly lost: Item[];
  readonly putBack: (item: Item) => void;
}

/**
 * Lookups of an endpoint. Those that need not wait for a limiter pass those that do.
 *
 * @param longestWaitMs the longest wait for a limiter, in ms
 */
export function lookupStep(
  run: Run,
  endpoint: Endpoint,
  ranks: readonly [Rank, ...Rank[]],
  { longestWaitMs = Infinity, ...more }: { readonly longestWaitMs?: number; readonly holds?: boolean } = {},
): Step {
  const { lookups, sender, budget, options, known } = run;
  const lost: Item[] = [];
  const pool = createPool(itemsOf(lookups.next(endpoint, ...ranks)), ({ lookup }) =>
    accountOf(lookup, known),
  );
  const sending = { lost, putBack: pool.putBack };
  const task = (item: Item) => ({
    isAlone: item.lookup.levels.load === 'alone',
    run: () => sendItem(run, item, sending),
  });
  let isOver = false;
  let isBegun = false;
  const next: Step['next'] = () => {
    const until = run.endOfLookups(endpoint);
    if (!isBegun) isOver = options.isEnough?.(run.failing(), endpoint, ranks[0]) === true;
    isBegun = true;
    isOver ||= budget.ended(until) !== undefined;
    if (isOver) return undefined;
    const first = pool.next(({ lookup }) => sender.turnOf(lookup.request));
    if (first === undefined) return lost.length === 0 ? undefined : task(lost.shift()!);
    if (first.kind === 'send') return task(first.item);
    if (first.kind === 'reply') return 'reply';
    isOver = first.kind === 'never' || first.at > until || first.at - options.clock.now() > longestWaitMs;
    return isOver || first.kind === 'never' ? undefined : { endpoint, until: first.at, why: first.why };
  };
  return {
    name: `${endpoint}: ${ranks.join('s and ')}s`,
    endpoints: [endpoint],
    lane: run.lanes[endpoint],
    ...more,
    next,
    end: () => leaveOut(run, [...pool.held(), ...lost], run.endOfLookups(endpoint)),
  };
}

/**
 * Names what limits a lookup: lookups with the same name wait for the same limiter. One with another active key of the
 * partner has that key's limit.
 */
export function accountOf({ levels, facts, request }: Lookup, known: Known): string {
  if (facts.key !== 'accepted' && facts.key !== 'open') return 'none';
  const key = levels['active key'] === 'second' ? askedBy(known, request).key : '';
  return `${levels.key}, ${levels['active key']}, ${costOf(facts)}, ${key}`;
}

function* itemsOf(lookups: Iterable<Lookup>): Generator<Item> {
  for (const lookup of lookups) yield { lookup, left: timesOf(lookup) };
}

/** Sends a lookup as often as its row says, unless a limiter refuses it. */
async function sendItem(run: Run, item: Item, { lost, putBack }: Sending): Promise<void> {
  const { sender, coverage, maxLost } = run;
  const { lookup, lostBy } = item;
  for (let { left } = item; left > 0; left--) {
    const exchange = await sender.send(lookup.request, {
      of: 'lookups',
      lookup,
      until: run.endOfLookups(lookup.endpoint),
      isNow: true,
    });
    const { reply } = exchange;
    if (reply.kind === 'answer' && reply.status !== 429) continue;
    if (reply.kind === 'answer' || reply.code === 'rate-limited') return putBack({ ...item, left });
    const isSilent = reply.code === 'network' || (reply.code === 'timeout' && !run.isHanging);
    if (isSilent && lostBy === undefined && lost.length < maxLost)
      return void lost.push({ ...item, left, lostBy: reply });
    run.isHanging ||= reply.code === 'timeout';
    // If it was not sent again, the first reply tells more.
    const told = reply.words === NOT_SENT ? (lostBy ?? reply) : reply;
    return recordUnanswered(run, exchange.request, told);
  }
  coverage.take(lookup.endpoint, lookup.levels);
}

/** Records lookups for which the run had no time or requests left. */
async function leaveOut(run: Run, items: readonly Item[], until: number): Promise<void> {
  const end = run.budget.ended(until);
  run.isCut ||= end !== undefined || items.length > 0;
  const why = end ?? trouble('rate-limited', 'the key is rate-limited');
  for (const { lookup } of items)
    if (lookup.rank === 'requirement' || lookup.rank === 'level')
      await recordUnanswered(run, lookup.request, why);
}

/** Records a lookup that got no answer. */
export async function recordUnanswered(
  { tally, sender, known }: Run,
  request: Request,
  reply: Trouble,
): Promise<void> {
  addMissing(tally, request, reply);
  const isSilent = reply.code === 'network' || reply.code === 'timeout';
  // If the target answers this lookup, the hostile one caused the silence.
  if (isSilent && isSilenceJudged(tally, request))
    await sender.send(lookupOf(request.endpoint, findableId(request.endpoint, known)));
}

/** How many items may be held that have to wait. */
const MAX_HELD = 4096;

/** What to do next. */
export type Next<Entry> =
  { readonly kind: 'send'; readonly item: Entry } | (Turn & { readonly kind: 'at' | 'reply' | 'never' });

/** An item and its place in the order. */
interface Placed<Entry> {
  readonly item: Entry;
  readonly place: number;
}

/**
 * Items in their order, except that those that have to wait for a limiter let others pass.
 *
 * @param groupOf items of the same group have the same turn
 */
export function createPool<Entry>(source: Iterator<Entry>, groupOf: (item: Entry) => string) {
  const groups = new Map<string, Placed<Entry>[]>();
  let [held, taken, putBack] = [0, 0, 0];
  const hold = (item: Entry, place: number): string => {
    const group = groupOf(item);
    const list = groups.get(group) ?? [];
    groups.set(group, list);
    if (place < 0) list.unshift({ item, place });
    else list.push({ item, place });
    held++;
    return group;
  };
  /** Groups with items, the one with the first item first. */
  const heldGroups = () =>
    [...groups.keys()]
      .filter((group) => groups.get(group)!.length > 0)
      .toSorted((one, other) => groups.get(one)![0]!.place - groups.get(other)![0]!.place);
  const sendFirstOf = (group: string): Next<Entry> => {
    held--;
    return { kind: 'send', item: groups.get(group)!.shift()!.item };
  };
  return {
    /** The first item that may be sent now, or else the earliest turn; undefined if no item is left. */
    next: (turnOf: (item: Entry) => Turn): Next<Entry> | undefined => {
      let first: Exclude<Turn, { kind: 'now' }> | undefined;
      const waiting = new Set<string>();
      const mayGo = (group: string): boolean => {
        const turn = turnOf(groups.get(group)![0]!.item);
        if (turn.kind === 'now') return true;
        waiting.add(group);
        if (first === undefined || rank(turn) < rank(first)) first = turn;
        return false;
      };
      if (held > 0) for (const group of heldGroups()) if (mayGo(group)) return sendFirstOf(group);
      for (let room = MAX_HELD - held; room > 0; room--) {
        const { value, done } = source.next();
        if (done === true) break;
        const group = hold(value, taken++);
        if (!waiting.has(group) && mayGo(group)) return sendFirstOf(group);
      }
      return first;
    },
    /** Puts an item back, before the others. */
    putBack: (item: Entry): void => void hold(item, --putBack),
    /** Items that were not sent, as far as they are known. */
    held: (): readonly Entry[] =>
      [...groups.values()]
        .flat()
        .toSorted((one, other) => one.place - other.place)
        .map(({ item }) => item),
  };
}

/** A reply comes before any time. */
const rank = (turn: Turn) => (turn.kind === 'at' ? turn.at : turn.kind === 'never' ? Infinity : 0);
