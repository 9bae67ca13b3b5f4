import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';
import {
  combinationsOf,
  eachShown,
  groupedFactors,
  type Combination,
  type Combinations,
  type Strength,
} from './coverage.ts';
import { headerLevels } from './credential-levels.ts';
import { factors, plainLevels } from './factors.ts';
import type { FactorName, Levels } from '../rules/requirement.ts';
import { completed, freeFactors, isFeasible } from './lookup-levels.ts';

/** Number of drawn rows of which the best one is chosen, by strength: a run may end after the first rows. */
const DRAWN = { 1: 24, 2: 16, 3: 8 };

/** How often it draws levels for a combination: not every level of a group exists with every other. */
const MAX_TRIES = 20;

/** What it is worth that a row is the first to show a combination, by its number of levels. */
const WORTH = [0, 1000, 100, 1];

/** The same for a triple with gates, for each of them if they may let a caller in: more faults are there. */
const [GATES, LETS_IN] = [2, 4];

/** A level that takes more requests or more time is drawn seldom. */
const mostlyPlain = [true, true, false];

/** Factors whose levels have the same answer, so that one does not hide another. */
const hidesNothing = new Set<FactorName>(['data', 'active key', 'id version', 'fields']);

const endsConnection = ({ header = 'Bearer' }: Partial<Levels>): boolean =>
  headerLevels[header]!.endsConnection === true;

/** Returns any item of a list. */
type AnyOf = <Item>(items: readonly Item[]) => Item;

/** Draws rows. Gates are plain unless told otherwise, so that they hide nothing. */
function createDrawing(endpoint: Endpoint, known: Known, anyOf: AnyOf) {
  const home = completed(endpoint, {}, known) ?? plainLevels(endpoint);
  const varied = groupedFactors[endpoint].filter(({ factor }) => !factor.isGate);
  const variedAlone = varied.filter(({ factor }) => hidesNothing.has(factor.name));
  /** A row with these levels; undefined if none exists. If they are tried alone, only what hides nothing is drawn. */
  const rowWith = (levels: Partial<Levels>, isAlone = false): Levels | undefined => {
    const near = { ...home, ...levels };
    const base = isFeasible(endpoint, near, known) ? near : completed(endpoint, levels, known);
    if (base === undefined) return undefined;
    const row: Record<FactorName, string> = { ...base };
    // Beside the data of others, a level would not be tried with own data any more.
    const ofAlone = base.situation === home.situation ? variedAlone : [];
    for (const { factor, choices } of isAlone ? ofAlone : varied) {
      const { name, names } = factor;
      if (name in levels) continue;
      if (factor.isCostly === true && anyOf(mostlyPlain)) continue;
      row[name] = anyOf(isAlone ? names : anyOf(choices).names);
      if (!freeFactors.has(name) && !isFeasible(endpoint, row, known)) row[name] = base[name];
    }
    return row;
  };
  /** A row that shows a combination; undefined if none is found. */
  const rowShowing = ({ groups }: Combination): Levels | undefined => {
    for (let nth = 0; nth < MAX_TRIES; nth++) {
      const levels: Partial<Levels> = Object.fromEntries(
        groups.map(({ factor, names }) => [factor.name, anyOf(names)]),
      );
      if (groups.length === 3 && endsConnection(levels)) continue;
      // A level is first tried alone, with own data.
      const row = rowWith(levels, groups.length === 1);
      if (row !== undefined) return row;
    }
    return undefined;
  };
  return { rowWith, rowShowing };
}

/** What a row is worth: the combinations that no row has shown. One that costs twice as much gains half of it. */
function worthOf(endpoint: Endpoint, row: Levels, all: Combinations, shown: Uint8Array): number {
  const notPlain = factors[endpoint].filter(({ name, names }) => row[name] !== names[0]);
  const gates = notPlain.filter(({ isGate }) => isGate);
  const isOpen = gates.length > 0 && gates.every(({ name, levels }) => levels[row[name]]!.mayLetIn === true);
  const ofTriple = isOpen ? LETS_IN * gates.length : gates.length > 0 ? GATES : WORTH[3]!;
  let worth = 0;
  eachShown(endpoint, all, row, ({ place, groups: { length } }) => {
    if (shown[place] === 0) worth += length === 3 ? ofTriple : WORTH[length]!;
  });
  const costly = notPlain.filter(({ isCostly }) => isCostly === true);
  return worth / 2 ** costly.length;
}

/** Chooses rows: of some that each show a combination that no row has shown, the one that is worth most. */
export function createChooser(endpoint: Endpoint, known: Known, seed: number) {
  const random = xoroshiro128plus(seed);
  const anyOf: AnyOf = (items) => items[uniformInt(random, 0, items.length - 1)]!;
  const { rowWith, rowShowing } = createDrawing(endpoint, known, anyOf);
  const all = combinationsOf(endpoint, known);
  const shown = new Uint8Array(all.count);
  /** The combinations that no row may have shown, by strength. */
  const left = { 1: [...all.byStrength[1]], 2: [...all.byStrength[2]], 3: [...all.byStrength[3]] };
  const best = (strength: Strength, draw: () => Levels | undefined): Levels | undefined => {
    const rows = Array.from({ length: DRAWN[strength] }, draw).filter((row) => row !== undefined);
    const worths = rows.map((row) => worthOf(endpoint, row, all, shown));
    return rows[worths.indexOf(Math.max(...worths))];
  };
  const drawNew = (strength: Strength): Levels | undefined => {
    const list = left[strength];
    while (list.length > 0) {
      const at = uniformInt(random, 0, list.length - 1);
      const row = shown[list[at]!.place] === 0 ? rowShowing(list[at]!) : undefined;
      if (row !== undefined) return row;
      // A row has shown it, or no complete row does.
      list[at] = list.at(-1)!;
      list.pop();
    }
    return undefined;
  };
  /** A row with a combination of this strength that no row has shown; undefined if there is none. */
  const next = (strength: Strength): Levels | undefined => best(strength, () => drawNew(strength));
  return {
    next,
    /** A row with a triple that no row has shown. Once each was shown, it begins again. */
    any: (): Levels => {
      for (;;) {
        const row = next(3);
        if (row !== undefined) return row;
        shown.fill(0);
        left[3] = [...all.byStrength[3]];
      }
    },
    /** The best row with these levels, of which a lookup exists. */
    around: (levels: Partial<Levels>): Levels => best(3, () => rowWith(levels))!,
    take: (row: Levels): void => eachShown(endpoint, all, row, ({ place }) => (shown[place] = 1)),
  };
}
