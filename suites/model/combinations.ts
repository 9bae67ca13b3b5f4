import type { Factor, Levels } from './factors.ts';
import type { IsFeasible } from './feasible.ts';

/** The number of a level for each factor, -1 if open. */
export type Row = readonly number[];

export interface Combination {
  readonly code: number;
  readonly row: Row;
}

/** Levels of the same group, or a level without a group. */
const isAlike = ({ levels }: Factor, one: string, other: string): boolean =>
  one === other || (levels[one]!.group !== undefined && levels[one]!.group === levels[other]!.group);

/** A factor in which the first level of each group stands for the group. Levels of a group are feasible alike. */
interface GroupedFactor extends Factor {
  /** For each level, the number of the one that stands for it. */
  readonly numbers: ReadonlyMap<string, number>;
}

export function inGroups(factor: Factor): GroupedFactor {
  const first = (level: string) => factor.names.find((one) => isAlike(factor, one, level))!;
  const names = factor.names.filter((level) => first(level) === level);
  return {
    ...factor,
    names,
    numbers: new Map(factor.names.map((level) => [level, names.indexOf(first(level))])),
  };
}

/** The row of these levels. */
export const rowOf = (levels: Levels, factors: readonly GroupedFactor[]): Row =>
  factors.map(({ name, numbers }) => numbers.get(levels[name])!);

/** All combinations of the levels of these factors, computed on demand. */
export function createSpace(all: readonly Factor[], isFeasible: IsFeasible, seed: number) {
  const factors = all.map(inGroups);
  const turns = new Map<string, number>();
  const known = new Map<string, boolean>();
  const made: (readonly Combination[])[] = [];
  const numberings: Numbering[] = [];
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
    /** The codes of all combinations of `strength` levels. */
    numbering: (strength: number): Numbering => (numberings[strength] ??= numberingOf(factors, strength)),
    /** The levels of a row. Those of a group take turns. */
    levelsIn: (row: Row): Partial<Levels> =>
      Object.fromEntries(
        factors.map((factor, at) => [factor.name, nextLike(factor, factor.names[row[at]!]!)]),
      ),
    /** Whether a lookup with these levels exists. */
    isFeasible: (row: Row): boolean => {
      const name = row.join();
      let answer = known.get(name);
      if (answer === undefined) {
        answer = isFeasible(levelsOf(row, factors));
        known.set(name, answer);
      }
      return answer;
    },
    combinations: (strength: number): readonly Combination[] => {
      const found: Combination[] = [];
      const extend = (from: number, left: number, row: Row) => {
        if (left === 0) {
          if (space.isFeasible(row)) found.push({ code: codesIn(row, space.numbering(strength))[0]!, row });
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

/** Factors whose levels are combined. The codes of these combinations follow each other. */
interface Choice {
  readonly first: number;
  /** Their places in a row. */
  readonly at: readonly number[];
  /** What each number of a level is multiplied by. */
  readonly places: readonly number[];
}

/** Numbers all combinations of so many levels, from 0 to `size`. */
export interface Numbering {
  readonly choices: readonly Choice[];
  readonly size: number;
}

export function numberingOf(factors: readonly Factor[], strength: number): Numbering {
  const choices: Choice[] = [];
  let size = 0;
  const extend = (from: number, at: readonly number[], places: readonly number[], count: number) => {
    if (at.length === strength) {
      choices.push({ first: size, at, places });
      size += count;
      return;
    }
    for (let next = from; next < factors.length; next++)
      extend(next + 1, [...at, next], [...places, count], count * factors[next]!.names.length);
  };
  if (strength >= 0) extend(0, [], [], 1);
  return { choices, size };
}

const levelsOf = (row: Row, factors: readonly Factor[]): Partial<Levels> =>
  Object.fromEntries(
    factors.flatMap(({ name, names }, at) => (row[at]! < 0 ? [] : [[name, names[row[at]!]!]])),
  );

/** The row, and the row that its first request covers. */
export function partsOf(row: Row, factors: readonly Factor[]): readonly Row[] {
  const at = factors.findIndex(({ includesPlain }) => includesPlain);
  return row[at] === undefined || row[at] <= 0 ? [row] : [row, row.with(at, 0)];
}

/** The code of what a row has of a choice, without the factor at `but`; -1 if another one is open. */
export function codeOf(row: Row, { first, at, places }: Choice, but = -1): number {
  let code = first;
  for (let nth = 0; nth < at.length; nth++) {
    if (at[nth] === but) continue;
    const level = row[at[nth]!]!;
    if (level < 0) return -1;
    code += level * places[nth]!;
  }
  return code;
}

/** The codes of all combinations in a row. */
export function codesIn(row: Row, { choices }: Numbering): readonly number[] {
  const codes: number[] = [];
  for (const choice of choices) {
    const code = codeOf(row, choice);
    if (code >= 0) codes.push(code);
  }
  return codes;
}
