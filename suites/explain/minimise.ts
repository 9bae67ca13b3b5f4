import * as fc from 'fast-check';
import { factors, plainLevels, type Levels } from '../model/factors.ts';

import { requestsOf } from '../model/drawing.ts';
import { pathOf, requestAt, seedOf } from '../model/path.ts';
import type { Request } from '../request.ts';
import type { Exchange } from '../scenario-context.ts';
import type { Judgement } from '../engine/tally.ts';
import type { Prober } from './probe.ts';
import { drawsWith, type Regime } from './regime.ts';
import { candidates, comparable, probe } from './vary.ts';

/** Moves each factor to its plain level while a lookup still fails. fast-check shrinks the levels. */
export async function minimise(prober: Prober, origin: Levels, regime: Regime): Promise<Levels> {
  const { endpoint } = prober;
  const plain = plainLevels(endpoint);
  const odd = candidates(prober, origin)
    .map(({ name }) => name)
    .filter((name) => origin[name] !== plain[name]);
  const others = factors[endpoint].find(({ name }) => name === 'situation')!.names;
  let smallest = origin;
  const failsWith = async (some: Partial<Levels>): Promise<boolean> => {
    const moved = comparable(prober, { ...origin, ...some }, origin, others);
    if (moved === undefined || (await probe(prober, moved, origin, regime, true)) !== 'fails') return false;
    smallest = moved;
    return true;
  };
  const known = new Map([[JSON.stringify(pick(origin, odd)), Promise.resolve(true)]]);
  const property = fc.asyncProperty(
    fc.record(
      Object.fromEntries(
        odd.map((name): [string, fc.Arbitrary<string>] => [name, fc.constantFrom(plain[name], origin[name])]),
      ),
    ),
    async (some) => {
      const text = JSON.stringify(pick({ ...origin, ...some }, odd));
      const fails = known.get(text) ?? failsWith(some);
      known.set(text, fails);
      return !(await fails);
    },
  );
  await fc.check(property, { examples: [[pick(origin, odd)]], numRuns: 1, seed: prober.seed });
  return smallest;
}

const pick = (levels: Levels, names: readonly (keyof Levels)[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, levels[name]]));

/** The most lookups that are drawn to shrink a value. */
const MAX_SHRINKS = 60;

/** Shrinks the value of a lookup with these levels. The result has the path that replays it. */
export async function shrink(
  prober: Prober,
  levels: Levels,
  regime: Regime,
): Promise<Pick<Judgement, 'evidence' | 'path' | 'verdict'> | undefined> {
  const { endpoint, known, seed } = prober;
  let tries = 0;
  let smallest: Exchange | undefined;
  const failsAgain = async (request: Request): Promise<boolean> => {
    if (tries++ >= MAX_SHRINKS || !prober.canFail(request)) return false;
    const { outcome, sent } = await prober.ask(request, levels, regime.sendings);
    if (outcome !== 'fails' || sent?.reply.kind !== 'answer') return false;
    smallest = sent;
    return true;
  };
  const draw = prober.nextDraw();
  const details = await fc.check(
    fc.asyncProperty(requestsOf(endpoint, levels, known), async (request) => !(await failsAgain(request))),
    { seed: seedOf(seed, draw), numRuns: drawsWith(regime, levels) },
  );
  let at: Parameters<typeof pathOf>[2] = { shrunk: `@${draw}:${details.counterexamplePath}` };
  // Only an id this close to a known one may fail.
  if (smallest === undefined && prober.nearPick !== undefined) {
    at = { pick: prober.nearPick };
    await failsAgain(requestAt(endpoint, levels, known, seed, at));
  }
  const verdict = smallest?.reply.kind === 'answer' ? prober.verdictOf(smallest.reply) : undefined;
  return verdict && smallest
    ? { verdict, evidence: smallest, path: pathOf(endpoint, levels, at) }
    : undefined;
}
