import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';
import {
  combinationsIn,
  combinationsOf,
  eachShown,
  feasibleLevels,
  levelsOf,
  numberedFactors,
  numberedOf,
  zeros,
  type Numbered,
} from './coverage.ts';
import { factors, plainLevels, type Factor } from './factors.ts';
import type { FactorName, Levels } from '../rules/requirement.ts';
import { completed, freeFactors, isFeasible } from './lookup-levels.ts';
import { headerLevels } from './credential-levels.ts';

/** Number of rows of which the best one is improved: drawn, or each with a triple that no row has shown. */
const [DRAWN, WITH_TRIPLES] = [8, 2];

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

/** A row that may be chosen. */
interface Candidate {
  readonly levels: Record<FactorName, string>;
  /** The same levels, in the order of `numberedFactors`. */
  readonly shown: Numbered[];
}

const places = perEndpoint((endpoint) =>
  numberedFactors(endpoint).map((factor) => placesOf(factor).map((name) => factor.numbered.get(name)!)),
);

const endsConnection = ({ header = 'Bearer' }: Partial<Levels>) =>
  headerLevels[header]!.endsConnection === true;

type Draw = (given: Partial<Levels>, most: number) => readonly Candidate[];

/** Draws rows with given levels, as far as they exist. Arbitraries would take 0.15 s more of the processor in a default run. */
function createDraw(endpoint: Endpoint, known: Known, seed: number): Draw {
  const random = xoroshiro128plus(seed);
  const drawOne = (given: Partial<Levels>): Candidate => {
    const levels = { ...plainLevels(endpoint) };
    const shown = numberedFactors(endpoint).map(({ name, numbered }, at) => {
      const all = places[endpoint][at]!;
      const level = given[name];
      const one = level === undefined ? all[uniformInt(random, 0, all.length - 1)]! : numbered.get(level)!;
      levels[name] = one.name;
      return one;
    });
    return { levels, shown };
  };
  return (given, most) => {
    const found: Candidate[] = [];
    for (let nth = 0; nth < MAX_DRAWS && found.length < most; nth++) {
      const row = drawOne(given);
      if (given.header === undefined && endsConnection(row.levels)) continue;
      if (isFeasible(endpoint, row.levels, known)) found.push(row);
    }
    return found;
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

/** The worth of a combination that was not counted yet. */
const UNKNOWN = 0xffff;

/** What rows are worth: the combinations that no row has shown. A row that costs twice as much gains half of it. */
function createWorth(endpoint: Endpoint, known: Known, pairs: readonly number[]) {
  const worth = zeros(endpoint).fill(UNKNOWN);
  for (const code of pairs) worth[code] = PAIR;
  const of = (code: number): number => {
    if (worth[code] === UNKNOWN) worth[code] = worthOf(levelsOf(endpoint, code));
    return worth[code]!;
  };
  const take = (code: number) => {
    worth[code] = 0;
  };
  const list = numberedFactors(endpoint);
  const costly = list.filter(({ isCostly }) => isCostly === true);
  const costOf = ({ levels }: Candidate) =>
    2 ** costly.filter(({ name, names }) => levels[name] !== names[0]).length;
  /** @param only place of a factor: what its level is worth */
  const sumOf = ({ shown }: Candidate, only = -1): number => {
    let sum = 0;
    eachShown(endpoint, shown, only, (code) => (sum += of(code)));
    return sum;
  };
  const gainOf = (row: Candidate) => sumOf(row) / costOf(row);
  /** Gives one factor after another the level that gains most, but for gates and these levels. */
  const improve = (row: Candidate, kept: Partial<Levels>): void => {
    let sum = sumOf(row);
    let most = sum / costOf(row);
    const change = (at: number, one: Numbered) => {
      row.shown[at] = one;
      row.levels[one.factor.name] = one.name;
    };
    for (const [at, { name, isGate, numbered }] of list.entries()) {
      if (isGate || name in kept) continue;
      const before = row.shown[at]!;
      let best = before;
      const rest = sum - sumOf(row, at);
      for (const one of numbered.values()) {
        if (one === before) continue;
        change(at, one);
        if (!freeFactors.has(name) && !isFeasible(endpoint, row.levels, known)) continue;
        const changed = rest + sumOf(row, at);
        const gain = changed / costOf(row);
        if (gain > most) [best, sum, most] = [one, changed, gain];
      }
      change(at, best);
    }
  };
  return { of, take, gainOf, improve };
}

const plainGates = perEndpoint((endpoint): Partial<Levels> => {
  const gates = factors[endpoint].filter(({ isGate }) => isGate);
  return Object.fromEntries(gates.map(({ name, names }) => [name, names[0]!]));
});

/** Returns a function that draws a row with a triple that no row has shown; it returns undefined if there is none. */
function createTriples(
  endpoint: Endpoint,
  known: Known,
  seed: number,
  draw: Draw,
  worthOfCode: (code: number) => number,
): () => Candidate | undefined {
  const random = xoroshiro128plus(~seed);
  let left: number[] | undefined;
  return () => {
    left ??= [...combinationsOf(endpoint, known, 3)];
    while (left.length > 0) {
      const at = uniformInt(random, 0, left.length - 1);
      const code = left[at]!;
      if (worthOfCode(code) > 0) {
        const levels = feasibleLevels(endpoint, code, known, at);
        const [row] = endsConnection(levels) ? [] : draw({ ...plainGates[endpoint], ...levels }, 1);
        if (row !== undefined) return row;
      }
      // A row has shown it, or no row is to.
      left[at] = left.at(-1)!;
      left.pop();
    }
    return undefined;
  };
}

/** Chooses rows that show most of what no row has shown. */
export function createChooser(endpoint: Endpoint, known: Known, seed: number) {
  const pairs = combinationsOf(endpoint, known, 2);
  /** The combinations that may not have been shown, by strength. */
  const left = {
    1: new Set(levelsInTurn(endpoint, combinationsOf(endpoint, known, 1), seed)),
    2: new Set(pairs),
  };
  const worth = createWorth(endpoint, known, pairs);
  // A level is first tried alone with own data, but for levels that hide nothing.
  const alone = Object.fromEntries(
    Object.entries(plainLevels(endpoint)).filter(
      ([name]) => name in plainGates[endpoint] || !hidesNothing.has(name as FactorName),
    ),
  );
  const draw = createDraw(endpoint, known, seed);
  /** The one that gains most, improved. @param kept levels that stay */
  const bestOf = (rows: readonly Candidate[], kept: Partial<Levels>): Levels | undefined => {
    const gains = rows.map(worth.gainOf);
    const best = rows[gains.indexOf(Math.max(...gains))];
    if (best !== undefined) worth.improve(best, kept);
    return best?.levels;
  };
  /** The best row with these levels; undefined if none exists. */
  const best = (levels: Partial<Levels> = {}): Levels | undefined => bestOf(draw(levels, DRAWN), levels);
  const withTriple = createTriples(endpoint, known, seed, draw, worth.of);
  /** The best row with these levels. Other gates are plain, so that they hide nothing. */
  const around = (levels: Partial<Levels>): Levels =>
    best({ ...plainGates[endpoint], ...levels }) ?? completed(endpoint, levels, known)!;
  return {
    around,
    any: (): Levels => {
      // A small fixture allows few rows: perhaps none of those drawn, and not the plain one.
      for (;;) {
        const rows = Array.from({ length: WITH_TRIPLES }, withTriple).filter((row) => row !== undefined);
        const row = rows.length > 0 ? bestOf(rows, {}) : draw({}, 1)[0]?.levels;
        if (row !== undefined) return row;
      }
    },
    take: (row: Levels): void => eachShown(endpoint, numberedOf(endpoint, row), -1, worth.take),
    /** A row with a combination of this strength that no row has shown; undefined if there is none. */
    next: (strength: 1 | 2): Levels | undefined => {
      const isNew = (code: number) => worth.of(code) > 0 && left[strength].has(code);
      const free = strength === 1 ? undefined : best();
      if (free !== undefined && combinationsIn(endpoint, free).some(isNew)) return free;
      for (const code of left[strength]) {
        if (worth.of(code) > 0) {
          const levels = feasibleLevels(endpoint, code, known);
          const chosen = best({ ...(strength === 1 ? alone : plainGates[endpoint]), ...levels });
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
