import * as fc from 'fast-check';
import { defined } from '../../schemas/values.ts';
import type { Counterexample } from '../judging/tally.ts';
import { requestsOf } from '../plan/drawing.ts';
import { factors } from '../plan/factors.ts';
import { fieldsLevels } from '../plan/levels.ts';
import { isFeasible } from '../plan/lookup-levels.ts';
import { lookupAt, lookupIfAny, seedOf, type Lookup, type Place } from '../plan/lookup.ts';
import { writtenName, type Request } from '../request.ts';
import type { Levels } from '../rules/requirement.ts';
import type { Exchange } from '../rules/scenario-context.ts';
import { drawsWith, type Base } from './base.ts';
import type { Prober } from './probe.ts';

/** The most lookups that are drawn to shrink a value. */
const MAX_SHRINKS = 60;

/** Shrinks the value of a lookup with these levels; undefined if none fails. */
export async function shrink(
  prober: Prober,
  base: Base,
  levels: Levels,
): Promise<Counterexample | undefined> {
  const { endpoint, known, seed } = prober;
  let tries = 0;
  let smallest: Counterexample | undefined;
  const failsAgain = async (request: Request): Promise<boolean> => {
    const found = tries++ < MAX_SHRINKS ? await failingAgain(prober, { request, levels }) : undefined;
    smallest = found ?? smallest;
    return found !== undefined;
  };
  const draw = prober.nextDraw();
  const details = await fc.check(
    fc.asyncProperty(requestsOf(endpoint, levels, known), async (request) => !(await failsAgain(request))),
    { seed: seedOf(seed, draw), numRuns: drawsWith(base, levels) },
  );
  let place: Place = defined({ draw, shrunk: details.counterexamplePath ?? undefined });
  // Only an id this close to a known one may fail.
  if (smallest === undefined && prober.nearPick !== undefined) {
    place = { pick: prober.nearPick };
    await failsAgain(lookupAt(endpoint, levels, place, prober).request);
  }
  return smallest && { ...smallest, lookup: lookupAt(endpoint, levels, place, prober) };
}

/** Gives a lookup one plain level after another, as long as it fails. @param kept names of factors that stay */
export async function simplify(
  prober: Prober,
  first: Counterexample,
  kept: readonly string[],
): Promise<Counterexample> {
  const { endpoint, known } = prober;
  let smallest = first;
  for (const { name, names } of factors[endpoint]) {
    const { lookup } = smallest;
    if (lookup === undefined || kept.includes(name) || lookup.levels[name] === names[0]) continue;
    const levels = { ...lookup.levels, [name]: names[0]! };
    if (isFeasible(endpoint, levels, known))
      smallest = (await lookupFailing(prober, levels, lookup.place)) ?? smallest;
  }
  return smallest;
}

/** How often a lookup must fail without a field, and how often it must pass without all. */
const [FAILING, PASSING] = [2, 6];

/** A counterexample, and the header fields without which the lookup passes; undefined if they are not known. */
interface Reduced {
  readonly smallest: Counterexample;
  readonly fields?: string;
}

/** Leaves out header fields without which a request still fails. Fields that go together are sent together. */
export async function reduceFields(prober: Prober, first: Counterexample, levels: Levels): Promise<Reduced> {
  const headersOf = ({ evidence, lookup }: Counterexample) => (lookup ?? evidence).request.headers;
  const names = Object.keys(headersOf(first));
  if (names.length < 2) return { smallest: first };
  let smallest = first;
  for (const name of names) {
    const { [name]: _, ...headers } = headersOf(smallest);
    const { lookup, evidence } = smallest;
    const found =
      lookup === undefined
        ? await failingAgain(prober, { request: { ...evidence.request, headers }, levels }, FAILING)
        : await lookupFailing(
            prober,
            lookup.levels,
            { ...lookup.place, fields: Object.keys(headers) },
            FAILING,
          );
    smallest = found ?? smallest;
  }
  const left = Object.entries(headersOf(smallest));
  const bare = { ...smallest.evidence.request, headers: {} };
  const without = left.length > 0 && (await askOften(prober, bare, levels, PASSING, 'passes'));
  if (!without) return { smallest };
  const fields = left.map(([name, value]) => `${writtenName(name, 'capitalized')}: ${value}`);
  return { smallest, fields: `fields: ${fields.join(' and ')}` };
}

/** The lookup with these levels at this place, if it fails. */
async function lookupFailing(
  prober: Prober,
  levels: Levels,
  place: Place,
  times?: number,
): Promise<Counterexample | undefined> {
  const lookup = lookupIfAny(prober.endpoint, levels, place, prober);
  const found = lookup && (await failingAgain(prober, lookup, times));
  return found && { ...found, lookup };
}

/** Asks so many times. Returns the last answer if each was wrong in the same way. */
async function failingAgain(
  prober: Prober,
  { request, levels }: Pick<Lookup, 'request' | 'levels'>,
  times = 1,
): Promise<Counterexample | undefined> {
  if (!prober.canFail(request)) return undefined;
  const evidence = await askOften(prober, request, levels, times, 'fails');
  const { failure, verdictOf } = prober;
  const verdict = evidence?.reply.kind === 'answer' ? verdictOf(evidence.reply) : failure.verdict;
  return evidence && verdict && { verdict, evidence, lookup: undefined };
}

/** Asks so many times. Returns the last exchange if each had this outcome. */
async function askOften(
  prober: Prober,
  request: Request,
  levels: Levels,
  times: number,
  wanted: 'fails' | 'passes',
): Promise<Exchange | undefined> {
  let last: Exchange | undefined;
  for (let left = times; left > 0; left--) {
    const { outcome, sent } = await prober.ask(request, levels);
    if (outcome !== wanted) return undefined;
    last = sent;
  }
  return last;
}

/** Conditions that name a field in place of a level of several fields. */
export function withField(
  where: readonly string[],
  fields: string,
  { fields: level }: Levels,
): readonly string[] {
  const isBundle = Object.keys(fieldsLevels[level]!.changes.headers ?? {}).length > 1;
  const renamed = (one: string) =>
    one.startsWith('fields: ') && isBundle ? one.replace(level, fields.slice('fields: '.length)) : one;
  return where.map(renamed);
}
