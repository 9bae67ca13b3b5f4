import type { Endpoint } from '../schemas/endpoints.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import { combinationsOf, totalOf } from './covering.ts';
import { factors, isFeasible, missingLevels, type Levels } from './factors.ts';
import type { Known } from './known.ts';

/** How much of the covering array a run has tried. */
export interface Coverage {
  /** A lookup with these levels was answered. */
  readonly take: (endpoint: Endpoint, levels: Levels) => void;
  readonly figures: () => Pick<RunRecord, 'strength' | 'coverage'>;
}

export function createCoverage(known: Known, endpoints: readonly Endpoint[]): Coverage {
  const covered = [1, 2, 3].map(() => new Set<string>());
  const total = (strength: number) =>
    endpoints.reduce(
      (sum, endpoint) =>
        sum + totalOf(factors[endpoint], (levels) => isFeasible(endpoint, levels, known), strength),
      0,
    );
  return {
    take: (endpoint, levels) => {
      for (const strength of [1, 2, 3])
        for (const name of combinationsOf(factors[endpoint], levels, strength))
          covered[strength - 1]!.add(endpoint + name);
    },
    figures: () => {
      const [singles, pairs, triples] = covered.map(({ size }) => size) as [number, number, number];
      const [ofSingles, ofPairs, ofTriples] = [1, 2, 3].map(total) as [number, number, number];
      const isWhole = [singles >= ofSingles, pairs >= ofPairs, triples >= ofTriples];
      const strength = isWhole.findIndex((whole) => !whole);
      return {
        strength: strength < 0 ? 3 : strength,
        coverage: {
          pairs: [pairs, ofPairs],
          triples: [triples, ofTriples],
          missing: endpoints.flatMap((endpoint) =>
            missingLevels(endpoint, known).map((level) => `${endpoint}, ${level}`),
          ),
        },
      };
    },
  };
}
