import { perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import { table } from '../requirements/catalogue.ts';
import type { Known } from '../known.ts';
import { choicesOf, lackOf } from './needs.ts';
import type { LookupRow } from '../rules/requirement.ts';
import type { Rank } from './factors.ts';
import { timesOf, type Lookup } from './lookup.ts';
import { lookupsInOrder } from './rows.ts';

/** The lookups of both endpoints, in the order in which a run sends them. */
export interface Lookups {
  /** The next lookups of an endpoint, while they have these ranks. */
  readonly next: (endpoint: Endpoint, ...ranks: readonly Rank[]) => Generator<Lookup>;
}

export interface LookupOptions {
  readonly known: Known;
  readonly seed: number;
  readonly cases: number;
  /** The lookups of an endpoint in their order; without it, they are drawn. */
  readonly plan?: typeof lookupsInOrder | undefined;
}

/** @param rows of the run: other lookups are left out */
export function createLookups(options: LookupOptions, rows: readonly LookupRow[]): Lookups {
  const sources = perEndpoint((endpoint) => {
    const source = coveredLookups(endpoint, options, rows);
    return { source, next: source.next() };
  });
  return {
    *next(endpoint, ...ranks) {
      const of = sources[endpoint];
      while (of.next.done !== true) {
        if (!ranks.includes(of.next.value.rank)) return;
        const { value } = of.next;
        of.next = of.source.next();
        yield value;
      }
    },
  };
}

/** Keeps the lookups that it draws, for one fixture and seed: what it is asked first decides. */
export function drawnOnce(plan: typeof lookupsInOrder = lookupsInOrder): typeof lookupsInOrder {
  const drawn = new Map<Endpoint, { readonly kept: Lookup[]; readonly source: Iterator<Lookup> }>();
  return function* (endpoint, known, seed) {
    const { kept, source } = drawn.get(endpoint) ?? { kept: [], source: plan(endpoint, known, seed) };
    drawn.set(endpoint, { kept, source });
    for (let nth = 0; ; nth++) {
      if (nth === kept.length) {
        const { done, value } = source.next();
        if (done === true) return;
        kept.push(value);
      }
      yield kept[nth]!;
    }
  };
}

/** A narrowed run looks at so many triples at least. */
const MIN_TRIPLES = 1000;

/** The lookups of an endpoint that some row is about. */
function* coveredLookups(
  endpoint: Endpoint,
  { known, seed, cases, plan = lookupsInOrder }: LookupOptions,
  rows: readonly LookupRow[],
): Generator<Lookup, void> {
  const own = new Set(
    rows.filter(
      (one) => lackOf(one, known) === undefined && choicesOf(one).some(([place]) => place === endpoint),
    ),
  );
  // Without an active key, there are no lookups to draw.
  if (own.size === 0) return;
  let left = cases;
  // Triples never end, and few of them may be about these rows.
  let triples = Math.max(cases, MIN_TRIPLES);
  for (const lookup of plan(endpoint, known, seed)) {
    if (left === 0 || (lookup.rank === 'triple' && triples-- === 0)) return;
    const isAbout = (row: LookupRow) => own.has(row) && (row.kind !== 'repetition' || timesOf(lookup) > 1);
    if (!table.coverOf(lookup.facts).rows.some(isAbout)) continue;
    left--;
    yield lookup;
  }
}
