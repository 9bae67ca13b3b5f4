import * as fc from 'fast-check';
import { NOT_SENT, type Answer, type Reply } from '../answer.ts';
import { table } from '../catalogue/catalogue.ts';
import { isLimiterAnswer } from '../catalogue/expectations.ts';
import type { Facts } from '../catalogue/facts.ts';
import { factsOf } from '../catalogue/facts-of-request.ts';
import type { Finding } from '../catalogue/judge.ts';
import { exampleGates, requestsOf } from '../model/drawing.ts';
import { plainLevels, type FactorName, type Levels, type Origin } from '../model/factors.ts';
import { isFeasible } from '../model/feasible.ts';
import { originOf, seedOf } from '../model/path.ts';
import type { Known, KnownKey } from '../catalogue/known.ts';
import { fingerprint, idOf, type Request } from '../request.ts';
import type { LookupRow } from '../catalogue/requirement.ts';
import type { Exchange } from '../scenario-context.ts';
import { findingsOf, sentAs, type Failure, type Tally } from '../engine/tally.ts';
import { levelsSeen, otherKeyOf, plainlyAsked, seenFrom } from './whose-key.ts';

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

/** A lookup that showed something. */
export interface Trial {
  readonly request: Request;
  readonly hasFailed: boolean;
}

/** A lookup with its levels. */
interface Observation extends Trial {
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
  /** What is known, if another key takes the place of the one that failed. */
  readonly known?: Known;
}

export type Prober = ReturnType<typeof createProber>;

/** Number of requests from which those to send are chosen. */
const SAMPLE = 96;

/** How often a lookup is sent whose levels say that it is repeated. */
const REPEATED = 3;

/** Sends lookups that are like a failure, and says which of them fail in the same way. */
export function createProber(row: LookupRow, failure: Failure, context: ExplainContext) {
  const { tally, seed } = context;
  const { exchange } = failure;
  const { endpoint } = exchange.request;
  // A key of another partner stays the same, like the key under test: it may be the condition.
  const otherKey = otherKeyOf(exchange.request, context.known);
  const known = otherKey === undefined ? context.known : seenFrom(otherKey, context.known);
  const isSameKey = (request: Request) => {
    const other = otherKeyOf(request, context.known);
    return other === undefined || other.key === otherKey?.key;
  };
  const levelsOf = ({ levels }: Origin, request: Request) =>
    otherKey === undefined ? levels : levelsSeen(levels, request, known);
  const start =
    failure.origin === undefined
      ? otherKey && plainlyAsked(exchange.request, otherKey, known)
      : levelsOf(failure.origin, exchange.request);
  const { isComparable, outcomeOf } = createComparison(row, failure, context);
  const observed: Observation[] = [];
  let logged: readonly Observation[] | undefined;
  let draws = 0;

  const example =
    otherKey === undefined && failure.origin
      ? exampleOf(failure.origin.levels, failure.origin.path)
      : undefined;
  const sample = (
    levels: Levels,
    at: number,
    numRuns: number,
    { pick, of = known }: { readonly pick?: number | undefined; readonly of?: Known | undefined } = {},
  ): readonly Request[] =>
    isFeasible(endpoint, levels, of)
      ? fc.sample(fc.noBias(requestsOf(endpoint, levels, of, pick)), { seed: seedOf(seed, at), numRuns })
      : [];

  return {
    failure,
    /** The levels of the failure; undefined if no lookup with levels has failed. */
    start,
    endpoint,
    known,
    /** What is known, with each other key of other partners in place of the one that failed. */
    seenFromOthers: (): readonly (readonly [KnownKey, Known])[] =>
      otherKey === undefined
        ? []
        : othersOf(otherKey, context.known).map((key) => [key, seenFrom(key, context.known)]),
    otherKey,
    seed,
    /** Whether the run draws the same requests with the same levels. */
    isReplayable:
      otherKey === undefined ||
      context.known.otherKeys.every(
        ({ key, partner }, at) =>
          (at === 0) === (key === otherKey.key) && (at === 0 || partner !== otherKey.partner),
      ),
    isOver: context.isOver,
    /** What is wrong with an answer. */
    verdictOf: (answer: Answer) =>
      findingsOf(tally, answer).find((one) => one.row === row && one.verdict.kind === 'failed')?.verdict,
    /** Whether the failing answer would also be wrong for this lookup. */
    canFail: isComparable,
    /** Sends a lookup; a repeated one again until it fails. */
    ask: async (request: Request, levels: Levels): Promise<{ outcome: Outcome; sent?: Exchange }> => {
      for (let left = levels.repetition === 'once' ? 1 : REPEATED; left > 0; left--) {
        if (context.isOver()) return { outcome: 'unknown' };
        const sent = await context.send(request);
        const outcome = outcomeOf(sent.request, sent.reply);
        if (outcome === 'unknown') return { outcome, sent };
        const hasFailed = outcome === 'fails';
        observed.push({ request, levels, hasFailed, asked: tally.history.asked(sent.request) });
        if (hasFailed) return { outcome, sent };
      }
      return { outcome: 'passes' };
    },
    /** Whether an example of its levels failed. */
    hasExample: example !== undefined,
    /** Its number, if it is an id close to a known one. */
    nearPick: example?.isNear === true ? example.pick : undefined,
    /** The next number of a draw, for paths. */
    nextDraw: () => draws++,
    /**
     * New lookups for which the failing answer would be wrong, each only once. An id comes once before one comes again,
     * and those come first that were not asked for.
     */
    draw: (levels: Levels, { isFresh, fits, keepsExample, known: of }: Wanted = {}): readonly Request[] => {
      const pick = keepsExample === true ? example?.pickFor(levels) : undefined;
      const drawn = sample(levels, draws++, SAMPLE, { pick, of });
      const different = [...new Map(drawn.map((one) => [fingerprint(one), one])).values()];
      const places = new Map<string, number>();
      return different
        .filter((one) => isComparable(one) && fits?.(one) !== false)
        .flatMap((request) => {
          const asked = tally.history.asked(request);
          const place = places.get(idOf(request)) ?? 0;
          places.set(idOf(request), place + 1);
          return isFresh === true && asked > 0 ? [] : [{ request, place, asked: Math.min(asked, REPEATED) }];
        })
        .toSorted((one, other) => one.place - other.place || one.asked - other.asked)
        .map(({ request }) => request);
    },
    /** Whether a lookup with these levels can be compared with the failure. */
    isComparable: (levels: Levels): boolean => sample(levels, 0, 4).some(isComparable),
    /** Lookups of the run and of this explanation, with what they show. */
    observations: (): readonly Observation[] => [
      ...(logged ??= tally.log
        .filter(({ request }) => request.endpoint === endpoint && isSameKey(request) && isComparable(request))
        .flatMap(({ request, path, reply, asked }) => {
          const outcome = outcomeOf(request, reply);
          const levels = levelsOf(sentAs(originOf(path, context.known), request, context.known), request);
          return outcome === 'unknown' ? [] : [{ request, asked, levels, hasFailed: outcome === 'fails' }];
        })),
      ...observed,
    ],
  };
}

/** Other keys of the same partner, and of each further partner: so many. */
const [SIBLINGS, PARTNERS] = [2, 3];

function othersOf({ key, partner }: KnownKey, { otherKeys }: Known): readonly KnownKey[] {
  const siblings = otherKeys.filter((one) => one.partner === partner && one.key !== key);
  const strangers = otherKeys.filter((one) => one.partner !== partner);
  const ofEach = [...new Map(strangers.map((one) => [one.partner, one])).values()];
  return [...siblings.slice(0, SIBLINGS), ...ofEach.slice(0, PARTNERS)];
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
