import * as fc from 'fast-check';
import { defined } from '../../schemas/values.ts';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Answer } from '../answer.ts';
import { exampleGates, requestsOf } from '../plan/drawing.ts';
import { plainLevels } from '../plan/factors.ts';
import { isFeasible } from '../plan/lookup-levels.ts';
import { factsWith, seedOf, type Lookup } from '../plan/lookup.ts';
import type { Facts } from '../rules/facts.ts';
import { factsOf } from '../rules/facts-of-request.ts';
import type { Known } from '../known.ts';
import { fingerprint, idOf, type Request } from '../request.ts';
import type { LookupRow, FactorName, Levels } from '../rules/requirement.ts';
import type { Exchange } from '../rules/scenario-context.ts';
import { findingsOf, type Failure, type Tally } from '../judging/tally.ts';
import { createComparison, viewOf, type Outcome, type View } from './comparison.ts';

/** What `explain` needs from a run. */
export interface ExplainContext {
  readonly known: Known;
  readonly seed: number;
  readonly tally: Tally;
  /** Sends a lookup again. Its answer is judged like any other. */
  readonly send: (request: Request) => Promise<Exchange>;
  /** Whether the budget for explanations is used up. */
  readonly isOver: () => boolean;
}

/** A lookup that showed something. */
export interface Probe {
  readonly request: Request;
  readonly hasFailed: boolean;
}

/** A lookup with its levels. */
interface ProbeWithLevels extends Probe {
  readonly levels: Levels;
  /** How often its id was asked for with this key, this time included. */
  readonly asked: number;
}

/** Which lookups to draw for some levels. */
export interface Wanted {
  /** Only ids that this run has not asked for with the same key. */
  readonly isFresh?: boolean;
  /** Whether a request is wanted. */
  readonly fits?: (request: Request) => boolean;
  /** Whether to keep the example of the gate that failed. */
  readonly keepsExample?: boolean;
}

export type Prober = ReturnType<typeof createProber>;

/** Number of requests from which those to send are chosen. */
const SAMPLE = 96;

/** How often a lookup is sent whose levels say that it is repeated. */
const REPEATED = 3;

/** Sends lookups that are like a failure, and says which of them fail in the same way. */
export function createProber(row: LookupRow, failure: Failure, context: ExplainContext) {
  const { tally, seed } = context;
  const { endpoint } = failure.exchange.request;
  const view = viewOf(failure, context.known);
  const { isComparable, outcomeOf } = createComparison(row, failure, context);
  const observed: ProbeWithLevels[] = [];
  let logged: readonly ProbeWithLevels[] | undefined;
  const example = view.otherKey === undefined ? exampleOf(failure.lookup) : undefined;
  let draws = 0;
  /** The next number of a draw, for paths: each draws other requests. */
  const nextDraw = () => draws++;

  return {
    ...view,
    failure,
    endpoint,
    seed,
    /** Whether its row is about equal lookups. */
    isRepetition: row.kind === 'repetition',
    nextDraw,
    isOver: context.isOver,
    /** The facts of lookups with these levels; those of the failure if the fixture allows none. */
    factsOf: (levels: Levels): Facts =>
      factsWith(endpoint, levels, view.known) ?? factsOf(view.known, failure.exchange.request)!,
    /** What is wrong with an answer. Answers to what is asked again are not judged as repeated. */
    verdictOf: (answer: Answer) =>
      findingsOf(tally, answer).find(
        (one) => (one.row === row || row.kind === 'repetition') && one.verdict.kind === 'failed',
      )?.verdict,
    /** Whether the failing answer would also be wrong for this lookup. */
    canFail: isComparable,
    /** Sends a lookup; a repeated one again until it fails. */
    ask: async (request: Request, levels: Levels): Promise<{ outcome: Outcome; sent?: Exchange }> => {
      let sent: Exchange | undefined;
      for (let left = levels.repetition === 'once' ? 1 : REPEATED; left > 0; left--) {
        if (context.isOver()) return { outcome: 'unknown' };
        sent = await context.send(request);
        const outcome = outcomeOf(sent.request, sent.reply);
        if (outcome === 'unknown') return { outcome, sent };
        const hasFailed = outcome === 'fails';
        observed.push({ request, levels, hasFailed, asked: tally.history.asked(sent.request) });
        if (hasFailed) return { outcome, sent };
      }
      return { outcome: 'passes', ...defined({ sent }) };
    },
    /** Whether an example of its levels failed. */
    hasExample: example !== undefined,
    /** Its number, if it is an id close to a known one. */
    nearPick: example?.isNear === true ? example.pick : undefined,
    /** New lookups for which the failing answer would be wrong. */
    draw: (levels: Levels, wanted: Wanted): readonly Request[] => {
      const { isFresh, fits, keepsExample } = wanted;
      const pick = keepsExample === true ? example?.pickFor(levels) : undefined;
      const how = { seed: seedOf(seed, nextDraw()), numRuns: SAMPLE, pick };
      const drawn = sample(endpoint, levels, view.known, how);
      const fitting = drawn.filter((one) => isComparable(one) && fits?.(one) !== false);
      return inOrder(fitting, tally.history, isFresh);
    },
    /** Whether a lookup with these levels can be compared with the failure. */
    isComparable: (levels: Levels): boolean =>
      sample(endpoint, levels, view.known, { seed: seedOf(seed, 0), numRuns: 4 }).some(isComparable),
    /** Lookups of the run and of this explanation, with what they show. */
    observations: (): readonly ProbeWithLevels[] => [
      ...(logged ??= loggedIn(context, view, isComparable).flatMap(({ reply, ...one }) => {
        const outcome = outcomeOf(one.request, reply);
        return outcome === 'unknown' ? [] : [{ ...one, hasFailed: outcome === 'fails' }];
      })),
      ...observed,
    ],
  };
}

/** The lookups of the run without other keys, and their levels. */
const loggedIn = (
  { tally }: ExplainContext,
  { hasSameKey, levelsOf }: View,
  isWanted: (request: Request) => boolean,
) =>
  tally.log
    .filter(({ request }) => hasSameKey(request) && isWanted(request))
    .map(({ request, lookup, reply, asked }) => ({
      request,
      reply,
      asked,
      levels: levelsOf(lookup.levels, request),
    }));

/** Different requests with these levels; none if the fixture has no such entity. */
function sample(
  endpoint: Endpoint,
  levels: Levels,
  known: Known,
  { pick, ...how }: { readonly seed: number; readonly numRuns: number; readonly pick?: number | undefined },
): readonly Request[] {
  if (!isFeasible(endpoint, levels, known)) return [];
  const drawn = fc.sample(fc.noBias(requestsOf(endpoint, levels, known, pick)), how);
  return [...new Map(drawn.map((one) => [fingerprint(one), one])).values()];
}

/** An id comes once before one comes again, and those come first that were not asked for. */
function inOrder(
  requests: readonly Request[],
  history: Tally['history'],
  isFresh = false,
): readonly Request[] {
  const places = new Map<string, number>();
  return requests
    .flatMap((request) => {
      const asked = history.asked(request);
      const place = places.get(idOf(request)) ?? 0;
      places.set(idOf(request), place + 1);
      return isFresh && asked > 0 ? [] : [{ request, place, asked: Math.min(asked, REPEATED) }];
    })
    .toSorted((one, other) => one.place - other.place || one.asked - other.asked)
    .map(({ request }) => request);
}

/** The example of a lookup: of the one gate that is not plain, or of ids close to known ones. */
function exampleOf(lookup: Lookup | undefined) {
  if (lookup === undefined) return undefined;
  const { levels, place } = lookup;
  const { pick } = place;
  const plain = plainLevels('deposit-check');
  const odd = exampleGates.filter((name) => levels[name] !== plain[name]);
  const isNear = odd.length === 0 && levels.situation === 'unknown';
  if (pick === undefined || (odd.length !== 1 && !isNear)) return undefined;
  const gates: readonly FactorName[] = isNear ? [...exampleGates, 'situation'] : exampleGates;
  const isExample = (others: Levels) => gates.every((name) => others[name] === levels[name]);
  const pickFor = (others: Levels) => (isExample(others) ? pick : undefined);
  return { pick, isNear, pickFor };
}
