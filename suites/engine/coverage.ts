import { endpointNames as names, perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import type { Coverage } from '../../schemas/generated/types.ts';
import type { Known } from '../known.ts';
import { createCounter } from '../model/covering.ts';
import { factors, type Levels } from '../model/factors.ts';
import { missingLevels } from '../model/feasible.ts';
import { orderOf } from './order.ts';

/** Counts how much of the covering array a run has tried. */
export function createCoverage(known: Known, seed: number) {
  const counters = perEndpoint((endpoint) => createCounter(factors[endpoint]));
  return {
    /** Records that a lookup with these levels was answered. */
    take: (endpoint: Endpoint, levels: Levels): void => counters[endpoint].take(levels),
    figures: (): { readonly strength: number; readonly coverage: Coverage } => {
      const taken = names.map((name) => counters[name].figures());
      const [singles, pairs, triples] = [0, 1, 2].map((at): [number, number] => [
        taken.reduce((sum, one) => sum + one[at]!, 0),
        names.reduce((sum, name) => sum + orderOf(name, known, seed).total(at + 1), 0),
      ]) as [[number, number], [number, number], [number, number]];
      const firstCut = [singles, pairs, triples].findIndex(([covered, total]) => covered < total);
      return {
        strength: firstCut < 0 ? 3 : firstCut,
        coverage: {
          pairs,
          triples,
          missing: names.flatMap((name) => missingLevels(name, known).map((level) => `${name}, ${level}`)),
        },
      };
    },
  };
}
