import * as fc from 'fast-check';
import { requestsOf } from '../model/drawing.ts';
import { pathOf, requestAt, seedOf } from '../model/path.ts';
import type { Levels } from '../model/factors.ts';
import type { Request } from '../request.ts';
import type { Exchange } from '../scenario-context.ts';
import type { Judgement } from '../engine/tally.ts';
import { drawsWith, type Base } from './base.ts';
import type { Prober } from './probe.ts';

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
