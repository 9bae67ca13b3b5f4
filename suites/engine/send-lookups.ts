import type { Endpoint } from '../../schemas/endpoints.ts';
import { NOT_SENT, trouble, type Trouble } from '../answer.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { askedBy } from '../limits/costs.ts';
import type { Rank } from '../model/factors.ts';
import { SHORT_WAIT_MS } from '../limits/limit.ts';
import { sleep, untilReply } from '../limits/limiter.ts';
import { lookupOf, type Request } from '../request.ts';
import type { Lookup } from './lookups.ts';
import { createPool } from './pool.ts';
import type { RunState } from './run-state.ts';
import { addMissing, isSilenceJudged } from './tally.ts';

/** Which lookups to send, and how long to wait for a limiter. */
export interface LookupsToSend {
  readonly endpoint: Endpoint;
  readonly ranks: readonly [Rank, ...Rank[]];
  /** The longest single wait, in ms. */
  readonly longestWaitMs?: number;
  /** Called after each lookup, with their number. */
  readonly onSent?: (sent: number) => void;
  /** Called before a long wait. */
  readonly onLongWait?: () => void;
  /** Whether lookups that may count must wait for others. */
  readonly isBehind?: () => boolean;
}

/** A lookup, and how often it is still to be sent. */
interface Item {
  readonly lookup: Lookup;
  readonly left: number;
  /** How it was lost before: a bad network loses some lookups even with retries. */
  readonly lostBy?: Trouble;
}

/** Sends lookups concurrently. Those that need not wait for a limiter pass those that do. */
export async function sendLookups(state: RunState, what: LookupsToSend): Promise<void> {
  const { lookups, limiter, sender, budget, gate, options, known, endOfLookups } = state;
  const { endpoint, ranks, longestWaitMs = Number.POSITIVE_INFINITY, onSent, onLongWait, isBehind } = what;
  if (options.isEnough?.(state.failing(), endpoint, ranks[0]) === true) return;
  const pool = createPool(itemsOf(lookups.next(endpoint, ...ranks)), ({ lookup }) =>
    accountOf(lookup, known),
  );
  const lost: Item[] = [];
  let sent = 0;
  const sendOne = async (item: Item) => {
    const left = await gate.pass(item.lookup.isAlone, () => sendItem(state, item, lost));
    if (left > 0) pool.putBack({ ...item, left });
    else onSent?.(++sent);
  };
  /** @returns whether to go on */
  const step = async (): Promise<boolean> => {
    const until = endOfLookups(endpoint);
    if (budget.ended(until) !== undefined) return false;
    const next = pool.next(({ lookup }) =>
      lookup.cost > 0 && isBehind?.() === true ? { kind: 'reply' } : sender.turnOf(lookup.request()),
    );
    if (next === undefined) {
      const again = lost.shift();
      if (again !== undefined) await sendOne(again);
      return again !== undefined;
    }
    if (next.kind === 'never') return false;
    if (next.kind === 'send') await sendOne(next.item);
    else if (next.kind === 'reply') await untilReply(limiter);
    else {
      const { at, why } = next;
      const waitMs = at - options.clock.now();
      if (at > until || waitMs > longestWaitMs) return false;
      if (waitMs > SHORT_WAIT_MS) onLongWait?.();
      await sleep(limiter, { endpoint, until: at, why });
    }
    return true;
  };
  const worker = async () => {
    while (await step());
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  await leaveOut(state, [...pool.held(), ...lost], endOfLookups(endpoint));
}

/** Names what limits a lookup. One with another active key of the partner has that key's limit. */
const accountOf = ({ levels, account, request }: Lookup, known: Known): string =>
  levels['active key'] === 'second' ? `${account}, ${askedBy(known, request()).key}` : account;

function* itemsOf(lookups: Iterable<Lookup>): Generator<Item> {
  for (const lookup of lookups) yield { lookup, left: lookup.times };
}

/**
 * Sends a lookup as often as its row says.
 *
 * @returns how often it is still to be sent, because of a limiter
 */
async function sendItem(state: RunState, item: Item, lost: Item[]): Promise<number> {
  const { sender, coverage, covered, maxLost } = state;
  const { lookup, lostBy } = item;
  for (let { left } = item; left > 0; left--) {
    const exchange = await sender.send(lookup.request(), {
      of: 'lookups',
      path: lookup.path,
      until: state.endOfLookups(lookup.endpoint),
      isNow: true,
    });
    const { reply } = exchange;
    if (reply.kind === 'answer' && reply.status !== 429) continue;
    if (reply.kind === 'answer' || reply.code === 'rate-limited') return left;
    const isSilent = reply.code === 'network' || (reply.code === 'timeout' && !state.isHanging);
    if (isSilent && lostBy === undefined && lost.length < maxLost) {
      lost.push({ ...item, left, lostBy: reply });
      return 0;
    }
    state.isHanging ||= reply.code === 'timeout';
    // If it was not sent again, the first reply tells more.
    const told = reply.words === NOT_SENT ? (lostBy ?? reply) : reply;
    await recordUnanswered(state, exchange.request, told);
    return 0;
  }
  coverage.take(lookup.endpoint, lookup.levels);
  covered.add(lookup);
  return 0;
}

/** Records lookups for which the run had no time or requests left. */
async function leaveOut(state: RunState, items: readonly Item[], until: number): Promise<void> {
  const end = state.budget.ended(until);
  state.isCut ||= end !== undefined || items.length > 0;
  const why = end ?? trouble('rate-limited', 'the key is rate-limited');
  for (const { lookup } of items)
    if (lookup.rank === 'requirement' || lookup.rank === 'level')
      await recordUnanswered(state, lookup.request(), why);
}

/** Records a lookup that got no answer. */
export async function recordUnanswered(
  { tally, sender, known }: RunState,
  request: Request,
  reply: Trouble,
): Promise<void> {
  addMissing(tally, request, reply);
  const isSilent = reply.code === 'network' || reply.code === 'timeout';
  // If the target answers this lookup, the hostile one caused the silence.
  if (isSilent && isSilenceJudged(tally, request))
    await sender.send(lookupOf(request.endpoint, findableId(request.endpoint, known)));
}
