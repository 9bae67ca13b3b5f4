import * as fc from 'fast-check';
import { requestsOf } from '../model/drawing.ts';
import { pathOf, requestAt, seedOf } from '../model/path.ts';
import type { Levels } from '../model/factors.ts';
import { type Request, writtenName } from '../request.ts';
import type { Exchange } from '../scenario-context.ts';
import type { Judgement } from '../engine/tally.ts';
import { drawsWith, type Base } from './base.ts';
import type { Prober } from './probe.ts';
import { fieldsLevels } from '../model/levels.ts';

/** The most lookups that are drawn to shrink a value. */
const MAX_SHRINKS = 60;

/** Shrinks the value of a lookup with these levels. The result has the path that replays it. */
export async function shrink(
  prober: Prober,
  base: Base,
  levels: Levels,
): Promise<Partial<Pick<Judgement, 'evidence' | 'path' | 'verdict'>> | undefined> {
  const { endpoint, known, seed } = prober;
  let tries = 0;
  let smallest: Exchange | undefined;
  const failsAgain = async (request: Request): Promise<boolean> => {
    if (tries++ >= MAX_SHRINKS || !prober.canFail(request)) return false;
    const { outcome, sent } = await prober.ask(request, levels);
    if (outcome !== 'fails' || sent?.reply.kind !== 'answer') return false;
    smallest = sent;
    return true;
  };
  const draw = prober.nextDraw();
  const details = await fc.check(
    fc.asyncProperty(requestsOf(endpoint, levels, known), async (request) => !(await failsAgain(request))),
    { seed: seedOf(seed, draw), numRuns: drawsWith(base, levels) },
  );
  let at: Parameters<typeof pathOf>[2] = { shrunk: `@${draw}:${details.counterexamplePath}` };
  // Only an id this close to a known one may fail.
  if (smallest === undefined && prober.nearPick !== undefined) {
    at = { pick: prober.nearPick };
    await failsAgain(requestAt(endpoint, levels, known, seed, at));
  }
  const verdict = smallest?.reply.kind === 'answer' ? prober.verdictOf(smallest.reply) : undefined;
  if (verdict === undefined || smallest === undefined) return undefined;
  const path = pathOf(endpoint, levels, at);
  return { verdict, evidence: smallest, ...(prober.isReplayable && { path }) };
}

/** How often a lookup must fail without a field, and how often it must pass without all. */
const [FAILING, PASSING] = [2, 6];

/** The evidence, and the header fields without which the lookup passes; undefined if they are not known. */
interface Reduced {
  readonly evidence: Exchange;
  readonly fields?: string;
}

/** Leaves out header fields without which the lookup still fails. Fields that go together are sent together. */
export async function reduceFields(prober: Prober, evidence: Exchange, levels: Levels): Promise<Reduced> {
  const names = Object.keys(evidence.request.headers);
  if (names.length < 2) return { evidence };
  let smallest = evidence;
  for (const name of names) {
    const { [name]: _, ...headers } = smallest.request.headers;
    const failed = await askOften(prober, { ...smallest.request, headers }, levels, FAILING, 'fails');
    if (failed?.reply.kind === 'answer') smallest = failed;
  }
  const { request } = smallest;
  const left = Object.entries(request.headers);
  const without = await askOften(prober, { ...request, headers: {} }, levels, PASSING, 'passes');
  if (left.length === 0 || without === undefined) return { evidence: smallest };
  const fields = left.map(([name, value]) => `${writtenName(name, 'capitalized')}: ${value}`);
  return { evidence: smallest, fields: `fields: ${fields.join(' and ')}` };
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
