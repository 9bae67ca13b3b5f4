import * as fc from 'fast-check';
import {
  exampleGates,
  factors,
  isFeasible,
  plainLevels,
  requestsOf,
  type Factor,
  type FactorName,
  type Levels,
} from '../model/factors.ts';
import type { Answer, Reply } from '../answer.ts';
import type { Known } from '../known.ts';
import { expectedOf, type Expected } from '../model/model.ts';
import type { Request } from '../request.ts';
import type { Exchange } from '../requirement.ts';
import type { Failure, Judge, Judgement } from './judge.ts';
import { pathOf, requestAt, seedOf } from '../model/path.ts';

/** What `explain` needs from a run. */
export interface ExplainContext {
  readonly known: Known;
  readonly seed: number;
  readonly judge: Judge;
  /** Sends a lookup again. Its answer is judged like any other. */
  readonly send: (request: Request) => Promise<Exchange>;
  /** Whether the budget for explanations is used up. */
  readonly isOver: () => boolean;
}

const REPEATS = 10;

/** Number of draws for a candidate if every lookup fails. */
const ALL_FAIL = 2;

const MAX_LEVELS = 9;

const MAX_SHRINKS = 60;

/**
 * Confirms a failure, finds its conditions, and shrinks its value. Each factor moves to its plainest level
 * while the lookup still fails. A factor is a condition if the lookup passes with other levels.
 *
 * @returns what to add to the judgement of the requirement
 */
export async function explain(
  id: string,
  failure: Failure,
  context: ExplainContext,
): Promise<Partial<Judgement>> {
  const { judge, known, seed } = context;
  const { exchange, origin, verdict } = failure;
  const fails = (request: Request, reply: Reply) => {
    if (reply.kind !== 'answer') return exchange.reply.kind === 'trouble';
    // What is only advised against is no failure of another requirement.
    const advised = expectedOf(known, request)?.advised?.id;
    return judge
      .findings(reply)
      .filter((one) => one.id === id || one.id !== advised)
      .some((one) => one.verdict.kind === 'failed' && one.verdict.aspect === verdict.aspect);
  };
  const failsNow = async (request: Request) => fails(request, (await context.send(request)).reply);

  let wrong = 1;
  let sent = 1;
  for (; sent <= REPEATS && !context.isOver(); sent++) if (await failsNow(exchange.request)) wrong++;
  const intermittent = wrong < sent ? { intermittent: { failed: wrong, of: sent } } : {};
  if (origin === undefined || wrong <= 1) return intermittent;

  const { endpoint } = exchange.request;
  const plain = plainLevels(endpoint);
  const signatureOf = (expected: Expected | undefined) => {
    const correct = expected?.correct ?? [];
    return (correct.find((one) => one.id === id) ?? correct[0])?.outcome ?? 'hostile';
  };
  const signature = signatureOf(expectedOf(known, exchange.request));
  /** Whether the failing answer would also be wrong for another lookup: if not, another answer shows nothing. */
  const isComparable = (request: Request) => {
    const expected = expectedOf(known, request);
    return (
      expected !== undefined &&
      signatureOf(expected) === signature &&
      (exchange.reply.kind === 'trouble' ||
        judge
          .findingsOf(expected, exchange.reply)
          .some((one) => one.verdict.kind === 'failed' && (one.id === id || one.id !== expected.advised?.id)))
    );
  };
  let nth = 0;
  let entities = known;
  const sample = (levels: Levels, numRuns: number, example?: number) =>
    fc.sample(requestsOf(endpoint, levels, entities, example), { seed: seedOf(seed, nth++), numRuns });
  /** The share of lookups that fail decides how many lookups to draw for a candidate. */
  const drawsFor = async (example?: number): Promise<number> => {
    const requests = sample(origin.levels, 6, example);
    let failing = 0;
    for (const request of requests) if (!context.isOver() && (await failsNow(request))) failing++;
    const share = Math.min(0.9, Math.max(failing / requests.length, 0.1)) * (wrong / sent);
    return Math.min(40, Math.max(ALL_FAIL, Math.ceil(Math.log(0.02) / Math.log(1 - share))));
  };
  const drawsOfAll = await drawsFor();
  let draws = drawsOfAll;
  // If only some entities fail, others show nothing: they differ in more than their levels.
  if (draws > ALL_FAIL) {
    entities = onlyEntityOf(exchange.request, known);
    if (entities !== known) draws = await drawsFor();
    if (draws > ALL_FAIL) [entities, draws] = [known, drawsOfAll];
  }
  // Other examples of the same level may pass, so it is kept while other factors move.
  const odd = exampleGates.filter((name) => origin.levels[name] !== plain[name]);
  const isNear = odd.length === 0 && origin.levels.situation === 'unknown';
  const number = odd.length === 1 || isNear ? /#(\d+)$/.exec(origin.path)?.[1] : undefined;
  const example = number === undefined ? undefined : Number(number);
  const exampleDraws = example === undefined ? draws : await drawsFor(example);
  const decisive = isNear ? ([...exampleGates, 'situation'] as const) : exampleGates;
  const hasExample = (levels: Levels) => decisive.every((name) => levels[name] === origin.levels[name]);

  const probe = async (levels: Levels): Promise<'fails' | 'passes' | 'other'> => {
    if (!isFeasible(endpoint, levels, entities)) return 'other';
    const drawn = hasExample(levels) ? sample(levels, exampleDraws, example) : sample(levels, draws);
    const requests = drawn.filter(isComparable);
    if (requests.length === 0) return 'other';
    for (const request of requests) {
      if (context.isOver()) return 'other';
      for (let times = levels.repetition === 'once' ? 1 : 3; times > 0; times--) {
        const { reply } = await context.send(request);
        if (fails(request, reply)) return 'fails';
        if (reply.kind === 'trouble') return 'other';
        const own = judge.findings(reply).filter((one) => one.id === id);
        if (own.some((one) => one.verdict.kind === 'failed')) return 'other';
        // Several answers are correct, and this is one that the requirement does not ask for.
        if (own.length === 0 && expectedOf(known, request)!.correct.length > 1) return 'other';
      }
    }
    return 'passes';
  };

  // It failed because it was repeated.
  const isRepeated = id.endsWith('/repeatable');
  const needed = new Set<FactorName>();
  let levels: Levels = isRepeated ? { ...origin.levels, repetition: 'three times' } : origin.levels;
  for (const { name } of factors[endpoint]) {
    if (levels[name] === plain[name]) continue;
    let candidate: Levels = { ...levels, [name]: plain[name] };
    let result = await probe(candidate);
    if (result === 'other' && name === 'key') {
      // Another partner's key finds only that partner's data, so key and situation move together.
      candidate = { ...candidate, situation: plain.situation };
      result = await probe(candidate);
    }
    if (result === 'fails') levels = candidate;
    if (result === 'passes') needed.add(name);
  }
  const where = isRepeated ? ['repetition: three times'] : [];
  if (entities !== known) where.unshift('entity: some, not all');
  for (const factor of factors[endpoint]) {
    const isPlainGate = factor.isGate && levels[factor.name] === plain[factor.name];
    if (isPlainGate || (isRepeated && factor.name === 'repetition')) continue;
    const condition =
      (await conditionOf(factor, levels, probe)) ??
      (needed.has(factor.name) ? `${factor.name}: ${levels[factor.name]}` : undefined) ??
      (await conditionInOtherSituation(factor));
    if (condition !== undefined) where.push(condition);
  }
  return { ...intermittent, where, ...(await shrunk()) };

  /** Another key may see the same entity, which shows nothing. So another failing situation is used. */
  async function conditionInOtherSituation(factor: Factor): Promise<string | undefined> {
    if (!factor.isGate) return undefined;
    const situation = factors[endpoint].find(({ name }) => name === 'situation')!;
    for (const level of situation.levels) {
      const row = { ...levels, situation: level };
      if (level === levels.situation || (await probe(row)) !== 'fails') continue;
      const condition = await conditionOf(factor, row, probe);
      if (condition !== undefined) return condition;
    }
    return undefined;
  }

  async function shrunk(): Promise<Pick<Judgement, 'evidence' | 'path' | 'verdict'> | undefined> {
    const arbitrary = requestsOf(endpoint, levels, known);
    let tries = 0;
    let smallest: { readonly exchange: Exchange; readonly answer: Answer } | undefined;
    const draw = nth++;
    const failsAgain = async (request: Request) => {
      if (tries++ >= MAX_SHRINKS || context.isOver()) return false;
      if (signatureOf(expectedOf(known, request)) !== signature) return false;
      for (let times = levels.repetition === 'once' ? 1 : 3; times > 0; times--) {
        const sentNow = await context.send(request);
        if (sentNow.reply.kind !== 'answer' || !fails(request, sentNow.reply)) continue;
        smallest = { exchange: sentNow, answer: sentNow.reply };
        return true;
      }
      return false;
    };
    const details = await fc.check(
      fc.asyncProperty(arbitrary, async (request) => !(await failsAgain(request))),
      { seed: seedOf(seed, draw), numRuns: drawsOfAll },
    );
    let at: { readonly pick?: number; readonly shrunk?: string } = {
      shrunk: `@${draw}:${details.counterexamplePath}`,
    };
    // Only an id this close to a known one may fail.
    if (isNear && example !== undefined && details.counterexamplePath === null) {
      at = { pick: example };
      await failsAgain(requestAt(endpoint, levels, known, seed, at));
    }
    const found =
      smallest &&
      judge.findings(smallest.answer).find((one) => one.id === id && one.verdict.kind === 'failed');
    return (
      found && {
        verdict: found.verdict,
        evidence: smallest!.exchange,
        path: pathOf(endpoint, levels, at),
      }
    );
  }
}

/** The fixture without entities other than the one that a lookup asks for; unchanged if there is none. */
function onlyEntityOf(request: Request, known: Known): Known {
  const { user, deposit } = expectedOf(known, request) ?? {};
  if (deposit !== undefined)
    return { ...known, depositById: new Map([[deposit.reference_id.toLowerCase(), deposit]]) };
  return user === undefined ? known : { ...known, userById: new Map([[user.user_id.toLowerCase(), user]]) };
}

/** The levels of a factor with which a lookup fails; undefined if it does not pass with any other. */
async function conditionOf(
  { name, levels: all }: Factor,
  levels: Levels,
  probe: (levels: Levels) => Promise<'fails' | 'passes' | 'other'>,
): Promise<string | undefined> {
  const others = all.filter((level) => level !== levels[name]);
  const step = Math.max(1, Math.ceil(others.length / MAX_LEVELS));
  const failing = [levels[name]];
  let passes = false;
  for (let at = 0; at < others.length; at += step) {
    const result = await probe({ ...levels, [name]: others[at]! });
    if (result === 'fails') failing.push(others[at]!);
    passes ||= result === 'passes';
  }
  if (!passes) return undefined;
  const isAnyOther = failing.length === all.length - 1 && failing.length > 2 && !failing.includes(all[0]!);
  return `${name}: ${isAnyOther ? `other than ${all[0]}` : failing.join(' or ')}`;
}
