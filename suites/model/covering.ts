import type { Factor, FactorName, Levels } from './factors.ts';

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

type IsFeasible = (levels: Partial<Levels>) => boolean;

/** Rows that cover every feasible combination of levels. Each part is computed once, on demand. */
export interface CoveringArray {
  /** Rows of pairs of levels that no gate masks. */
  readonly openPairs: () => Generator<Levels>;
  /** Rows of pairs with a gate. */
  readonly gatedPairs: () => Generator<Levels>;
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
  /** A row with the gate that covers more of them: the factors that are not gates change. */
  readonly enriched: (row: Levels) => Levels;
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
    return inTurn(rotated(parts, seed).map((part) => part.rows(strength - count, wanted)));
  };
  const openPairs = repeatable(rowsWith(0, 2, 'all', () => true));
  const gatedPairs = repeatable(
    (function* () {
      for (const count of [1, 2]) yield* rowsWith(count, 2, 'all', () => true);
    })(),
  );
  const isOpen = (gate: Gate) => !masks(gate, gates);
  const isOpenButForKey = ({ key: _, ...rest }: Gate) => isOpen(rest);
  function* triples(): Generator<TripleRow> {
    // The rows of all pairs are known before those of triples.
    for (const pairs of [openPairs(), gatedPairs()]) while (pairs.next().done !== true);
    for (const [wanted, isTaken, depth] of [
      ['some', isOpen, 1],
      ['some', isOpenButForKey, 1],
      ['few', () => true, 2],
      ['all', () => true, 2],
    ] as const)
      for (let count = 0; count <= 3; count++)
        for (const levels of rowsWith(count, 3, wanted, isTaken))
          yield { levels, depth: count === 0 && wanted === 'some' ? 0 : depth };
  }
  return {
    openPairs,
    gatedPairs,
    triples: repeatable(triples()),
    pairsOf: (row) => {
      const gate = gateOf(row);
      return gate !== undefined && Object.keys(gate).length === 1 ? partOf(gate) : undefined;
    },
    random: repeatable(randomRows(factors, isFeasible)),
    total: (strength) => {
      let total = 0;
      for (let count = 0; count <= strength; count++)
        total += gatesOf(count).length * space.combinations(strength - count).length;
      return total;
    },
  };
}

/** Returns a function that creates the part of the array with these gates once. */
function partsByGate(factors: readonly Factor[], space: Space, seed: number): (gate: Gate) => Part {
  const plain = Object.fromEntries(factors.map(({ name, names }) => [name, names[0]!])) as Levels;
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
  const anyOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]!;
  for (;;) {
    const levels = Object.fromEntries(
      factors.map((factor) => [
        factor.name,
        factor.isGate && random() < 0.75 ? factor.names[0]! : anyOf(factor.names),
      ]),
    ) as Levels;
    if (isFeasible(levels)) yield levels;
  }
}

/** The items, beginning at another one for each seed. */
export function rotated<Item>(items: readonly Item[], seed: number): readonly Item[] {
  const at = items.length === 0 ? 0 : Math.floor(randomOf(seed)() * items.length);
  return seed === 0 ? items : [...items.slice(at), ...items.slice(0, at)];
}

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
function* inTurn<Item>(sources: readonly Generator<Item>[]): Generator<Item> {
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

const masks = (gate: Gate, gates: readonly Factor[]): boolean =>
  gates.some(({ name, levels }) => gate[name]?.some((level) => levels[level]!.mayLetIn !== true) === true);

/** Gates that are not plain, each with the levels that take turns. */
type Gate = Partial<Readonly<Record<FactorName, readonly string[]>>>;

/** The groups of levels of a gate that are combined with other factors, and with the gates of these names. */
function groupsOf({ levels, names }: Factor, gates: readonly FactorName[]): readonly (readonly string[])[] {
  const isWithGates = gates.length > 1 && gates.some((gate) => gate !== 'key' && gate !== 'header');
  const groups = new Map<string, string[]>();
  for (const name of names.slice(1)) {
    const { group = name, gateGroup = group } = levels[name]!;
    const of = isWithGates ? gateGroup : group;
    if (of === 'never') continue;
    groups.set(of, [...(groups.get(of) ?? []), name]);
  }
  return [...groups.values()];
}

/** All feasible combinations of `count` gates. */
function gatesWith(gates: readonly Factor[], count: number, isFeasible: IsFeasible): readonly Gate[] {
  const choose = (from: number, left: number): readonly (readonly Factor[])[] =>
    left === 0
      ? [[]]
      : gates
          .slice(from)
          .flatMap((factor, at) => choose(from + at + 1, left - 1).map((rest) => [factor, ...rest]));
  return choose(0, count).flatMap((chosen) => {
    const names = chosen.map(({ name }) => name);
    return chosen
      .reduce<readonly Gate[]>(
        (found, factor) =>
          found.flatMap((gate) =>
            groupsOf(factor, names).map((levels) => ({ ...gate, [factor.name]: levels })),
          ),
        [{}],
      )
      .flatMap((gate) => {
        const feasible = feasibleIn(gate, isFeasible);
        return feasible === undefined ? [] : [feasible];
      });
  });
}

/** The gate without infeasible levels; undefined if none is left. */
function feasibleIn(gate: Gate, isFeasible: IsFeasible): Gate | undefined {
  const entries = Object.entries(gate) as readonly (readonly [FactorName, readonly string[]])[];
  const size = Math.max(1, ...entries.map(([, levels]) => levels.length));
  const turns = Array.from({ length: size }, (_, turn) => levelsAt(gate, turn)).filter(isFeasible);
  if (turns.length === 0) return undefined;
  return Object.fromEntries(entries.map(([name]) => [name, turns.map((levels) => levels[name]!)]));
}

const levelsAt = (gate: Gate, turn: number): Partial<Levels> =>
  Object.fromEntries(Object.entries(gate).map(([name, levels]) => [name, levels[turn % levels.length]]));

/** Returns a function that reads the gates of a row; undefined if no part of the array has them. */
function gateReader(factors: readonly Factor[]): (row: Levels) => Gate | undefined {
  const gates = factors.filter(({ isGate }) => isGate);
  const known = new Map<string, Gate | undefined>();
  const read = (odd: readonly Factor[], row: Levels): Gate | undefined => {
    const names = odd.map(({ name }) => name);
    const entries = odd.map((factor) => [
      factor.name,
      groupsOf(factor, names).find((levels) => levels.includes(row[factor.name])),
    ]);
    return entries.some(([, levels]) => levels === undefined)
      ? undefined
      : (Object.fromEntries(entries) as Gate);
  };
  return (row) => {
    const odd = gates.filter(({ name, names: [plain] }) => row[name] !== plain);
    const name = odd.map((factor) => `${factor.name}: ${row[factor.name]}`).join();
    if (!known.has(name)) known.set(name, read(odd, row));
    return known.get(name);
  };
}

type Space = ReturnType<typeof createSpace>;

/** A level index for each factor, -1 if open, and its code. */
interface Combination {
  readonly code: number;
  readonly row: readonly number[];
}

/** Levels of the same group, or a level without a group. */
const isAlike = ({ levels }: Factor, one: string, other: string): boolean =>
  one === other || (levels[one]!.group !== undefined && levels[one]!.group === levels[other]!.group);

/** The factor with the first level of each group, which stands for it. Levels of a group are feasible alike. */
const inGroups = (factor: Factor): Factor => ({
  ...factor,
  names: factor.names.filter(
    (level, at) => factor.names.findIndex((one) => isAlike(factor, one, level)) === at,
  ),
});

/** The index of the level that stands for this one. */
const indexIn = (factor: Factor, level: string): number =>
  factor.names.findIndex((one) => isAlike(factor, one, level));

function createSpace(all: readonly Factor[], isFeasible: IsFeasible, seed: number) {
  const factors = all.map(inGroups);
  const { places } = numbering(factors);
  const turns = new Map<string, number>();
  const known = new Map<number, boolean>();
  const made: (readonly Combination[])[] = [];
  const codeOf = (row: readonly number[]) =>
    row.reduce((code, level, at) => code + (level + 1) * places[at]!, 0);
  /** The next level of the group of this one; the level itself without a group. */
  const nextLike = (factor: Factor, level: string): string => {
    const members = Object.keys(factor.levels).filter((one) => isAlike(factor, one, level));
    if (members.length < 2) return level;
    const turn = turns.get(level) ?? Math.abs(seed);
    turns.set(level, turn + 1);
    return members[turn % members.length]!;
  };
  const space = {
    factors,
    /** The levels of a row. Those of a group take turns. */
    levelsIn: (row: readonly number[]): Partial<Levels> =>
      Object.fromEntries(
        factors.map((factor, at) => [factor.name, nextLike(factor, factor.names[row[at]!]!)]),
      ),
    /** Place value of each factor in the code of a combination. */
    places,
    /** Whether a lookup with these levels exists. -1 leaves a factor open. */
    isFeasible: (row: readonly number[]): boolean => {
      const code = codeOf(row);
      let answer = known.get(code);
      if (answer === undefined) {
        answer = isFeasible(levelsOf(row, factors));
        known.set(code, answer);
      }
      return answer;
    },
    combinations: (strength: number): readonly Combination[] => {
      const found: Combination[] = [];
      const extend = (from: number, left: number, row: readonly number[]) => {
        if (left === 0) {
          if (space.isFeasible(row)) found.push({ code: codeOf(row), row });
          return;
        }
        for (let at = from; at <= factors.length - left; at++)
          for (let level = 0; level < factors[at]!.names.length; level++)
            extend(at + 1, left - 1, row.with(at, level));
      };
      const open = factors.map(() => -1);
      if (made[strength] === undefined) extend(0, strength, open);
      return (made[strength] ??= found);
    },
  };
  return space;
}

/** Encodes each combination of levels as a small number. */
function numbering(factors: readonly Factor[]) {
  let count = 1;
  const places = factors.map(({ names }) => {
    const place = count;
    count *= names.length + 1;
    return place;
  });
  return { places, count };
}

const levelsOf = (row: readonly number[], factors: readonly Factor[]): Partial<Levels> =>
  Object.fromEntries(
    factors.flatMap(({ name, names }, at) => (row[at]! < 0 ? [] : [[name, names[row[at]!]!]])),
  );

/** Which combinations of a part with gates are covered. */
type Wanted = 'few' | 'some' | 'all';

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

function createPart(space: Space, { base, hasGate, isMasked, seed }: PartOptions) {
  const { factors } = space;
  const rows: (readonly number[])[] = [];
  /** Combinations that a generator still has to cover. */
  const open = new Map<number, Map<number, Combination>>();
  const add = (row: readonly number[]) => {
    for (const [strength, left] of open)
      for (const part of partsOf(row, factors))
        for (const code of codesIn(part, space.places, strength)) left.delete(code);
    return rows.push(row);
  };
  const isLevelWanted = ({ levels, names, isCostly }: Factor, index: number, wanted: Wanted) => {
    if (index <= 0) return true;
    const { isFine, isRare } = levels[names[index]!]!;
    if (!hasGate) return isRare?.(base(0).key) !== true;
    if (isCostly === true) return wanted === 'some' && isFine !== true;
    return isMasked ? isFine !== true : isRare?.(base(0).key) !== true;
  };
  const isCheap = ({ row }: Combination) =>
    !factors.some(({ isCostly }, at) => isCostly === true && row[at]! > 0);
  /** The part of the pairs that so many rows covered. */
  let progress = { rows: -1, share: 0 };
  /** Begins to cover combinations of so many factors. */
  const begin = (strength: number, wanted: Wanted) => {
    const isWanted = ({ row }: Combination) =>
      wanted === 'all' || factors.every((factor, at) => isLevelWanted(factor, row[at]!, wanted));
    const left = new Map(
      rotated(space.combinations(strength).filter(isWanted), seed).map((one) => [one.code, one]),
    );
    open.set(strength, left);
    for (const row of rows.splice(0)) add(row);
    return left;
  };
  return {
    /** Records a row that was created elsewhere. */
    take: (row: Levels) => add(factors.map((factor) => indexIn(factor, row[factor.name]))),
    /**
     * Rows until every wanted combination of `strength` factors is covered.
     *
     * @param wanted levels to cover. Rare ones come with `all`. With gates, `few`: those that take one request, and only
     * coarse ones if a gate decides the answer. `some`: also repeated lookups
     */
    *rows(strength: number, wanted: Wanted): Generator<Levels> {
      const left = (wanted === 'all' && open.get(strength)) || begin(strength, wanted);
      // Rows that also cover a plain row come first.
      for (const coversPlainToo of [true, false])
        for (const { row: start } of left.values()) {
          if (partsOf(start, factors).length > 1 !== coversPlainToo) continue;
          const row = filled(start, space, left, strength, rows.length);
          yield { ...base(add(row)), ...space.levelsIn(row) };
        }
      open.delete(strength);
    },
    /** The row with other levels of the factors that nothing else fixes, so that it covers more pairs. */
    enriched: (levels: Levels): Levels => {
      const left = open.get(1) ?? begin(1, 'all');
      const start = factors.map(({ isCostly }) => (isCostly === true ? 0 : -1));
      const row = filled(start, space, left, 1, rows.length);
      const found = { ...levels, ...space.levelsIn(row) };
      add(row);
      return found;
    },
    /** The part of the pairs with this gate that rows of one request cover. */
    progress: (): number => {
      if (progress.rows !== rows.length) {
        const cheap = space.combinations(1).filter(isCheap);
        const left = open.get(1) ?? begin(1, 'all');
        const missing = cheap.filter(({ code }) => left.has(code)).length;
        progress = { rows: rows.length, share: 1 - missing / cheap.length };
      }
      return progress.share;
    },
  };
}

/** The row, and the row that its first request covers. */
function partsOf(row: readonly number[], factors: readonly Factor[]): readonly (readonly number[])[] {
  const at = factors.findIndex(({ includesPlain }) => includesPlain);
  return row[at] === undefined || row[at] <= 0 ? [row] : [row, row.with(at, 0)];
}

/** The codes of all combinations of `strength` factors in a row. */
function codesIn(row: readonly number[], places: readonly number[], strength: number): readonly number[] {
  const codes: number[] = [];
  const extend = (from: number, left: number, code: number) => {
    if (left === 0) codes.push(code);
    else
      for (let at = from; at <= row.length - left; at++)
        if (row[at]! >= 0) extend(at + 1, left - 1, code + (row[at]! + 1) * places[at]!);
  };
  if (strength >= 0) extend(0, strength, 0);
  return codes;
}

/** Greedy: gives each open factor the level that covers most of the rest. */
function filled(
  start: readonly number[],
  { factors, places, isFeasible }: Space,
  left: ReadonlyMap<number, Combination>,
  strength: number,
  turn: number,
): readonly number[] {
  let row = start;
  for (const [at, { names, isCostly }] of factors.entries()) {
    if (row[at]! >= 0) continue;
    const others = codesIn(row, places, strength - 1);
    let best = row;
    let most = -1;
    for (let nth = 0; nth < names.length; nth++) {
      const level = isCostly === true ? nth : (nth + turn) % names.length;
      let gain = 0;
      for (const code of others) if (left.has(code + (level + 1) * places[at]!)) gain++;
      if (gain <= most) continue;
      const candidate = row.with(at, level);
      if (isFeasible(candidate)) [best, most] = [candidate, gain];
    }
    row = best;
  }
  return row;
}

/** Counts the combinations that rows cover. */
export function createCounter(factors: readonly Factor[]) {
  const others = factors.filter(({ isGate }) => !isGate).map(inGroups);
  const { places, count } = numbering(others);
  const covered = [1, 2, 3].map(() => new Set<number>());
  const gates = new Map<string, number>();
  const gateOf = gateReader(factors);
  return {
    take: (levels: Levels): void => {
      const gate = gateOf(levels);
      if (gate === undefined) return;
      const names = Object.values(gate).map(([first]) => first);
      const name = names.join();
      const number = gates.get(name) ?? gates.size;
      gates.set(name, number);
      const row = others.map((factor) => indexIn(factor, levels[factor.name]));
      for (const strength of [1, 2, 3])
        if (names.length <= strength)
          for (const part of partsOf(row, others))
            for (const code of codesIn(part, places, strength - names.length))
              covered[strength - 1]!.add(number * count + code);
    },
    /** Number of covered combinations of one, two and three levels. */
    figures: (): readonly number[] => covered.map(({ size }) => size),
  };
}
