import { endpointNames, perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import type { Coverage } from '../../schemas/generated/types.ts';
import type { Known } from '../known.ts';
import {
  coveringArray,
  createCounter,
  inTurn,
  repeatable,
  rotated,
  spread,
  type CoveringArray,
} from '../model/covering.ts';
import { entitiesSeen, exampleGates, examplesOf, findsEntities } from '../model/drawing.ts';
import { factors, plainLevels, type Levels, type Rank } from '../model/factors.ts';
import { headerLevels } from '../model/levels.ts';
import { fixtureKey, isFeasible, missingLevels } from '../model/feasible.ts';
import { completed, rowsOfLevels, oneOfEach, rowsOfRequirements } from './first-rows.ts';

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

/** Fixtures with as much of everything share these rows, such as those of a plan and its run. */
export function orderOf(endpoint: Endpoint, known: Known, seed: number): Order {
  const name = `${endpoint} ${seed} ${fixtureKey(endpoint, known)}`;
  const before = orders.get(name);
  if (before !== undefined) return before;
  const firsts = rowsOfRequirements(endpoint, known);
  const levels = rowsOfLevels(endpoint, known, seed, firsts);
  const isPossible = (row: Partial<Levels>) => isFeasible(endpoint, row, known);
  const others = levels.filter((row) => gateCount(endpoint, row) === 0);
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
      for (const row of array.random())
        if (headerLevels[row.header]!.endsConnection !== true)
          yield { levels: row, at: { draw: draw++ }, rank: 'random', depth: 3 };
    },
    total: array.total,
  };
  if (orders.size >= MAX_ORDERS) orders.clear();
  orders.set(name, order);
  return order;
}

/** The number of gates that are not plain. */
const gateCount = (endpoint: Endpoint, row: Levels): number =>
  factors[endpoint].filter(({ name, names, isGate }) => isGate && row[name] !== names[0]).length;

function* rowsInOrder(
  endpoint: Endpoint,
  known: Known,
  seed: number,
  firsts: readonly Levels[],
  others: readonly Levels[],
  array: CoveringArray,
): Generator<OrderedRow> {
  const picks = createPicks(endpoint, known);
  let nth = 0;
  const make = (levels: Levels, rank: Rank, depth = 0, pick = picks.next(levels)): OrderedRow => ({
    levels,
    at: pick === undefined ? { draw: nth++ } : { pick },
    rank,
    depth,
  });
  for (const row of firsts) yield make(row, 'requirement');
  // What comes with a gate differs by seed, so that short runs together cover more.
  for (const row of others) {
    const gate = array.pairsOf(row);
    // Own data shows most if the gate may let a request in, and no limiter counts members.
    const kept = gate?.isMasked === true ? {} : { situation: row.situation };
    yield make(gate?.enriched(row, kept) ?? row, 'level');
  }
  const pairs = function* (rows: Iterable<Levels>) {
    for (const row of rows) yield make(row, 'pair');
  };
  const examples = (function* () {
    for (const { levels, pick } of rowsOfExamples(endpoint, known, seed, array, picks))
      yield make(levels, 'example', 0, pick);
  })();
  const [open, gated] = [pairs(array.pairs(0)), pairs(array.pairs(2))];
  yield* inTurn([open, examples, examples, gated]);
  yield* pairs(array.pairs(1));
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

/** A row, and the number of its example or entity. */
interface Example {
  readonly levels: Levels;
  readonly pick: number | undefined;
}

/** Hands out the examples of the gates and the entities, each once. */
function createPicks(endpoint: Endpoint, known: Known) {
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
    const gate = exampleGates.find((name) => row[name] !== plain[name]);
    // Another gate may decide the answer.
    if (gate !== undefined && gateCount(endpoint, row) > 1) return undefined;
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
    if (nth >= list.count) return undefined;
    // The last entity is the likeliest to be left out. The endpoints begin with different examples.
    const isEntity = exampleGates.every((name) => row[name] === plain[name]);
    const middle = endpoint === 'user-status' ? 0 : Math.floor(list.count / 2);
    return spread(nth, list.count, isEntity ? list.count - 1 : middle);
  };
  return { next, listOf: (row: Levels) => listOf(row, kindOf(row) ?? '') };
}

type Picks = ReturnType<typeof createPicks>;

/** Rows that each try another example. */
interface Source {
  /** The part of them that was tried, from 0 to 1. */
  readonly share: () => number;
  readonly next: () => Example;
}

/** These rows, each with its next example. */
function sourceOf(rows: readonly Levels[], { next }: Picks): Source {
  let tried = 0;
  return {
    share: () => (tried < rows.length ? tried / rows.length : 1),
    next: () => {
      const levels = rows[tried++]!;
      return { levels, pick: next(levels) };
    },
  };
}

/**
 * Rows with one gate, the entities that no row used, and the levels that take turns, which may change one answer only:
 * the next one of those of which the least was tried. For a gate, that is the part of its examples, or of its pairs.
 */
function* rowsOfExamples(
  endpoint: Endpoint,
  known: Known,
  seed: number,
  { pairsOf }: CoveringArray,
  picks: Picks,
): Generator<Example> {
  const entities = (['active', "another partner's"] as const).map((key) => {
    const left = entitiesSeen(endpoint, known, key).map(([levels, most]) =>
      Array<Levels>(Math.max(0, most - picks.listOf(levels).used)).fill(levels),
    );
    return sourceOf(oneOfEach(left), picks);
  });
  const gates = factors[endpoint]
    .filter(({ name }) => exampleGates.some((gate) => gate === name))
    .flatMap(({ name, names }) =>
      names.slice(1).flatMap((level) => completed(endpoint, { [name]: level }, known) ?? []),
    )
    .map((levels): Source => {
      const [pairs, list] = [pairsOf(levels), picks.listOf(levels)];
      return {
        share: () => Math.min(list.used / list.count, pairs?.progress() ?? 1),
        next: () => {
          const pick = picks.next(levels);
          return { levels: pairs?.enriched(levels) ?? levels, pick };
        },
      };
    });
  const turns = sourceOf(rotated(rowsOfGroups(endpoint, known), seed), picks);
  const sources = rotated([...entities, ...gates, turns], seed);
  for (let source = leastUsed(sources); source !== undefined; source = leastUsed(sources))
    yield source.next();
}

/** The source of which the least part was tried: long lists are not left for last. */
function leastUsed(sources: readonly Source[]): Source | undefined {
  let first: Source | undefined;
  let least = 1;
  for (const source of sources) {
    const share = source.share();
    if (share < least) [first, least] = [source, share];
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
          levels: singles,
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
