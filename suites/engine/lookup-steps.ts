import { perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import { NOT_SENT, trouble, type Trouble } from '../answer.ts';
import type { LookupRow } from '../rules/requirement.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { askedBy, costOf } from '../limits/limit.ts';
import type { Coverage } from '../plan/coverage.ts';
import type { Rank } from '../plan/factors.ts';
import { lookupOfPath, timesOf, type Lookup } from '../plan/lookup.ts';
import { createLookups } from '../plan/lookups.ts';
import { lookupOf, type Request } from '../request.ts';
import type { Budget } from './budget.ts';
import type { Findings } from './findings.ts';
import { troubleAt } from './losses.ts';
import { createPool } from './pool.ts';
import type { RunOptions } from './run-options.ts';
import type { Sender } from './sender.ts';
import { settle } from './suspects.ts';
import { addMissing, isSilenceJudged } from '../judging/missing.ts';
import type { Tally } from '../judging/tally.ts';
import type { Lane, Step } from './tasks.ts';

/** A lookup, and how often it is still to be sent. */
interface Item {
  readonly lookup: Lookup;
  readonly left: number;
  /** How it was lost before: a bad network loses some lookups even with retries, and an id may be limited alone. */
  readonly lostBy?: Trouble;
}

/** What a step knows of its lookups. */
interface Pending {
  /** Those that were lost once. They are sent again at the end of the step. */
  readonly lost: Item[];
  readonly putBack: (item: Item) => void;
}

interface LookupStepOptions extends Pick<
  RunOptions,
  'known' | 'seed' | 'cases' | 'plan' | 'clock' | 'concurrency' | 'isEnough'
> {
  readonly rows: readonly LookupRow[];
  readonly tally: Tally;
  readonly coverage: Coverage;
  readonly sender: Pick<Sender, 'send' | 'turnOf' | 'losses'>;
  readonly budget: Budget;
  readonly failing: Findings['failing'];
  /** When lookups of an endpoint end, in ms of the clock. */
  readonly endOfLookups: (endpoint: Endpoint) => number;
  /** How many lookups of a step that were lost are sent once more. */
  readonly maxLost: number;
}

interface StepOptions {
  /** The longest wait for a limiter, in ms. */
  readonly longestWaitMs?: number;
  readonly holds?: boolean;
}

/** Sends single lookups, and records those without an answer. */
function createItems(options: LookupStepOptions) {
  const { known, sender, budget, tally, coverage, endOfLookups, maxLost } = options;
  const { losses } = sender;
  /** Whether lookups were left out, because of a limiter or a bound. */
  let isCut = false;
  /** Whether a lookup timed out twice: later ones are not retried, because each would take as long. */
  let isHanging = false;

  /** Records a lookup that got no answer. */
  const recordUnanswered = async (lookup: Lookup, request: Request, reply: Trouble): Promise<void> => {
    addMissing(tally, request, reply, lookup);
    const isSilent = reply.code === 'network' || reply.code === 'timeout';
    // If the target answers this lookup, the hostile one caused the silence.
    if (isSilent && isSilenceJudged(tally, request))
      await sender.send(lookupOf(request.endpoint, findableId(request.endpoint, known)));
  };

  /** Sends a lookup as often as its levels say, unless a limiter refuses it. */
  const sendItem = async (item: Item, { lost, putBack }: Pending): Promise<void> => {
    const { lookup, lostBy } = item;
    const until = endOfLookups(lookup.endpoint);
    for (let { left } = item; left > 0; left--) {
      const exchange = await sender.send(lookup.request, { of: 'lookups', lookup, until, isNow: true });
      const { reply } = exchange;
      if (reply.kind === 'answer' && reply.status !== 429) continue;
      if (reply.kind === 'answer' || reply.code === 'rate-limited') return putBack({ ...item, left });
      const isAskedAgain =
        reply.code === 'network' || reply.code === 'id-limited' || (reply.code === 'timeout' && !isHanging);
      // One of several keys is lost: others ask for the same.
      if (reply.code === 'key-lost' && troubleAt(losses, lookup.endpoint) === undefined) return undefined;
      if (isAskedAgain && reply.isJudged !== true && lostBy === undefined && lost.length < maxLost)
        return void lost.push({ ...item, left, lostBy: reply });
      isHanging ||= reply.code === 'timeout';
      // If it was not sent again, the first reply tells more.
      const told = reply.words === NOT_SENT ? (lostBy ?? reply) : reply;
      return recordUnanswered(lookup, exchange.request, told);
    }
    coverage.take(lookup.endpoint, lookup.levels);
  };

  /** Records lookups for which the run had no time or requests left. */
  const leaveOut = async (items: readonly Item[], until: number): Promise<void> => {
    const [first] = items;
    const end = budget.ended(until) ?? (first && troubleAt(losses, first.lookup.endpoint));
    isCut ||= end !== undefined || items.length > 0;
    const why = end ?? trouble('rate-limited', 'the key is rate-limited');
    for (const { lookup, lostBy } of items)
      if (lostBy?.code === 'id-limited') await recordUnanswered(lookup, lookup.request, lostBy);
      else if (lookup.rank === 'requirement' || lookup.rank === 'level')
        await recordUnanswered(lookup, lookup.request, why);
  };

  return { sendItem, leaveOut, recordUnanswered, isCut: () => isCut };
}

export type LookupSteps = ReturnType<typeof createLookupSteps>;

/** Sends the lookups of a run, in steps, and records those without an answer. */
export function createLookupSteps(options: LookupStepOptions) {
  const { known, clock, sender, budget, endOfLookups } = options;
  const lookups = createLookups(options, options.rows);
  const { sendItem, leaveOut, recordUnanswered, isCut } = createItems(options);
  /** Lookups in flight, for each endpoint: one may wait for its limiter while the other goes on. */
  const lanes = perEndpoint((): Lane => ({ most: options.concurrency, isOfLookups: true, inFlight: 0 }));

  /** Lookups of an endpoint. Those that need not wait for a limiter pass those that do. */
  const step = (
    endpoint: Endpoint,
    ranks: readonly [Rank, ...Rank[]],
    { longestWaitMs = Infinity, ...more }: StepOptions = {},
  ): Step => {
    const lost: Item[] = [];
    const pool = createPool(itemsOf(lookups.next(endpoint, ...ranks)), ({ lookup }) =>
      accountOf(lookup, known),
    );
    const task = (item: Item) => ({
      isAlone: item.lookup.levels.load === 'alone',
      run: () => sendItem(item, { lost, putBack: pool.putBack }),
    });
    let isOver = false;
    let isBegun = false;
    const next: Step['next'] = () => {
      const until = endOfLookups(endpoint);
      if (!isBegun) isOver = options.isEnough?.(options.failing(), endpoint, ranks[0]) === true;
      isBegun = true;
      isOver ||= (budget.ended(until) ?? troubleAt(sender.losses, endpoint)) !== undefined;
      if (isOver) return undefined;
      const first = pool.next(({ lookup }) => sender.turnOf(lookup.request));
      if (first === undefined) return lost.length === 0 ? undefined : task(lost.shift()!);
      if (first.kind === 'send') return task(first.item);
      if (first.kind === 'reply') return 'reply';
      isOver = first.kind === 'never' || first.at > until || first.at - clock.now() > longestWaitMs;
      return isOver || first.kind === 'never' ? undefined : { ...first, endpoint, until: first.at };
    };
    return {
      name: `${endpoint}: ${ranks.join('s and ')}s`,
      endpoints: [endpoint],
      lane: lanes[endpoint],
      ...more,
      next,
      end: async () => {
        await settle(sender.losses);
        await leaveOut([...pool.held(), ...lost], endOfLookups(endpoint));
      },
    };
  };

  /** Sends the lookup that a path names. */
  const replay = async (path: string): Promise<void> => {
    const lookup = lookupOfPath(path, known, options.seed);
    for (let times = timesOf(lookup); times > 0; times--) {
      const { reply } = await sender.send(lookup.request, { of: 'lookups', lookup });
      if (reply.kind === 'trouble') await recordUnanswered(lookup, lookup.request, reply);
    }
  };

  return { step, replay, isCut };
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
