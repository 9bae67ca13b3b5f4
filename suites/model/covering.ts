import {
  codeOf,
  cover,
  createSpace,
  inGroups,
  numberingOf,
  repeatedIn,
  rowOf,
  type Combination,
  type Numbering,
  type Row,
} from './combinations.ts';
import type { Factor, FactorName, Levels } from './factors.ts';
import type { IsFeasible } from './feasible.ts';
import { gateReader, gatesWith, levelsAt, masks, type Gate } from './gates.ts';

/** A row of triples. */
export interface TripleRow {
  readonly levels: Levels;
  /** 0: without a gate, and without rare levels. 1: only a key may mask it. 2: the rest. */
  readonly depth: 0 | 1 | 2;
}

/** A seeded random generator: numbers from 0 to 1. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Rows that cover every feasible combination of levels. Each part is computed once, on demand. */
export interface CoveringArray {
  /** Rows of pairs of levels with so many gates. */
  readonly pairs: (gates: 0 | 1 | 2) => Generator<Levels>;
  /** Rows of triples, those that the fewest gates may mask first. They begin where the pairs end. */
  readonly triples: () => Generator<TripleRow>;
  /** The pairs with the one gate of a row; undefined if it has no gate, or several. */
  readonly pairsOf: (row: Levels) => GatePairs | undefined;
  /** Endless random rows. */
  readonly random: () => Generator<Levels>;
  /** The number of feasible combinations of `strength` levels. */
  readonly total: (strength: number) => number;
}

/** The pairs with a gate. */
export interface GatePairs {
  /** Whether the gate decides the answer. */
  readonly isMasked: boolean;
  /** A row with the gate that covers more of them: the factors that are not gates change, except those of `kept`. */
  readonly enriched: (row: Levels, kept?: Partial<Levels>) => Levels;
  /** The part of them that is covered, without repeated lookups. */
  readonly progress: () => number;
}

/**
 * A row covers a combination only if no gate masks it: each gate that is not plain must be part of it. So the rows
 * with the same gates form their own array.
 *
 * @param isFeasible whether a lookup with these levels exists
 * @param before rows that are tried before these, such as one for each level
 * @param seed decides which of equal rows comes first
 */
export function coveringArray(
  factors: readonly Factor[],
  isFeasible: IsFeasible,
  before: readonly Levels[] = [],
  seed = 0,
): CoveringArray {
  const gates = factors.filter(({ isGate }) => isGate);
  const space = createSpace(
    factors.filter(({ isGate }) => !isGate),
    isFeasible,
    seed,
  );
  const known: (readonly Gate[])[] = [];
  const gatesOf = (count: number) => (known[count] ??= gatesWith(gates, count, isFeasible));
  const partOf = partsByGate(factors, space, seed);
  const gateOf = gateReader(factors);
  for (const row of before) {
    const gate = gateOf(row);
    if (gate !== undefined) partOf(gate).take(row);
  }
  /** Rows of all parts with `count` gates, in turn. */
  const rowsWith = (count: number, strength: number, wanted: Wanted, isTaken: (gate: Gate) => boolean) => {
    const parts = gatesOf(count).filter(isTaken).map(partOf);
    return inTurn(spreadOut(parts, seed).map((part) => part.rows(strength - count, wanted)));
  };
  /** Whether one of the gates alone may let a request in. */
  const letsIn = (gate: Gate) =>
    gates.some(({ name, levels }) => gate[name]?.some((level) => levels[level]!.mayLetIn === true));
  const pairsWith = (count: number, ...taken: readonly ((gate: Gate) => boolean)[]) =>
    repeatable(
      (function* () {
        for (const isTaken of taken) yield* rowsWith(count, 2, 'all', isTaken);
      })(),
    );
  const all = () => true;
  const pairs = [
    pairsWith(0, all),
    pairsWith(1, all),
    pairsWith(2, letsIn, (gate) => !letsIn(gate)),
  ] as const;
  const isOpen = (gate: Gate) => !masks(gate, gates);
  const isOpenButForKey = ({ key: _, ...rest }: Gate) => isOpen(rest);
  const isOpenWithoutId = ({ malformation: [level = ''] = [], ...rest }: Gate) =>
    isOpen(rest) && gates.some(({ levels }) => levels[level]?.group === 'missing');
  function* triples(): Generator<TripleRow> {
    // The rows of all pairs are known before those of triples.
    for (const made of pairs) for (const rows = made(); rows.next().done !== true;);
    const counts = [0, 1, 2, 3];
    for (const [wanted, isTaken, depth, some] of [
      ['some', isOpen, 1, counts],
      // All lookups without an id ask for the same.
      ['repeated', isOpenWithoutId, 1, [2]],
      // A run ends among these.
      ['repeated', isOpenButForKey, 1, [2, 1]],
      ['some', isOpenButForKey, 1, [2, 1, 3]],
      ['few', () => true, 2, counts],
      ['all', () => true, 2, counts],
    ] as const)
      for (const count of some)
        for (const levels of rowsWith(count, 3, wanted, isTaken))
          yield { levels, depth: count === 0 && wanted === 'some' ? 0 : depth };
  }
  return {
    pairs: (count) => pairs[count](),
    triples: repeatable(triples()),
    pairsOf: (row) => {
      const gate = gateOf(row);
      return gate !== undefined && Object.keys(gate).length === 1 ? partOf(gate) : undefined;
    },
    random: () => randomRows(factors, isFeasible),
    total: (strength) => {
      let total = 0;
      for (let count = 0; count <= strength; count++)
        total += gatesOf(count).length * space.combinations(strength - count).length;
      return total;
    },
  };
}

const plainOf = (factors: readonly Factor[]) =>
  Object.fromEntries(factors.map(({ name, names }) => [name, names[0]!])) as Record<FactorName, string>;

/** Returns a function that creates the part of the array with these gates once. */
function partsByGate(factors: readonly Factor[], space: Space, seed: number): (gate: Gate) => Part {
  const plain: Levels = plainOf(factors);
  const gates = factors.filter(({ isGate }) => isGate);
  const parts = new Map<string, Part>();
  return (gate) => {
    const name = JSON.stringify(gate);
    const part =
      parts.get(name) ??
      createPart(space, {
        base: (turn) => ({ ...plain, ...levelsAt(gate, turn) }),
        hasGate: Object.keys(gate).length > 0,
        isMasked: masks(gate, gates),
        seed,
      });
    parts.set(name, part);
    return part;
  };
}

function* randomRows(factors: readonly Factor[], isFeasible: IsFeasible): Generator<Levels> {
  const random = randomOf(1);
  const plain = plainOf(factors);
  for (;;) {
    const levels = { ...plain };
    for (const { name, names, isGate } of factors)
      if (!isGate || random() >= 0.75) levels[name] = names[Math.floor(random() * names.length)]!;
    if (isFeasible(levels)) yield levels;
  }
}

/** The place at which a list begins, another one for each seed. */
const startOf = ({ length }: readonly unknown[], seed: number): number =>
  seed === 0 ? 0 : Math.floor(randomOf(seed)() * length);

/** The items, beginning at another one for each seed. */
export function rotated<Item>(items: readonly Item[], seed: number): readonly Item[] {
  const at = startOf(items, seed);
  return [...items.slice(at), ...items.slice(0, at)];
}

/** The items, beginning at another one for each seed. Those side by side come apart. */
const spreadOut = <Item>(items: readonly Item[], seed: number): readonly Item[] =>
  items.map((_, nth) => items[spread(nth, items.length, startOf(items, seed))]!);

/** The part of a list that a step takes. */
const STEP = 0.618;

/** The `nth` place of `count`, from `first` on, so that each comes once and the first ones are far apart. */
export function spread(nth: number, count: number, first: number): number {
  let step = Math.max(1, Math.round(count * STEP));
  while (greatestDivisor(step, count) > 1) step++;
  return (first + nth * step) % count;
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/** Makes a generator repeatable. Items are computed once. */
export function repeatable<Item>(source: Generator<Item, unknown>): () => Generator<Item> {
  const made: Item[] = [];
  return function* () {
    for (let nth = 0; ; nth++) {
      if (nth === made.length) {
        const { value, done } = source.next();
        if (done === true) return;
        made.push(value);
      }
      yield made[nth]!;
    }
  };
}

/** Takes one item of each source in turn, so that a short run gets items of each. */
export function* inTurn<Item>(sources: readonly Generator<Item>[]): Generator<Item> {
  for (let left = sources; left.length > 0;) {
    const next: Generator<Item>[] = [];
    for (const source of left) {
      const { value, done } = source.next();
      if (done === true) continue;
      next.push(source);
      yield value;
    }
    left = next;
  }
}

type Space = ReturnType<typeof createSpace>;

/**
 * Which levels to cover. `all`: every one. `some`: no rare ones and, if a gate decides the answer, only coarse ones.
 * `few`: the same, but with a gate none that takes several requests. `repeated`: those of `some` that are repeated.
 */
type Wanted = 'repeated' | 'few' | 'some' | 'all';

/** Combinations to cover. */
interface Left {
  readonly numbering: Numbering;
  /** All of them, in order. */
  readonly list: readonly Combination[];
  /** By code: 1 until a row covers it. */
  readonly isLeft: Uint8Array;
}

/** The rows with the same gates. */
type Part = ReturnType<typeof createPart>;

interface PartOptions {
  /** The gates of a row. All other levels are plain. */
  readonly base: (turn: number) => Levels;
  readonly hasGate: boolean;
  /** Whether a gate decides the answer. */
  readonly isMasked: boolean;
  readonly seed: number;
}

function createPart(space: Space, options: PartOptions) {
  const { factors } = space;
  const { base, seed } = options;
  const repeated = repeatedIn(factors);
  const rows: Row[] = [];
  /** By strength, what a generator still has to cover. */
  const open = new Map<number, Left>();
  const add = (row: Row) => {
    for (const { numbering, isLeft } of open.values()) {
      cover(row, numbering, isLeft);
      if (row[repeated]! > 0) cover(row.with(repeated, 0), numbering, isLeft);
    }
    return rows.push(row);
  };
  /** The pairs that rows of one request can cover, and the part of them that so many rows covered. */
  let cheap: readonly Combination[] | undefined;
  let progress = { rows: -1, share: 0 };
  const wantedOf = (strength: number, wanted: Wanted | 'cheap') => {
    const levels = levelsWanted(factors, wanted, options);
    return space.combinations(strength).filter(({ row }) => hasOnly(row, levels));
  };
  /** Begins to cover combinations of so many factors. */
  const begin = (strength: number, wanted: Wanted) => {
    const numbering = space.numbering(strength);
    const some = wanted === 'all' ? space.combinations(strength) : wantedOf(strength, wanted);
    const left = { numbering, list: rotated(some, seed), isLeft: new Uint8Array(numbering.size) };
    for (const { code } of some) left.isLeft[code] = 1;
    open.set(strength, left);
    for (const row of rows.splice(0)) add(row);
    return left;
  };
  return {
    isMasked: options.isMasked,
    /** Records a row that was created elsewhere. */
    take: (row: Levels) => add(rowOf(row, factors)),
    /** Rows until every combination of `strength` factors with the wanted levels is covered. */
    *rows(strength: number, wanted: Wanted): Generator<Levels> {
      const left = (wanted === 'all' && open.get(strength)) || begin(strength, wanted);
      // Rows that also cover a plain row come first.
      for (const coversPlainToo of wanted === 'repeated' ? [true] : [true, false])
        for (let nth = nextLeft(left, 0, repeated, coversPlainToo); nth >= 0;) {
          const row = filled(left.list[nth]!.row, space, left, rows.length);
          yield { ...base(add(row)), ...space.levelsIn(row) };
          nth = nextLeft(left, nth + 1, repeated, coversPlainToo);
        }
      open.delete(strength);
    },
    /** The row with other levels of the factors that nothing else fixes, so that it covers more pairs. */
    enriched: (levels: Levels, kept: Partial<Levels> = {}): Levels => {
      const left = open.get(1) ?? begin(1, 'all');
      const given = rowOf(levels, factors);
      const fixed = factors.map(({ name, isCostly }, at) =>
        name in kept ? given[at]! : isCostly === true ? 0 : -1,
      );
      const startWith = (row: Row) => fixed.map((level, at) => Math.max(level, row[at]!));
      // A level that is left is chosen before others that exclude it.
      const next = left.list.find(
        ({ code, row }) =>
          left.isLeft[code] === 1 &&
          row.every((level, at) => level < 0 || fixed[at]! < 0) &&
          space.isFeasible(startWith(row)),
      );
      const start = next === undefined ? fixed : startWith(next.row);
      const row = filled(start, space, left, rows.length === 0 ? seed : rows.length);
      const found = { ...levels, ...space.levelsIn(row), ...kept };
      add(row);
      return found;
    },
    /** The part of the pairs with this gate that rows of one request cover. */
    progress: (): number => {
      if (progress.rows !== rows.length) {
        const { isLeft } = open.get(1) ?? begin(1, 'all');
        cheap ??= wantedOf(1, 'cheap');
        const missing = cheap.filter(({ code }) => isLeft[code] === 1).length;
        progress = { rows: rows.length, share: 1 - missing / cheap.length };
      }
      return progress.share;
    },
  };
}

/** By factor, whether each of its levels is to be covered. `cheap`: the levels that take one request. */
const levelsWanted = (
  factors: readonly Factor[],
  wanted: Wanted | 'cheap',
  { base, hasGate, isMasked }: PartOptions,
): readonly (readonly boolean[])[] =>
  factors.map(({ levels, names, isCostly }) =>
    names.map((name, index) => {
      if (index === 0) return true;
      if (wanted === 'cheap') return isCostly !== true;
      const { isFine, isRare } = levels[name]!;
      if (hasGate && isCostly === true) return wanted !== 'few' && isFine !== true;
      return hasGate && isMasked ? isFine !== true : isRare?.(base(0).key) !== true;
    }),
  );

/** Whether all levels of a row are among these, by factor. */
function hasOnly(row: Row, isLevel: readonly (readonly boolean[])[]): boolean {
  for (let at = 0; at < row.length; at++) if (row[at]! >= 0 && !isLevel[at]![row[at]!]!) return false;
  return true;
}

/** The place of the next combination that is left, from `from` on; -1 if there is none. */
function nextLeft({ list, isLeft }: Left, from: number, repeated: number, isRepeated: boolean): number {
  for (let nth = from; nth < list.length; nth++) {
    const { code, row } = list[nth]!;
    if (isLeft[code] === 1 && row[repeated]! > 0 === isRepeated) return nth;
  }
  return -1;
}

/** Greedy: gives each open factor the level that covers most of the rest. */
function filled(start: Row, { factors, isFeasible }: Space, left: Left, turn: number): Row {
  const row = [...start];
  for (let at = 0; at < factors.length; at++) {
    if (row[at]! >= 0) continue;
    const { names, isCostly } = factors[at]!;
    const gains = gainsOf(row, at, names.length, left);
    let best = -1;
    for (let nth = 0; nth < names.length; nth++) {
      const level = isCostly === true ? nth : (nth + turn) % names.length;
      if (best >= 0 && gains[level]! <= gains[best]!) continue;
      row[at] = level;
      if (isFeasible(row)) best = level;
    }
    row[at] = best;
  }
  return row;
}

/** For each level of the factor at a place, how many combinations it would cover with those that the row has. */
function gainsOf(row: Row, at: number, count: number, { numbering, isLeft }: Left): readonly number[] {
  const gains = Array.from({ length: count }, () => 0);
  for (const { choice, place } of numbering.choicesWith[at]!) {
    const code = codeOf(row, choice, at);
    if (code >= 0) for (let level = 0; level < count; level++) gains[level]! += isLeft[code + level * place]!;
  }
  return gains;
}

/** Counts the combinations that rows cover. */
export function createCounter(factors: readonly Factor[]) {
  const others = factors.filter(({ isGate }) => !isGate).map(inGroups);
  const repeated = repeatedIn(others);
  const numberings = [0, 1, 2, 3].map((strength) => numberingOf(others, strength));
  const counts = [0, 0, 0];
  /** By gates and strength, what no row has covered. */
  const open = new Map<string, readonly Uint8Array[]>();
  const gateOf = gateReader(factors);
  const count = (row: Row, gates: number, isLeft: readonly Uint8Array[]) => {
    for (let left = gates === 0 ? 1 : 0; left <= 3 - gates; left++)
      counts[gates + left - 1]! += cover(row, numberings[left]!, isLeft[left]!);
  };
  return {
    take: (levels: Levels): void => {
      const gate = gateOf(levels);
      if (gate === undefined) return;
      const names = Object.values(gate).map(([first]) => first);
      const name = names.join();
      let isLeft = open.get(name);
      if (isLeft === undefined) {
        const some = numberings.slice(0, Math.max(0, 4 - names.length));
        isLeft = some.map(({ size }) => new Uint8Array(size).fill(1));
        open.set(name, isLeft);
      }
      const row = rowOf(levels, others);
      count(row, names.length, isLeft);
      if (row[repeated]! > 0) count(row.with(repeated, 0), names.length, isLeft);
    },
    /** Number of covered combinations of one, two and three levels. */
    figures: (): readonly number[] => [...counts],
  };
}
