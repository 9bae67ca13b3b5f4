import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../catalogue/known.ts';
import {
  combinationsIn,
  combinationsOf,
  feasibleLevels,
  levelsOf,
  shownBy,
  zeros,
  type Numbered,
} from './coverage.ts';
import { factors, plainLevels, type Factor, type FactorName, type Levels } from './factors.ts';
import { completed, isFeasible } from './lookup-levels.ts';
import { headerLevels } from './credential-levels.ts';

/** Number of new rows for each choice, and of those that it keeps for the next one. */
const [DRAWN, KEPT] = [12, 24];

/** Some drawn rows do not exist: with given levels, or for a small fixture, most of them. */
const MAX_DRAWS = 60;

/** How often a level is drawn that may let a caller in, compared with others of a gate. */
const LETS_IN = 4;

/**
 * How often a factor is plain, compared with all other levels together. A gate may hide the other factors, and a level
 * that is costly takes more requests or more time.
 */
function plainWeight({ name, names, isGate, isCostly }: Factor): number {
  if (isGate) return 3;
  if (isCostly === true) return 6;
  return name === 'situation' ? 1 : 1 / (names.length - 1);
}

/** Number of places for the levels of a factor. */
const PLACES = 2000;

/** The levels of a factor, each in as many places as it is drawn often. Those of a group share those of one level. */
function placesOf(factor: Factor): readonly string[] {
  const [plain, ...others] = factor.names as readonly [string, ...string[]];
  const groupOf = (name: string) => factor.levels[name]!.group ?? name;
  const weighted = others.map((name): [string, number] => {
    const size = others.filter((one) => groupOf(one) === groupOf(name)).length;
    return [name, (factor.levels[name]!.mayLetIn === true ? LETS_IN : 1) / size];
  });
  const sum = weighted.reduce((all, [, weight]) => all + weight, 0);
  const share = PLACES / (sum * (plainWeight(factor) + 1));
  return [[plain, sum * plainWeight(factor)] as const, ...weighted].flatMap(([name, weight]) =>
    Array.from({ length: Math.ceil(weight * share) }, () => name),
  );
}

const places = perEndpoint((endpoint) =>
  factors[endpoint].map((factor) => [factor.name, placesOf(factor)] as const),
);

/** Draws rows with given levels. Arbitraries would take 0.15 s more of the processor in a default run. */
function createDraw(endpoint: Endpoint, seed: number): (levels: Partial<Levels>) => Levels {
  const random = xoroshiro128plus(seed);
  return (levels) => {
    const row: Record<FactorName, string> = { ...plainLevels(endpoint) };
    for (const [name, all] of places[endpoint])
      row[name] = levels[name] ?? all[uniformInt(random, 0, all.length - 1)]!;
    return row;
  };
}

/** What it is worth that a row is the first to show a level, a pair, or a pair of levels of groups. */
const [LEVEL, PAIR, FINE_PAIR] = [1000, 100, 50];

/** What it is worth that a row is the first to show a combination. Most worth have those of a lower strength. */
function worthOf(combination: readonly Numbered[]): number {
  // Pairs of single levels have the codes of pairs, but are none.
  if (combination.length < 3) return combination.length === 1 ? LEVEL : FINE_PAIR;
  const gates = combination.filter(({ factor }) => factor.isGate);
  const isOpen = gates.every(({ level }) => level.mayLetIn === true);
  const key = gates.find(({ factor }) => factor.name === 'key')?.name ?? 'active';
  // What decides the answer hides fine differences, which are rarely wrong then.
  const isHidden = ({ level }: Numbered) => (isOpen ? level.isRare?.(key) : level.isFine) === true;
  if (combination.some((one) => !one.factor.isGate && isHidden(one))) return 0;
  if (gates.length === 0) return 1;
  // Such a row shows fewer combinations. More faults have a gate that may let a caller in.
  return isOpen ? 4 * gates.length : 2;
}

/** The levels: an open one, a malformed one and one of the key or header in turn. Each seed begins with others. */
function levelsInTurn(endpoint: Endpoint, codes: readonly number[], seed: number): readonly number[] {
  const lists: number[][] = [[], [], []];
  for (const code of codes) {
    const { name, isGate } = levelsOf(endpoint, code)[0]!.factor;
    const ofKey = name === 'key' || name === 'header' ? 2 : 1;
    lists[isGate ? ofKey : 0]!.push(code);
  }
  return lists
    .flatMap((list) => list.map((code, at) => ({ code, place: (at + Math.abs(seed)) % list.length })))
    .toSorted((a, b) => a.place - b.place)
    .map(({ code }) => code);
}

/** Factors whose levels have the same answer, so that one does not hide another. */
const hidesNothing = new Set<FactorName>(['data', 'active key', 'id version', 'fields']);

/** A row that may be chosen. */
interface Candidate {
  readonly levels: Levels;
  /** What it shows. */
  readonly codes: readonly number[];
  readonly cost: number;
  /** What it gained when that was last counted. */
  gain: number;
}

/** Removes the best one. No row gains more than it did before: only those that may be best are counted again. */
function takeBest(candidates: Candidate[], gainOf: (candidate: Candidate) => number): Levels | undefined {
  for (;;) {
    const best = candidates.reduce<Candidate | undefined>(
      (most, one) => (most !== undefined && most.gain >= one.gain ? most : one),
      undefined,
    );
    if (best === undefined) return undefined;
    const { gain } = best;
    best.gain = gainOf(best);
    if (best.gain === gain) return candidates.splice(candidates.indexOf(best), 1)[0]!.levels;
  }
}

/** The worth of a combination that was not counted yet. */
const UNKNOWN = 0xffff;

/** The worth of each combination by its code, and 0 once a row has shown it. */
function createWorth(endpoint: Endpoint, pairs: readonly number[]) {
  const worth = zeros(endpoint).fill(UNKNOWN);
  for (const code of pairs) worth[code] = PAIR;
  const of = (code: number): number => {
    if (worth[code] === UNKNOWN) worth[code] = worthOf(levelsOf(endpoint, code));
    return worth[code]!;
  };
  const take = (codes: readonly number[]) => {
    for (const code of codes) worth[code] = 0;
  };
  return { of, take };
}

/** Chooses rows that show most of what no row has shown. */
export function createChooser(endpoint: Endpoint, known: Known, seed: number) {
  const pairs = combinationsOf(endpoint, known, 2);
  /** The combinations that may not have been shown, by strength. */
  const left = {
    1: new Set(levelsInTurn(endpoint, combinationsOf(endpoint, known, 1), seed)),
    2: new Set(pairs),
  };
  const worth = createWorth(endpoint, pairs);
  const gainOf = ({ codes, cost }: Candidate) => {
    let sum = 0;
    for (const code of codes) sum += worth.of(code);
    return sum / cost;
  };
  const gates = factors[endpoint].filter(({ isGate }) => isGate);
  const costly = factors[endpoint].filter(({ isCostly }) => isCostly === true);
  const plainGates = Object.fromEntries(gates.map(({ name, names }) => [name, names[0]!]));
  // A level is first tried alone with own data, but for levels that hide nothing.
  const alone = Object.fromEntries(
    Object.entries(plainLevels(endpoint)).filter(
      ([name]) => name in plainGates || !hidesNothing.has(name as FactorName),
    ),
  );
  const drawRow = createDraw(endpoint, seed);
  /** Draws rows with these levels, as far as they exist. */
  const draw = (levels: Partial<Levels> = {}): Candidate[] => {
    const found: Candidate[] = [];
    for (let nth = 0; nth < MAX_DRAWS && found.length < DRAWN; nth++) {
      const row: Levels = drawRow(levels);
      if (headerLevels[row.header]!.endsConnection === true && levels.header === undefined) continue;
      if (!isFeasible(endpoint, row, known)) continue;
      const cost = 2 ** costly.filter(({ name, names }) => row[name] !== names[0]).length;
      found.push({ levels: row, codes: shownBy(endpoint, row), cost, gain: Infinity });
    }
    return found;
  };
  let kept: Candidate[] = [];
  /** Draws rows with these levels, and takes the best one; undefined if none of them exists. */
  const best = (levels?: Partial<Levels>): Levels | undefined => {
    if (levels !== undefined) return takeBest(draw(levels), gainOf);
    kept.sort((one, other) => other.gain - one.gain);
    kept = [...draw(), ...kept.slice(0, KEPT)];
    return takeBest(kept, gainOf);
  };
  /** The best row with these levels. Other gates are plain, so that they hide nothing. */
  const around = (levels: Partial<Levels>): Levels =>
    best({ ...plainGates, ...levels }) ?? completed(endpoint, levels, known)!;
  return {
    around,
    any: (): Levels => {
      // A small fixture allows few rows: perhaps none of those drawn, and not the plain one.
      for (;;) {
        const row = best();
        if (row !== undefined) return row;
      }
    },
    take: (row: Levels): void => worth.take(shownBy(endpoint, row)),
    /** A row with a combination of this strength that no row has shown; undefined if there is none. */
    next: (strength: 1 | 2): Levels | undefined => {
      const isNew = (code: number) => worth.of(code) > 0 && left[strength].has(code);
      const free = strength === 1 ? undefined : best();
      if (free !== undefined && combinationsIn(endpoint, free).some(isNew)) return free;
      for (const code of left[strength]) {
        if (worth.of(code) > 0) {
          const levels = feasibleLevels(endpoint, code, known);
          const chosen = best({ ...(strength === 1 ? alone : plainGates), ...levels });
          const row = [chosen, completed(endpoint, levels, known)].find(
            (one) => one !== undefined && combinationsIn(endpoint, one).includes(code),
          );
          if (row !== undefined) return row;
        }
        // A row has shown it, or no complete row does.
        left[strength].delete(code);
      }
      return undefined;
    },
  };
}
