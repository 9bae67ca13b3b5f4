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
  /** By that number, the levels of the group. */
  readonly members: readonly (readonly string[])[];
}

export function inGroups(factor: Factor): GroupedFactor {
  const first = (level: string) => factor.names.find((one) => isAlike(factor, one, level))!;
  const names = factor.names.filter((level) => first(level) === level);
  return {
    ...factor,
    names,
    numbers: new Map(factor.names.map((level) => [level, names.indexOf(first(level))])),
    members: names.map((name) => factor.names.filter((level) => first(level) === name)),
  };
}

/** The row of these levels. */
export const rowOf = (levels: Levels, factors: readonly GroupedFactor[]): Row =>
  factors.map(({ name, numbers }) => numbers.get(levels[name])!);

/** All combinations of the levels of these factors, computed on demand. */
export function createSpace(all: readonly Factor[], isFeasible: IsFeasible, seed: number) {
  const factors = all.map(inGroups);
  const turns = new Map<string, number>();
  const isRowFeasible = feasibleRows(factors, isFeasible);
  const made: (readonly Combination[])[] = [];
  const numberings: Numbering[] = [];
  /** The next of these levels, which are a group. */
  const nextOf = (members: readonly string[]): string => {
    const [first] = members as readonly [string];
    if (members.length < 2) return first;
    const turn = turns.get(first) ?? Math.abs(seed);
    turns.set(first, turn + 1);
    return members[turn % members.length]!;
  };
  const space = {
    factors,
    /** The codes of all combinations of `strength` levels. */
    numbering: (strength: number): Numbering => (numberings[strength] ??= numberingOf(factors, strength)),
    /** The levels of a row. Those of a group take turns. */
    levelsIn: (row: Row): Partial<Levels> =>
      Object.fromEntries(factors.map(({ name, members }, at) => [name, nextOf(members[row[at]!]!)])),
    /** Whether a lookup with these levels exists. */
    isFeasible: isRowFeasible,
    combinations: (strength: number): readonly Combination[] =>
      (made[strength] ??= combinationsOf(space, space.numbering(strength), strength)),
  };
  return space;
}

type Space = Pick<ReturnType<typeof createSpace>, 'factors' | 'isFeasible'>;

/** All feasible combinations of `strength` levels. */
function combinationsOf(
  { factors, isFeasible }: Space,
  { choices }: Numbering,
  strength: number,
): readonly Combination[] {
  const found: Combination[] = [];
  const choiceOf = new Map(choices.map((one) => [one.at.reduce((mask, at) => mask | (1 << at), 0), one]));
  const row = factors.map(() => -1);
  /** @param mask one bit for each factor that has a level */
  const extend = (from: number, left: number, mask: number) => {
    if (left === 0) {
      if (isFeasible(row)) found.push({ code: codeOf(row, choiceOf.get(mask)!), row: [...row] });
      return;
    }
    for (let at = from; at <= factors.length - left; at++) {
      for (let level = 0; level < factors[at]!.names.length; level++) {
        row[at] = level;
        extend(at + 1, left - 1, mask | (1 << at));
      }
      row[at] = -1;
    }
  };
  extend(0, strength, 0);
  return found;
}

/** Says whether a lookup with the levels of a row exists. Only a few factors matter: each of their rows is asked for once. */
function feasibleRows(factors: readonly Factor[], isFeasible: IsFeasible): (row: Row) => boolean {
  const deciding = factors.map((_, at) => at).filter((at) => factors[at]!.isFree !== true);
  const sizes = deciding.map((at) => factors[at]!.names.length + 1);
  /** 0: not yet known. */
  const known = new Uint8Array(sizes.reduce((product, size) => product * size, 1));
  return (row) => {
    let place = 0;
    for (let nth = 0; nth < deciding.length; nth++) place = place * sizes[nth]! + row[deciding[nth]!]! + 1;
    if (known[place] === 0) known[place] = isFeasible(levelsOf(row, factors)) ? 1 : 2;
    return known[place] === 1;
  };
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
  /** By the place of a factor: the choices with it, and what the number of its level is multiplied by. */
  readonly choicesWith: readonly (readonly { readonly choice: Choice; readonly place: number }[])[];
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
  extend(0, [], [], 1);
  const choicesWith = factors.map((_, factor) =>
    choices.flatMap((choice) => {
      const nth = choice.at.indexOf(factor);
      return nth < 0 ? [] : [{ choice, place: choice.places[nth]! }];
    }),
  );
  return { choices, choicesWith, size };
}

function levelsOf(row: Row, factors: readonly Factor[]): Partial<Levels> {
  const levels: { -readonly [Name in keyof Levels]?: string } = {};
  for (let at = 0; at < factors.length; at++)
    if (row[at]! >= 0) levels[factors[at]!.name] = factors[at]!.names[row[at]!]!;
  return levels;
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

/**
 * Notes that a row covers its combinations.
 *
 * @param isLeft by code: 1 until a row covers it
 * @returns how many were left before
 */
export function cover(row: Row, { choices }: Numbering, isLeft: Uint8Array): number {
  let count = 0;
  for (let nth = 0; nth < choices.length; nth++) {
    const code = codeOf(row, choices[nth]!);
    if (code < 0 || isLeft[code] === 0) continue;
    isLeft[code] = 0;
    count++;
  }
  return count;
}

/** The place of the factor of which the first request of each level covers the plain one; -1 if there is none. */
export const repeatedIn = (factors: readonly Factor[]): number =>
  factors.findIndex(({ includesPlain }) => includesPlain);
