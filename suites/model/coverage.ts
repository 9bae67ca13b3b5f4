import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { Coverage as Covered } from '../../schemas/generated/types.ts';
import { createCounter, totalOf } from './covering.ts';
import { factors, isFeasible, missingLevels, suppliesOf, type Levels } from './factors.ts';
import type { Known } from '../known.ts';

/** How much of the covering array a run has tried. */
export interface Coverage {
  /** A lookup with these levels was answered. */
  readonly take: (endpoint: Endpoint, levels: Levels) => void;
  readonly figures: () => { readonly strength: number; readonly coverage: Covered };
}

export function createCoverage(known: Known): Coverage {
  const names = Object.keys(endpoints) as readonly Endpoint[];
  const counters = new Map(names.map((name) => [name, createCounter(factors[name])]));
  return {
    take: (endpoint, levels) => counters.get(endpoint)!.take(levels),
    figures: () => {
      const taken = names.map((name) => counters.get(name)!.figures());
      const [singles, pairs, triples] = [0, 1, 2].map((at): [number, number] => [
        taken.reduce((sum, one) => sum + one[at]!, 0),
        names.reduce((sum, name) => sum + totalsOf(name, known)[at]!, 0),
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

const totals = new Map<string, readonly number[]>();

/** The feasible combinations of one, two and three levels; counted once for equal fixtures. */
function totalsOf(endpoint: Endpoint, known: Known): readonly number[] {
  const name = `${endpoint} ${suppliesOf(endpoint, known)}`;
  const made =
    totals.get(name) ??
    [1, 2, 3].map((strength) =>
      totalOf(factors[endpoint], (levels) => isFeasible(endpoint, levels, known), strength),
    );
  totals.set(name, made);
  return made;
}
