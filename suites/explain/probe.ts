import * as fc from 'fast-check';
import { NOT_SENT, type Answer, type Reply } from '../answer.ts';
import { table } from '../catalogue.ts';
import { isLimiterAnswer } from '../expectations.ts';
import type { Facts } from '../facts.ts';
import { factsOf } from '../facts-of-request.ts';
import type { Finding } from '../judge.ts';
import { exampleGates, requestsOf } from '../model/drawing.ts';
import { plainLevels, type FactorName, type Levels } from '../model/factors.ts';
import { isFeasible } from '../model/feasible.ts';
import { originOf, seedOf } from '../model/path.ts';
import type { Known } from '../known.ts';
import { fingerprint, type Request } from '../request.ts';
import type { LookupRow } from '../requirement.ts';
import type { Exchange } from '../scenario-context.ts';
import { findingsOf, sentAs, type Failure, type Tally } from '../engine/tally.ts';
import { idOf, LATER, type Nth } from './history.ts';

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

/** What a lookup shows. `unknown`: nothing, for example because it got no answer. */
export type Outcome = 'fails' | 'passes' | 'unknown';

/** What the last sending of a lookup showed, and which time of asking it was. */
export interface Asked {
  readonly sent?: Exchange;
  readonly outcome: Outcome;
  readonly nth: Nth;
}

const NOBODY_KNOWS: Nth = { id: undefined, url: undefined, request: undefined };

/** A lookup with a known outcome. */
export interface Observation {
  readonly request: Request;
  readonly levels: Levels;
  readonly nth: Nth;
  readonly hasFailed: boolean;
}

/** Which lookups to draw for some levels. */
export interface Wanted {
  /** Only ids that this run has asked for at most so often with the same key. */
  readonly maxAsked?: number;
  /** Whether a request is wanted. */
  readonly fits?: (request: Request) => boolean;
  /** Whether to keep the example of the gate that failed. */
  readonly keepsExample?: boolean;
}

export type Prober = ReturnType<typeof createProber>;

/** Number of requests from which those to send are chosen. */
const SAMPLE = 96;

/** Sends lookups that are like a failure, and says which of them fail in the same way. */
export function createProber(row: LookupRow, failure: Failure, context: ExplainContext) {
  const { tally, known, seed } = context;
  const { exchange, origin } = failure;
  const { endpoint } = exchange.request;
  const { isComparable, outcomeOf } = createComparison(row, failure, context);
  const observed: Observation[] = [];
  let logged: readonly Observation[] | undefined;
  let draws = 0;

  /** Sends a request until it fails, at most so many times. */
  const ask = async (request: Request, levels: Levels, sendings = 1): Promise<Asked> => {
    let nth = NOBODY_KNOWS;
    for (let left = sendings; left > 0; left--) {
      if (context.isOver()) return { outcome: 'unknown', nth };
      const sent = await context.send(request);
      const outcome = outcomeOf(sent.request, sent.reply);
      nth = tally.history.nth(sent.request);
      if (outcome === 'unknown') return { outcome, nth, sent };
      observed.push({ request: sent.request, levels, nth, hasFailed: outcome === 'fails' });
      if (outcome === 'fails') return { outcome, nth, sent };
    }
    return { outcome: 'passes', nth };
  };

  const example = origin && exampleOf(origin.levels, origin.path);
  const sample = (levels: Levels, at: number, numRuns: number, pick?: number): readonly Request[] =>
    isFeasible(endpoint, levels, known)
      ? fc.sample(requestsOf(endpoint, levels, known, pick), { seed: seedOf(seed, at), numRuns })
      : [];

  return {
    failure,
    endpoint,
    known,
    seed,
    isOver: context.isOver,
    /** What is wrong with an answer. */
    verdictOf: (answer: Answer) =>
      findingsOf(tally, answer).find((one) => one.row === row && one.verdict.kind === 'failed')?.verdict,
    /** Whether the failing answer would also be wrong for this lookup. */
    canFail: isComparable,
    ask,
    /** Which time of asking failed. */
    nthOfFailure: tally.log.find(({ reply }) => reply === exchange.reply)?.nth ?? NOBODY_KNOWS,
    /** Whether an example of its levels failed. */
    hasExample: example !== undefined,
    /** Its number, if it is an id close to a known one. */
    nearPick: example?.isNear === true ? example.pick : undefined,
    /** The next number of a draw, for paths. */
    nextDraw: () => draws++,
    /**
     * New lookups for which the failing answer would be wrong, each only once. Those whose id was asked for least come
     * first, or those whose ids begin and end with other digits.
     */
    draw: (
      levels: Levels,
      { maxAsked = Infinity, fits = () => true, keepsExample }: Wanted = {},
    ): readonly Request[] => {
      const pick = keepsExample === true ? example?.pickFor(levels) : undefined;
      const drawn = sample(levels, draws++, SAMPLE, pick);
      const different = [...new Map(drawn.map((one) => [fingerprint(one), one])).values()];
      const wanted = different.filter(
        (one) => isComparable(one) && fits(one) && tally.history.asked(one) <= maxAsked,
      );
      return varied(wanted, (one) => tally.history.asked(one));
    },
    /** Whether a lookup with these levels can be compared with the failure. */
    isComparable: (levels: Levels): boolean => sample(levels, 0, 4).some(isComparable),
    /** Lookups of the run and of this explanation, with what they show. */
    observations: (): readonly Observation[] => [
      ...(logged ??= tally.log
        .filter(({ request }) => request.endpoint === endpoint && isComparable(request))
        .flatMap((one) => observationsOf(one, outcomeOf(one.request, one.reply), known))),
      ...observed,
    ],
  };
}

/** What a lookup of the run shows. */
function observationsOf(
  { request, path, nth }: Tally['log'][number],
  outcome: Outcome,
  known: Known,
): readonly Observation[] {
  const { levels } = sentAs(originOf(path, known), request, known);
  return outcome === 'unknown' ? [] : [{ request, nth, levels, hasFailed: outcome === 'fails' }];
}

/** The example of a lookup: of the one gate that is not plain, or of ids close to known ones. */
function exampleOf(levels: Levels, path: string) {
  const plain = plainLevels('deposit-check');
  const pick = /#(\d+)$/.exec(path)?.[1];
  const odd = exampleGates.filter((name) => levels[name] !== plain[name]);
  const isNear = odd.length === 0 && levels.situation === 'unknown';
  if (pick === undefined || (odd.length !== 1 && !isNear)) return undefined;
  const gates: readonly FactorName[] = isNear ? [...exampleGates, 'situation'] : exampleGates;
  const isExample = (others: Levels) => gates.every((name) => others[name] === levels[name]);
  const pickFor = (others: Levels) => (isExample(others) ? Number(pick) : undefined);
  return { pick: Number(pick), isNear, pickFor };
}

/**
 * Puts requests in an order in which each id comes once before one comes again, first those that were not asked for. Then
 * the digits at the ends of ids differ.
 */
function varied(requests: readonly Request[], asked: (request: Request) => number): readonly Request[] {
  const seen = new Map<string, number>();
  const timesOf = (name: string) => {
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times;
  };
  return requests
    .map((request) => {
      const id = idOf(request);
      const ends = Math.max(timesOf(`first ${id[0]}`), timesOf(`last ${id.at(-1)}`));
      return { request, rank: [timesOf(id), Math.min(asked(request), LATER), ends] as const };
    })
    .toSorted(({ rank: a }, { rank: b }) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
    .map(({ request }) => request);
}

/** Compares other lookups with a failure. */
function createComparison(row: LookupRow, { exchange, verdict }: Failure, { known, tally }: ExplainContext) {
  const hadNoAnswer = exchange.reply.kind === 'trouble';
  // What is only advised against is no failure of another requirement.
  const isRelevant = (one: Finding) =>
    one.row === row || one.row.kind !== 'answer' || one.row.level === 'required';
  const signatureOf = (facts: Facts | undefined) => {
    const right = facts === undefined ? [] : table.coverOf(facts).right;
    return (right.find((one) => one.row === row) ?? right[0])?.answer.name;
  };
  const facts = factsOf(known, exchange.request);
  const signature = signatureOf(facts);
  const allRight = new Set(facts && table.coverOf(facts).right.map(({ answer }) => answer.name));

  /** Whether the failing answer would also be wrong for another lookup: if not, another answer shows nothing. */
  const isComparable = (request: Request): boolean => {
    const others = factsOf(known, request);
    return (
      others !== undefined &&
      signatureOf(others) === signature &&
      (exchange.reply.kind === 'trouble' ||
        table
          .judge(others, exchange.reply, known)
          .some((one) => one.verdict.kind === 'failed' && isRelevant(one)))
    );
  };

  const outcomeOf = (request: Request, reply: Reply): Outcome => {
    if (reply.kind === 'trouble') {
      const isSilent = (reply.code === 'network' || reply.code === 'timeout') && reply.words !== NOT_SENT;
      return hadNoAnswer && isSilent ? 'fails' : 'unknown';
    }
    const found = findingsOf(tally, reply);
    if (found.length === 0 || isLimiterAnswer(request.endpoint, reply)) return 'unknown';
    const wrong = found.filter((one) => one.verdict.kind === 'failed');
    if (wrong.some((one) => isRelevant(one) && aspectOf(one) === verdict.aspect)) return 'fails';
    if (wrong.some((one) => one.row === row)) return 'unknown';
    // Several answers are correct, and this may be one that would be wrong for the failure: it shows nothing.
    const others = factsOf(known, request)!;
    const { right } = table.coverOf(others);
    const isRight = right.some(
      ({ answer }) => allRight.has(answer.name) && answer.expect(others)(reply).kind === 'passed',
    );
    return isRight || right.length === 1 ? 'passes' : 'unknown';
  };

  return { isComparable, outcomeOf };
}

const aspectOf = ({ verdict }: Finding) => ('aspect' in verdict ? verdict.aspect : undefined);
