import { endpointNames, perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import type { Coverage } from '../../schemas/generated/types.ts';
import type { Known } from '../known.ts';
import {
  coveringArray,
  createCounter,
  repeatable,
  rotated,
  type CoveringArray,
  type GatePairs,
} from '../model/covering.ts';
import { entitiesSeen, exampleGates, examplesOf, findsEntities } from '../model/drawing.ts';
import { factors, plainLevels, type Levels, type Rank } from '../model/factors.ts';
import { fixtureKey, isFeasible, missingLevels } from '../model/feasible.ts';
import { completed, rowsOfLevels, rowsOfRequirements } from './first-rows.ts';

/** Which draw of its levels a lookup is: an example or entity by its number, or a random one. */
interface At {
  readonly draw?: number;
  readonly pick?: number;
}

/** The levels of a lookup, and its place in the order. */
export interface OrderedRow {
  readonly levels: Levels;
  readonly at: At;
  readonly rank: Rank;
  /** How late it comes: 0 for triples that no gate may mask, and for all before them. */
  readonly depth: number;
}

/** The rows of an endpoint. */
interface Order {
  /** In the order in which a run tries them. */
  readonly rows: () => Generator<OrderedRow>;
  /** The number of feasible combinations of `strength` levels. */
  readonly total: (strength: number) => number;
}

const MAX_ORDERS = 16;
const orders = new Map<string, Order>();

/** Fixtures with as much of everything share these rows, such as those of a run and its self-check. */
export function orderOf(endpoint: Endpoint, known: Known, seed: number): Order {
  const name = `${endpoint} ${seed} ${fixtureKey(endpoint, known)}`;
  const before = orders.get(name);
  if (before !== undefined) return before;
  const firsts = rowsOfRequirements(endpoint, known);
  const levels = rowsOfLevels(endpoint, known, seed, firsts);
  const isPossible = (row: Partial<Levels>) => isFeasible(endpoint, row, known);
  const others = levels.filter((row) => !hasGate(endpoint, row));
  const array = coveringArray(factors[endpoint], isPossible, [...firsts, ...others], seed);
  const listed = repeatable(rowsInOrder(endpoint, known, seed, firsts, levels, array));
  const order = {
    *rows(): Generator<OrderedRow> {
      let draw = 0;
      for (const row of listed()) {
        draw++;
        yield row;
      }
      // These are too many to keep.
      for (const row of array.random()) yield { levels: row, at: { draw: draw++ }, rank: 'random', depth: 3 };
    },
    total: array.total,
  };
  if (orders.size >= MAX_ORDERS) orders.clear();
  orders.set(name, order);
  return order;
}

const hasGate = (endpoint: Endpoint, row: Levels): boolean =>
  factors[endpoint].some(({ name, names, isGate }) => isGate && row[name] !== names[0]);

function* rowsInOrder(
  endpoint: Endpoint,
  known: Known,
  seed: number,
  firsts: readonly Levels[],
  others: readonly Levels[],
  array: CoveringArray,
): Generator<OrderedRow> {
  const picks = createPicks(endpoint, known, seed);
  let nth = 0;
  const make = (levels: Levels, rank: Rank, depth = 0, pick = picks.next(levels)): OrderedRow => ({
    levels,
    at: pick === undefined ? { draw: nth++ } : { pick },
    rank,
    depth,
  });
  for (const row of firsts) yield make(row, 'requirement');
  // What comes with a gate differs by seed, so that short runs together cover more.
  for (const row of others)
    yield make(array.pairsOf(row)?.enriched(row, { situation: row.situation }) ?? row, 'level');
  const [open, examples] = [array.openPairs(), picks.examples(array)];
  for (let hasMore = true; hasMore;) {
    const [pair, example] = [open.next(), examples.next()];
    hasMore = pair.done !== true || example.done !== true;
    if (pair.done !== true) yield make(pair.value, 'pair');
    if (example.done !== true) yield make(example.value.levels, 'example', 0, example.value.pick);
  }
  for (const row of array.gatedPairs()) yield make(row, 'pair');
  for (const { levels, depth } of array.triples()) {
    if (depth > 1) break;
    yield make(levels, 'triple', depth);
  }
  for (const row of findingRows(endpoint, known, array)) yield make(row, 'random', 1);
  for (const { levels, depth } of array.triples()) if (depth > 1) yield make(levels, 'triple', depth);
}

/** After the triples that count most, so many rows find an entity: they show an answer that is rarely wrong. */
const FINDING_ROWS = 55;

/** Random rows that find an entity. */
function* findingRows(endpoint: Endpoint, known: Known, { random }: CoveringArray): Generator<Levels> {
  const isPossible = (['active', "another partner's"] as const).some(
    (key) => entitiesSeen(endpoint, known, key).length > 0,
  );
  let left = isPossible ? FINDING_ROWS : 0;
  for (const row of random()) {
    if (left === 0) return;
    if (!findsEntities(endpoint, row)) continue;
    left--;
    yield row;
  }
}

/** Factors that write an id in another way. */
const asWritten = ['id spelling', 'query'] as const;

/** Hands out the examples of the gates and the entities, each once. */
function createPicks(endpoint: Endpoint, known: Known, seed: number) {
  const plain = plainLevels(endpoint);
  /** By kind, the number of examples, and of those that were used. */
  const lists = new Map<string, { readonly count: number; used: number }>();
  const listOf = (row: Levels, kind: string) => {
    const before = lists.get(kind);
    if (before !== undefined) return before;
    const list = { count: examplesOf(endpoint, row, known), used: 0 };
    lists.set(kind, list);
    return list;
  };
  /** What to enumerate: examples of the one gate that is not plain, or else matching entities. */
  const kindOf = (row: Levels): string | undefined => {
    if (findsEntities(endpoint, row)) return [row.key, row.situation, row.data, row['id version']].join();
    const odd = exampleGates.filter((name) => row[name] !== plain[name]);
    if (odd.length > 1) return undefined;
    const [gate] = odd;
    // An entity counts as tried only as it is written in the fixture.
    if (gate === undefined && asWritten.some((name) => row[name] !== plain[name])) return undefined;
    return gate === undefined ? [row.situation, row.data, row['id version']].join() : row[gate];
  };
  /** The number of the next example; undefined if each was used. */
  const next = (row: Levels): number | undefined => {
    const kind = kindOf(row);
    if (kind === undefined) return undefined;
    const list = listOf(row, kind);
    const nth = list.used++;
    const first = endpoint === 'user-status' ? 0 : Math.floor(list.count / 2);
    return nth < list.count ? spread(nth, list.count, first) : undefined;
  };
  return {
    next,
    /**
     * Rows with one gate, the next one for the gate of which the least was tried: of its examples, or of its pairs. And
     * the entities that no row used.
     */
    *examples({
      pairsOf,
    }: CoveringArray): Generator<{ readonly levels: Levels; readonly pick: number | undefined }> {
      const gates = factors[endpoint].filter(({ name }) => exampleGates.some((gate) => gate === name));
      const rows: readonly (readonly [Levels, number])[] = [
        ...entitiesSeen(endpoint, known, 'active'),
        ...entitiesSeen(endpoint, known, "another partner's"),
        ...gates.flatMap(({ name, names }) =>
          names
            .slice(1)
            .flatMap((level) => completed(endpoint, { [name]: level }, known) ?? [])
            .map((row) => [row, Number.POSITIVE_INFINITY] as const),
        ),
      ];
      // A level that takes turns may change one answer only.
      for (const levels of rotated(rowsOfGroups(endpoint, known), seed)) yield { levels, pick: next(levels) };
      const sources = rotated(rows, seed).map(([levels, most]): Source => {
        const pairs = findsEntities(endpoint, levels) ? undefined : pairsOf(levels);
        const list = listOf(levels, kindOf(levels) ?? '');
        return { levels, pairs, list, most: Math.min(most, list.count) };
      });
      for (let source = leastUsed(sources); source !== undefined; source = leastUsed(sources)) {
        const { levels, pairs } = source;
        const pick = next(levels);
        yield { levels: pairs?.enriched(levels) ?? levels, pick };
      }
    },
  };
}

/** Rows with one gate or entity, and its examples. */
interface Source {
  readonly levels: Levels;
  readonly pairs: GatePairs | undefined;
  readonly list: { readonly used: number };
  readonly most: number;
}

/** The source of which the least part was used: long lists are not left for last. */
function leastUsed(sources: readonly Source[]): Source | undefined {
  let first: Source | undefined;
  let least = 1;
  for (const one of sources) {
    const share = Math.min(one.list.used / one.most, one.pairs?.progress() ?? 1);
    if (share < least) [first, least] = [one, share];
  }
  return first;
}

/** A plain lookup of each answer: what is found, nothing found, 401, 400. */
const plainAnswers: readonly Partial<Levels>[] = [
  {},
  { situation: 'unknown' },
  { key: 'unknown' },
  { malformation: 'a character less' },
];

/** Each of them with each level that takes turns in pairs. */
const rowsOfGroups = (endpoint: Endpoint, known: Known): readonly Levels[] =>
  plainAnswers.flatMap((plain) =>
    factors[endpoint].flatMap(({ name, names, levels, isGate }) =>
      names.flatMap((level) =>
        isGate || levels[level]!.group === undefined
          ? []
          : (completed(endpoint, { ...plain, [name]: level }, known) ?? []),
      ),
    ),
  );

/** The part of a list that the steps between examples take: they spread over the whole list. */
const STEP = 0.618;

/** The `nth` place of `count`, from `first` on, so that each comes once and the first ones are far apart. */
function spread(nth: number, count: number, first: number): number {
  let step = Math.max(1, Math.round(count * STEP));
  while (greatestDivisor(step, count) > 1) step++;
  return (first + nth * step) % count;
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/** Counts how much of the covering array a run has tried. */
export function createCoverage(known: Known, seed: number) {
  const counters = perEndpoint((endpoint) => createCounter(factors[endpoint]));
  return {
    /** Records that a lookup with these levels was answered. */
    take: (endpoint: Endpoint, levels: Levels): void => counters[endpoint].take(levels),
    figures: (): { readonly strength: number; readonly coverage: Coverage } => {
      const taken = endpointNames.map((name) => counters[name].figures());
      const [singles, pairs, triples] = [0, 1, 2].map((at): [number, number] => [
        taken.reduce((sum, one) => sum + one[at]!, 0),
        endpointNames.reduce((sum, name) => sum + orderOf(name, known, seed).total(at + 1), 0),
      ]) as [[number, number], [number, number], [number, number]];
      const firstCut = [singles, pairs, triples].findIndex(([covered, total]) => covered < total);
      return {
        strength: firstCut < 0 ? 3 : firstCut,
        coverage: {
          pairs,
          triples,
          missing: endpointNames.flatMap((name) =>
            missingLevels(name, known).map((level) => `${name}, ${level}`),
          ),
        },
      };
    },
  };
}
