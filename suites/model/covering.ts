import type { Factor, FactorName, Levels } from './factors.ts';

/** A row of the covering array. */
export interface CoveringRow {
  readonly levels: Levels;
  /** How many conditions that part of the array combines. 4: a random row. */
  readonly strength: 1 | 2 | 3 | 4;
  /** 0: a level, a pair, or a triple without a gate. 1: a triple with a gate that lets a caller in. 2: the rest. */
  readonly depth: 0 | 1 | 2;
}

/** A source of numbers from 0 to 1, the same for the same seed. */
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

/**
 * Rows that cover every feasible combination of levels, in the order in which a run tries them: each level,
 * each pair, each triple, then random rows. A combination counts as covered only by a row in which no gate
 * masks it: each gate that is not plain has to be part of it. So the rows with the same gates are an array of their own.
 *
 * @param isFeasible whether some lookup has these levels
 */
export function* coveringRows(
  factors: readonly Factor[],
  isFeasible: IsFeasible,
  seed: number,
): Generator<CoveringRow> {
  const plain = Object.fromEntries(factors.map(({ name, levels }) => [name, levels[0]!])) as Levels;
  const gates = factors.filter(({ isGate }) => isGate);
  const space = createSpace(
    factors.filter(({ isGate }) => !isGate),
    isFeasible,
  );
  const parts = new Map<string, Part>();
  const partOf = (gate: Gate) => {
    const name = JSON.stringify(gate);
    const part =
      parts.get(name) ??
      createPart((turn) => ({ ...plain, ...levelsAt(gate, turn) }), space, Object.keys(gate).length > 0);
    parts.set(name, part);
    return part;
  };

  for (const { name, levels } of factors)
    for (const level of name === factors[0]!.name ? levels : levels.slice(1)) {
      const row = plainest({ ...plain, [name]: level }, factors, isFeasible);
      if (row === undefined) continue;
      const gate = gateOf(row, factors);
      if (gate !== undefined) partOf(gate).take(row);
      yield { levels: row, strength: 1, depth: 0 };
    }
  for (const [strength, isCoarse] of [
    [2, true],
    [3, true],
    [3, false],
  ] as const)
    for (let count = 0; count <= strength; count++) {
      const all = gatesOf(gates, count, isFeasible);
      for (const names of new Set(all.map(namesOf)))
        // What lets a caller in masks nothing: its combinations come first.
        for (const isMasking of [false, true]) {
          const alike = all.filter((gate) => namesOf(gate) === names && masks(gate, gates) === isMasking);
          const isEarly = isCoarse && (!isMasking || names === 'key');
          const depth = strength < 3 || count === 0 ? 0 : isEarly ? 1 : 2;
          const left = isCoarse ? (isMasking ? 'coarse' : 'cheap') : 'all';
          for (const levels of inTurn(alike.map((gate) => partOf(gate).rows(strength - count, left))))
            yield { levels, strength, depth };
        }
    }
  const random = randomOf(seed);
  const anyOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]!;
  for (;;) {
    const levels = Object.fromEntries(
      factors.map((factor) => [
        factor.name,
        factor.isGate && random() < 0.75 ? factor.levels[0]! : anyOf(factor.levels),
      ]),
    ) as Levels;
    if (isFeasible(levels)) yield { levels, strength: 4, depth: 2 };
  }
}

/** One of each source after the other, so that a run that is cut short has seen something of each. */
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

/** Whether some level of a gate decides the answer on its own. */
const masks = (gate: Gate, gates: readonly Factor[]): boolean =>
  gates.some(({ name, open = [] }) => gate[name]?.some((level) => !open.includes(level)) === true);

/** Gates that are not plain: for each of them, the levels that take turns. */
type Gate = Partial<Readonly<Record<FactorName, readonly string[]>>>;

/** What gates of these names are combined of. */
function optionsOf({ name, levels, classes, coarseClasses }: Factor, names: readonly FactorName[]) {
  const isCoarse = names.length > 1 && names.some((other) => other !== 'key' && other !== 'header');
  const alone = levels.slice(1).map((level) => [level]);
  return (
    (isCoarse ? coarseClasses : undefined) ??
    (name === 'header' || name === 'key' ? alone : (classes ?? alone))
  );
}

const namesOf = (gate: Gate) => Object.keys(gate).join();

/** All combinations of so many gates. A level that does not go with the others is left out. */
function gatesOf(gates: readonly Factor[], count: number, isFeasible: IsFeasible): readonly Gate[] {
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

/** The levels of a gate that go with some level of each other gate; undefined if there is none. */
function feasibleIn(gate: Gate, isFeasible: IsFeasible): Gate | undefined {
  const entries = Object.entries(gate) as readonly (readonly [FactorName, readonly string[]])[];
  const size = Math.max(1, ...entries.map(([, levels]) => levels.length));
  const turns = Array.from({ length: size }, (_, turn) => levelsAt(gate, turn)).filter(isFeasible);
  if (turns.length === 0) return undefined;
  return Object.fromEntries(entries.map(([name]) => [name, turns.map((levels) => levels[name]!)]));
}

const levelsAt = (gate: Gate, turn: number): Partial<Levels> =>
  Object.fromEntries(Object.entries(gate).map(([name, levels]) => [name, levels[turn % levels.length]]));

/** The gate that a row belongs to; undefined if no part of the array has it. */
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

/** The row itself, or with one other factor that is not plain, where the fixture has nothing else. */
function plainest(row: Levels, factors: readonly Factor[], isFeasible: IsFeasible): Levels | undefined {
  if (isFeasible(row)) return row;
  for (const { name, levels, isGate } of factors)
    for (const level of isGate ? [] : levels) {
      const other = { ...row, [name]: level };
      if (isFeasible(other)) return other;
    }
  return undefined;
}

/** The factors that are no gates, as numbers. */
interface Space {
  readonly factors: readonly Factor[];
  /** Whether some lookup has these levels: an index for each factor, -1 if it is left open. */
  readonly isFeasible: (row: readonly number[]) => boolean;
  /** Feasible combinations of so many factors. */
  readonly combinations: (strength: number) => readonly Combination[];
}

/** The factors that are set, and their levels. */
interface Combination {
  readonly code: number;
  readonly row: readonly number[];
}

function createSpace(factors: readonly Factor[], isFeasible: IsFeasible): Space {
  const known = new Map<number, boolean>();
  const space: Space = {
    factors,
    isFeasible: (row) => {
      const code = codeOf(row);
      let answer = known.get(code);
      if (answer === undefined) {
        answer = isFeasible(levelsOf(row, factors));
        known.set(code, answer);
      }
      return answer;
    },
    combinations: (strength) => {
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
      extend(
        0,
        strength,
        factors.map(() => -1),
      );
      return found;
    },
  };
  return space;
}

/** A number of its own for each choice of levels, of up to 15 each. */
const codeOf = (row: readonly number[]) =>
  row.reduce((code, level, at) => code + digitOf(level, at, row.length), 0);

const digitOf = (level: number, at: number, length: number) => (level + 1) * 16 ** (length - 1 - at);

const levelsOf = (row: readonly number[], factors: readonly Factor[]): Partial<Levels> =>
  Object.fromEntries(
    factors.flatMap(({ name, levels }, at) => (row[at]! < 0 ? [] : [[name, levels[row[at]!]!]])),
  );

/** The rows with the same gates. */
interface Part {
  /** Counts a row that was made elsewhere. */
  readonly take: (row: Levels) => void;
  /**
   * Rows until every feasible combination of so many factors is covered.
   *
   * @param wanted which levels count in a part with gates: `coarse`: a few that stand for the others, as a gate decides
   * the answer; `cheap`: all but those that take more requests
   */
  readonly rows: (strength: number, wanted: 'coarse' | 'cheap' | 'all') => Generator<Levels>;
}

/** @param base the gates of a row, and plain levels */
function createPart(base: (turn: number) => Levels, space: Space, hasGate: boolean): Part {
  const { factors } = space;
  const rows: (readonly number[])[] = [];
  return {
    take: (row) => rows.push(factors.map(({ name, levels }) => levels.indexOf(row[name]))),
    *rows(strength, levelsWanted) {
      const isWanted = ({ row }: Combination) =>
        !hasGate ||
        strength < 2 ||
        levelsWanted === 'all' ||
        factors.every(
          ({ levels, coarse, isCostly }, at) =>
            row[at]! < 0 ||
            coarse === undefined ||
            (levelsWanted === 'cheap' && isCostly !== true) ||
            coarse.includes(levels[row[at]!]!),
        );
      const wanted = space.combinations(strength).filter(isWanted);
      const left = new Map(wanted.map((one) => [one.code, one]));
      const cover = (row: readonly number[]) => {
        for (const code of codesIn(row)[strength]!) left.delete(code);
      };
      for (const row of rows) cover(row);
      for (let [first] = left.values(); first !== undefined; [first] = left.values()) {
        const row = filled(first.row, space, left, strength, rows.length);
        cover(row);
        yield { ...base(rows.push(row)), ...levelsOf(row, factors) };
      }
    },
  };
}

/** The combinations that a row holds: a list for each number of factors, from none to three. */
function codesIn(row: readonly number[]): readonly (readonly number[])[] {
  const codes: number[][] = [[0], [], [], []];
  for (const [at, level] of row.entries()) {
    if (level < 0) continue;
    const digit = digitOf(level, at, row.length);
    for (const strength of [3, 2, 1])
      for (const code of codes[strength - 1]!) codes[strength]!.push(code + digit);
  }
  return codes;
}

/** Gives each factor that is open the level that covers most of what is left. */
function filled(
  start: readonly number[],
  space: Space,
  left: ReadonlyMap<number, Combination>,
  strength: number,
  turn: number,
): readonly number[] {
  let row = start;
  for (const [at, { levels, isCostly }] of space.factors.entries()) {
    if (row[at]! >= 0) continue;
    const others = codesIn(row)[strength - 1] ?? [];
    let best = row;
    let most = -1;
    for (let nth = 0; nth < levels.length; nth++) {
      const candidate = row.with(at, isCostly === true ? nth : (nth + turn) % levels.length);
      if (!space.isFeasible(candidate)) continue;
      const own = digitOf(candidate[at]!, at, candidate.length);
      const gain = others.filter((code) => left.has(code + own)).length;
      if (gain > most) [best, most] = [candidate, gain];
    }
    row = best;
  }
  return row;
}

/** The number of feasible combinations of so many levels. */
export function totalOf(factors: readonly Factor[], isFeasible: IsFeasible, strength: number): number {
  const gates = factors.filter(({ isGate }) => isGate);
  const space = createSpace(
    factors.filter(({ isGate }) => !isGate),
    isFeasible,
  );
  let total = 0;
  for (let count = 0; count <= strength; count++)
    total += gatesOf(gates, count, isFeasible).length * space.combinations(strength - count).length;
  return total;
}

/** Counts the combinations that rows cover: each gate that is not plain is part of them. */
export function createCounter(factors: readonly Factor[]) {
  const others = factors.filter(({ isGate }) => !isGate);
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
      const codes = codesIn(row);
      for (const strength of [1, 2, 3])
        for (const code of codes[strength - names.length] ?? [])
          covered[strength - 1]!.add(number * 16 ** others.length + code);
    },
    /** How many combinations of one, two and three levels were covered. */
    figures: (): readonly number[] => covered.map(({ size }) => size),
  };
}
