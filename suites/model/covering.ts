import type { Factor, FactorName, Levels } from './factors.ts';

/** A row of the covering array. */
export interface CoveringRow {
  readonly levels: Levels;
  /** Number of factors that this part of the array combines. 4: a random row. */
  readonly strength: 1 | 2 | 3 | 4;
  /** 0: a level, a pair, a triple without a gate. 1: a triple that only a key may mask. 2: one that repeats. 3: the rest. */
  readonly depth: 0 | 1 | 2 | 3;
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

/** Rows that cover every feasible combination of levels. */
export interface CoveringArray {
  /** Each level, each pair, each triple, then endless random rows. Rows are computed once, on demand. */
  readonly rows: () => Generator<CoveringRow>;
  /** The number of feasible combinations of `strength` levels. */
  readonly total: (strength: number) => number;
}

/**
 * Rows come in the order in which a run tries them. A row covers a combination only if no gate masks it: each gate
 * that is not plain must be part of it. So the rows with the same gates form their own array.
 *
 * @param isFeasible whether a lookup with these levels exists
 */
export function coveringArray(factors: readonly Factor[], isFeasible: IsFeasible): CoveringArray {
  const plain = Object.fromEntries(factors.map(({ name, levels }) => [name, levels[0]!])) as Levels;
  const gates = factors.filter(({ isGate }) => isGate);
  const others = factors.filter(({ isGate }) => !isGate);
  const space = createSpace(others, isFeasible);
  const known: (readonly Gate[])[] = [];
  const gatesOf = (count: number) => (known[count] ??= gatesWith(gates, count, isFeasible));
  const parts = new Map<string, Part>();
  const partOf = (gate: Gate) => {
    const name = JSON.stringify(gate);
    const part =
      parts.get(name) ??
      createPart(space, {
        base: (turn) => ({ ...plain, ...levelsAt(gate, turn) }),
        hasGate: Object.keys(gate).length > 0,
        isMasked: masks(gate, gates),
      });
    parts.set(name, part);
    return part;
  };
  return {
    rows: repeatable(ordered()),
    total: (strength) => {
      let total = 0;
      for (let count = 0; count <= strength; count++)
        total += gatesOf(count).length * space.combinations(strength - count).length;
      return total;
    },
  };

  function* ordered(): Generator<CoveringRow> {
    for (const { name, levels } of factors)
      for (const level of name === factors[0]!.name ? levels : levels.slice(1)) {
        const row = plainest({ ...plain, [name]: level }, factors, isFeasible);
        if (row === undefined) continue;
        const gate = gateOf(row, factors);
        if (gate !== undefined) partOf(gate).take(row);
        yield { levels: row, strength: 1, depth: 0 };
      }
    const any = () => true;
    const isOpen = (gate: Gate) => !masks(gate, gates);
    const isOpenButForKey = ({ key: _, ...rest }: Gate) => isOpen(rest);
    // Strength, levels that a part with gates covers, gates of the parts, depth.
    const passes = [
      [2, 'all', any, 0],
      [3, 'some', isOpen, 1],
      [3, 'few', isOpenButForKey, 1],
      [3, 'some', isOpenButForKey, 2],
      [3, 'few', any, 3],
      [3, 'all', any, 3],
    ] as const;
    for (const [strength, wanted, isTaken, depth] of passes)
      for (let count = 0; count <= strength; count++) {
        const taken = gatesOf(count).filter(isTaken).map(partOf);
        for (const levels of inTurn(taken.map((part) => part.rows(strength - count, wanted))))
          yield { levels, strength, depth: count === 0 ? 0 : depth };
      }
    const random = randomOf(1);
    const anyOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]!;
    for (;;) {
      const levels = Object.fromEntries(
        factors.map((factor) => [
          factor.name,
          factor.isGate && random() < 0.75 ? factor.levels[0]! : anyOf(factor.levels),
        ]),
      ) as Levels;
      if (isFeasible(levels)) yield { levels, strength: 4, depth: 3 };
    }
  }
}

/** Makes an endless generator repeatable. Items are computed once. */
export function repeatable<Item>(source: Generator<Item, unknown>): () => Generator<Item> {
  const made: Item[] = [];
  return function* () {
    for (let nth = 0; ; nth++) {
      if (nth === made.length) made.push(source.next().value as Item);
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
  gates.some(({ name, open = [] }) => gate[name]?.some((level) => !open.includes(level)) === true);

/** Gates that are not plain, each with the levels that take turns. */
type Gate = Partial<Readonly<Record<FactorName, readonly string[]>>>;

/** The groups of levels of a factor that are combined with other gates. */
function optionsOf({ name, levels, classes, coarseClasses }: Factor, names: readonly FactorName[]) {
  const isCoarse = names.length > 1 && names.some((other) => other !== 'key' && other !== 'header');
  const alone = levels.slice(1).map((level) => [level]);
  return (
    (isCoarse ? coarseClasses : undefined) ??
    (name === 'header' || name === 'key' ? alone : (classes ?? alone))
  );
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
            optionsOf(factor, names).map((levels) => ({ ...gate, [factor.name]: levels })),
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

/** The gates of a row; undefined if no part of the array has them. */
function gateOf(row: Levels, factors: readonly Factor[]): Gate | undefined {
  const odd = factors.filter(({ name, isGate, levels: [plain] }) => isGate && row[name] !== plain);
  const names = odd.map(({ name }) => name);
  const entries = odd.map((factor) => [
    factor.name,
    optionsOf(factor, names).find((levels) => levels.includes(row[factor.name])),
  ]);
  return entries.some(([, levels]) => levels === undefined)
    ? undefined
    : (Object.fromEntries(entries) as Gate);
}

/** The row, or if infeasible, the row with another level of one factor. */
export function plainest(
  row: Levels,
  factors: readonly Factor[],
  isFeasible: IsFeasible,
): Levels | undefined {
  if (isFeasible(row)) return row;
  for (const { name, levels, isGate } of factors)
    for (const level of isGate ? [] : levels) {
      const other = { ...row, [name]: level };
      if (isFeasible(other)) return other;
    }
  return undefined;
}

type Space = ReturnType<typeof createSpace>;

/** A level index for each factor, -1 if open, and its code. */
interface Combination {
  readonly code: number;
  readonly row: readonly number[];
}

function createSpace(factors: readonly Factor[], isFeasible: IsFeasible) {
  const { places } = numbering(factors);
  const known = new Map<number, boolean>();
  const made: (readonly Combination[])[] = [];
  const codeOf = (row: readonly number[]) =>
    row.reduce((code, level, at) => code + (level + 1) * places[at]!, 0);
  const space = {
    factors,
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
          for (let level = 0; level < factors[at]!.levels.length; level++)
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
  const places = factors.map(({ levels }) => {
    const place = count;
    count *= levels.length + 1;
    return place;
  });
  return { places, count };
}

const levelsOf = (row: readonly number[], factors: readonly Factor[]): Partial<Levels> =>
  Object.fromEntries(
    factors.flatMap(({ name, levels }, at) => (row[at]! < 0 ? [] : [[name, levels[row[at]!]!]])),
  );

/** The rows with the same gates. */
type Part = ReturnType<typeof createPart>;

interface PartOptions {
  /** The gates of a row. All other levels are plain. */
  readonly base: (turn: number) => Levels;
  readonly hasGate: boolean;
  /** Whether a gate decides the answer. */
  readonly isMasked: boolean;
}

function createPart(space: Space, { base, hasGate, isMasked }: PartOptions) {
  const { factors } = space;
  const rows: (readonly number[])[] = [];
  return {
    /** Records a row that was created elsewhere. */
    take: (row: Levels) => rows.push(factors.map(({ name, levels }) => levels.indexOf(row[name]))),
    /**
     * Rows until every wanted combination of `strength` factors is covered.
     *
     * @param wanted levels to cover in a part with gates. `few`: those that take one request, and only coarse ones if
     * a gate decides the answer. `some`: also repeated lookups
     */
    *rows(strength: number, wanted: 'few' | 'some' | 'all'): Generator<Levels> {
      const isLevelWanted = ({ levels, coarse, rare, isCostly }: Factor, level: number) =>
        level <= 0 ||
        (isCostly === true
          ? wanted === 'some' && coarse === undefined
          : isMasked
            ? coarse === undefined || coarse.includes(levels[level]!)
            : rare?.(base(0)).includes(levels[level]!) !== true);
      const isWanted = ({ row }: Combination) =>
        !hasGate || wanted === 'all' || factors.every((factor, at) => isLevelWanted(factor, row[at]!));
      const left = new Map(
        space
          .combinations(strength)
          .filter(isWanted)
          .map((one) => [one.code, one]),
      );
      const cover = (row: readonly number[]) => {
        for (const part of partsOf(row, factors))
          for (const code of codesIn(part, space.places, strength)) left.delete(code);
      };
      for (const row of rows) cover(row);
      // Rows that also cover a plain row come first.
      for (const coversPlainToo of [true, false])
        for (const { row: start } of left.values()) {
          if (partsOf(start, factors).length > 1 !== coversPlainToo) continue;
          const row = filled(start, space, left, strength, rows.length);
          cover(row);
          yield { ...base(rows.push(row)), ...levelsOf(row, factors) };
        }
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
  for (const [at, { levels, isCostly }] of factors.entries()) {
    if (row[at]! >= 0) continue;
    const others = codesIn(row, places, strength - 1);
    let best = row;
    let most = -1;
    for (let nth = 0; nth < levels.length; nth++) {
      const level = isCostly === true ? nth : (nth + turn) % levels.length;
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
  const others = factors.filter(({ isGate }) => !isGate);
  const { places, count } = numbering(others);
  const covered = [1, 2, 3].map(() => new Set<number>());
  const gates = new Map<string, number>();
  return {
    take: (levels: Levels): void => {
      const gate = gateOf(levels, factors);
      if (gate === undefined) return;
      const names = Object.values(gate).map(([first]) => first);
      const name = names.join();
      const number = gates.get(name) ?? gates.size;
      gates.set(name, number);
      const row = others.map((factor) => factor.levels.indexOf(levels[factor.name]));
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
