import { perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import { table } from '../catalogue/catalogue.ts';
import type { Facts } from '../catalogue/facts.ts';
import type { Known } from '../catalogue/known.ts';
import type { Levels, Rank } from '../model/factors.ts';
import { factsOfLevels } from '../model/lookup-levels.ts';
import { pathOf, requestAt } from '../model/path.ts';
import { rowsInOrder, type Row } from '../model/rows.ts';
import { costOf } from '../limits/limit.ts';
import { choicesOf, lackOf } from '../catalogue/needs.ts';
import type { Request } from '../request.ts';
import type { LookupRow } from '../catalogue/requirement.ts';

/** A lookup that a run sends. */
export interface Lookup {
  readonly endpoint: Endpoint;
  readonly levels: Levels;
  /** Its name, which replays it. */
  readonly path: string;
  readonly facts: Facts;
  /** Rows about this lookup. */
  readonly rows: readonly LookupRow[];
  readonly rank: Rank;
  readonly times: number;
  readonly isAlone: boolean;
  /** Whether it may count at the limiter. */
  readonly cost: 0 | 1;
  /** Lookups with the same account have to wait for the same limiter. */
  readonly account: string;
  /** Draws the request, always the same. */
  readonly request: () => Request;
}

/** The lookups of both endpoints, in the order in which a run sends them. */
export interface Lookups {
  /** The next lookups of an endpoint, while they have these ranks. */
  readonly next: (endpoint: Endpoint, ...ranks: readonly Rank[]) => Generator<Lookup>;
}

export interface LookupOptions {
  readonly known: Known;
  readonly seed: number;
  readonly cases: number;
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

/** A narrowed run looks at so many triples at least. */
const MIN_TRIPLES = 1000;

/** The lookups of an endpoint that some row is about. */
function* coveredLookups(
  endpoint: Endpoint,
  { known, seed, cases }: LookupOptions,
  rows: readonly LookupRow[],
): Generator<Lookup, void> {
  const own = new Set(
    rows.filter(
      (one) => lackOf(one, known) === undefined && choicesOf(one).some(([place]) => place === endpoint),
    ),
  );
  let left = own.size === 0 ? 0 : cases;
  // Triples never end, and few of them may be about these rows.
  let triples = Math.max(cases, MIN_TRIPLES);
  for (const row of rowsInOrder(endpoint, known, seed)) {
    if (left === 0 || (row.rank === 'triple' && triples-- === 0)) return;
    const one = sharedLookupOf(endpoint, row, known, seed);
    if (!one.rows.some((about) => own.has(about) && (about.kind !== 'repetition' || one.times > 1))) continue;
    left--;
    yield one;
  }
}

/** The last lookup of each row: a run, its estimate and the next run with the same fixture share it and its request. */
const made = new WeakMap<Row, { readonly known: Known; readonly lookup: Lookup }>();

function sharedLookupOf(endpoint: Endpoint, row: Row, known: Known, seed: number): Lookup {
  const before = made.get(row);
  if (before?.known === known) return before.lookup;
  const lookup = lookupOf(endpoint, row, known, seed);
  made.set(row, { known, lookup });
  return lookup;
}

function lookupOf(endpoint: Endpoint, { levels, at, rank }: Row, known: Known, seed: number): Lookup {
  const facts = factsOfLevels(endpoint, levels);
  const cost = costOf(facts);
  const isAccepted = facts.key === 'accepted' || facts.key === 'open';
  let request: Request | undefined;
  return {
    endpoint,
    levels,
    path: pathOf(endpoint, levels, at),
    facts,
    rows: table.coverOf(facts).rows,
    rank,
    times: levels.repetition === 'once' ? 1 : 3,
    isAlone: levels.load === 'alone',
    cost,
    account: isAccepted ? `${levels.key}, ${levels['active key']}, ${cost}` : 'none',
    request: () => (request ??= requestAt(endpoint, levels, known, seed, at)),
  };
}
