import { endpointNames, perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import type { Coverage as Figures } from '../../schemas/generated/types.ts';
import type { Known } from '../known.ts';
import { missingKinds } from './entities.ts';
import { factors, type Factor } from './factors.ts';
import type { Levels } from '../rules/requirement.ts';
import type { Level } from './levels.ts';
import { freeFactors, isFeasible, missingLevels, oncePerFixture } from './lookup-levels.ts';

/** Number of levels of a combination: a level, a pair, a triple. */
export type Strength = 1 | 2 | 3;

/** A level of a factor, and its numbers. */
export interface Numbered {
  readonly factor: Factor;
  readonly name: string;
  readonly level: Level;
  /** Whether it may hide everything else: it is a level of a gate, and not the plain one. */
  readonly hides: boolean;
  /** For the level alone. */
  readonly alone: number;
  /** For combinations with other factors: levels of a group have the same. */
  readonly grouped: number;
  /** For combinations with other gates; without it, it is not combined with them. */
  readonly withGates: number | undefined;
  /** What a lookup with it shows: the first of repeated requests shows the plain level, too. */
  readonly shownAlone: readonly number[];
  readonly shownGrouped: readonly number[];
}

/** A factor, and its levels by name. */
interface NumberedFactor extends Factor {
  readonly numbered: ReadonlyMap<string, Numbered>;
}

interface Numbering {
  /** Gates first. */
  readonly all: readonly NumberedFactor[];
  /** How many of them are gates. */
  readonly gates: number;
  /** The levels with a number, which is the place. */
  readonly byNumber: readonly (readonly Numbered[])[];
  /** More than any number. */
  readonly base: number;
}

function numberingOf(endpoint: Endpoint): Numbering {
  const byNumber: Numbered[][] = [[]];
  const all = factors[endpoint]
    .toSorted((one, other) => Number(other.isGate) - Number(one.isGate))
    .map((factor) => {
      const { names, levels, isGate, includesPlain = false } = factor;
      const numbers = new Map<string, number>();
      const numberOf = (text: string): number => {
        const number = numbers.get(text) ?? byNumber.push([]) - 1;
        numbers.set(text, number);
        return number;
      };
      const groupOf = (name: string) => levels[name]!.group ?? name;
      const [plain] = names as readonly [string, ...string[]];
      const numbered = names.map((name): [string, Numbered] => {
        const { gateGroup = groupOf(name) } = levels[name]!;
        const shown = includesPlain && name !== plain ? [name, plain] : [name];
        const one = {
          factor,
          name,
          level: levels[name]!,
          hides: isGate && name !== plain,
          alone: numberOf(name),
          grouped: numberOf(groupOf(name)),
          withGates: gateGroup === 'never' ? undefined : numberOf(gateGroup),
          shownAlone: shown.map(numberOf),
          shownGrouped: shown.map((each) => numberOf(groupOf(each))),
        };
        for (const number of new Set([one.alone, one.grouped, one.withGates]))
          if (number !== undefined) byNumber[number]!.push(one);
        return [name, one];
      });
      return { ...factor, numbered: new Map(numbered) };
    });
  return { all, gates: all.filter(({ isGate }) => isGate).length, byNumber, base: byNumber.length };
}

const numberings = perEndpoint(numberingOf);

/** The factors of an endpoint, gates first. */
export const numberedFactors = (endpoint: Endpoint): readonly NumberedFactor[] => numberings[endpoint].all;

/** The numbers of the gates of a combination. Each key goes with each header: only others are grouped. */
const gateNumbers = (gates: readonly Factor[]): 'grouped' | 'withGates' =>
  gates.length > 1 && gates.some(({ name }) => name !== 'key' && name !== 'header') ? 'withGates' : 'grouped';

/** The levels of a lookup with their numbers, in the order of `numberedFactors`. */
export const numberedOf = (endpoint: Endpoint, levels: Levels): readonly Numbered[] =>
  numberings[endpoint].all.map(({ name, numbered }) => numbered.get(levels[name])!);

/**
 * The codes of the combinations that a lookup shows: the numbers of their levels are the digits. A gate that is not
 * plain may hide everything else, so each such gate must be part of the combination.
 */
export function combinationsIn(endpoint: Endpoint, levels: Levels): readonly number[] {
  const found: number[] = [];
  eachCombination(endpoint, numberedOf(endpoint, levels), -1, (code) => found.push(code));
  return found;
}

type Take = (code: number) => void;

/**
 * Calls `take` with the code of each combination that a lookup shows.
 *
 * @param only place of a factor that is no gate: only combinations with its level; -1 for all
 */
function eachCombination(endpoint: Endpoint, shown: readonly Numbered[], only: number, take: Take): void {
  const { gates: count, base } = numberings[endpoint];
  const gates = shown.filter(({ hides }) => hides);
  if (gates.length > 3) return;
  const singles = gates.length === 0 ? shown.slice(count) : gates.length === 1 ? gates : [];
  for (const one of singles) if (only < 0 || one === shown[only]) one.shownAlone.forEach(take);
  const kind = gateNumbers(gates.map(({ factor }) => factor));
  let start = 0;
  for (const gate of gates) {
    const number = gate[kind];
    if (number === undefined) return;
    start = start * base + number;
  }
  if (gates.length > 1 && only < 0) take(start);
  if (gates.length < 3) eachLonger({ shown, base, only, take }, start, count, gates.length);
}

interface Longer {
  readonly shown: readonly Numbered[];
  readonly base: number;
  readonly only: number;
  readonly take: Take;
}

/** Combines a code, of `size` levels, with the levels of one or more factors from a place on. */
function eachLonger(of: Longer, code: number, from: number, size: number): void {
  const { shown, base, only, take } = of;
  // As long as the only factor is still to come, none after it does.
  const last = from > only ? shown.length - 1 : only;
  for (let at = from; at <= last; at++)
    for (const number of shown[at]!.shownGrouped) {
      const longer = code * base + number;
      if (size > 0 && at >= only) take(longer);
      if (size < 2) eachLonger(of, longer, at + 1, size + 1);
    }
}

/**
 * Calls `take` with the codes of what a lookup shows: combinations, and pairs in which each level of a group counts for
 * itself, with at most one gate that is not plain.
 *
 * @param only place of a factor that is no gate: only what its level shows; -1 for all
 */
export function eachShown(endpoint: Endpoint, shown: readonly Numbered[], only: number, take: Take): void {
  eachCombination(endpoint, shown, only, take);
  const { gates: count, base } = numberings[endpoint];
  const gates = shown.filter(({ hides }) => hides);
  if (gates.length > 1) return;
  // A gate that is not plain masks what is not combined with it.
  const [firsts, step] = gates.length === 1 ? [gates, 0] : [shown.slice(count), 1];
  for (const [at, one] of firsts.entries())
    for (let second = count + at + step; second < shown.length; second++) {
      const other = shown[second]!;
      if (only >= 0 && second !== only && one !== shown[only]) continue;
      if (one.alone !== one.grouped || other.alone !== other.grouped) take(one.alone * base + other.alone);
    }
}

/** A zero for each code of an endpoint. */
export const zeros = (endpoint: Endpoint) => new Uint16Array(numberings[endpoint].base ** 3);

/** The codes of all combinations of a strength that a fixture allows. Numbers alone: objects would take 0.1 s. */
export const combinationsOf = oncePerFixture((endpoint, known, strength: Strength): readonly number[] => {
  const { all, base } = numberings[endpoint];
  const found: number[] = [];
  const isFound = zeros(endpoint);
  const levels: { -readonly [Name in keyof Levels]?: string } = {};
  /** Adds a level of each of some factors in turn. */
  const extend = (
    chosen: Numbering['all'],
    kindOf: (factor: Factor) => 'alone' | 'grouped' | 'withGates',
    at = 0,
    code = 0,
  ): void => {
    const factor = chosen[at]!;
    const isLast = at === chosen.length - 1;
    for (const one of factor.numbered.values()) {
      const number = one[kindOf(factor)];
      if (number === undefined || (factor.isGate && !one.hides)) continue;
      const longer = code * base + number;
      // Most levels of a group show nothing new.
      if (isLast && isFound[longer] === 1) continue;
      levels[factor.name] = one.name;
      if (!freeFactors.has(factor.name) && !isFeasible(endpoint, levels, known)) continue;
      if (isLast) isFound[longer] = 1;
      if (isLast) found.push(longer);
      else extend(chosen, kindOf, at + 1, longer);
    }
    delete levels[factor.name];
  };
  for (const chosen of subsets(all, strength)) {
    const ofGates = gateNumbers(chosen.filter(({ isGate }) => isGate));
    extend(chosen, ({ isGate }) => (strength === 1 ? 'alone' : isGate ? ofGates : 'grouped'));
  }
  return found;
});

/** The levels of a combination; of those of a group, the first one. */
export function levelsOf(endpoint: Endpoint, code: number): readonly Numbered[] {
  const { base, byNumber } = numberings[endpoint];
  const [last] = byNumber[code % base]!;
  return code < base ? [last!] : [...levelsOf(endpoint, Math.floor(code / base)), last!];
}

/** Feasible levels of a combination. @param first which of several it tries first */
export function feasibleLevels(endpoint: Endpoint, code: number, known: Known, first = 0): Partial<Levels> {
  const { base, byNumber } = numberings[endpoint];
  const choices = (rest: number): readonly Partial<Levels>[] =>
    rest === 0
      ? [{}]
      : choices(Math.floor(rest / base)).flatMap((levels) =>
          byNumber[rest % base]!.map(({ factor, name }) => ({ ...levels, [factor.name]: name })),
        );
  const all = choices(code);
  const from = first % all.length;
  return [...all.slice(from), ...all.slice(0, from)].find((levels) => isFeasible(endpoint, levels, known))!;
}

/** All choices of so many items. */
const subsets = <Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] =>
  size === 0
    ? [[]]
    : items.flatMap((item, at) => subsets(items.slice(at + 1), size - 1).map((rest) => [item, ...rest]));

export type Coverage = ReturnType<typeof createCoverage>;

/** Counts the combinations that the lookups of a run have shown. */
export function createCoverage(known: Known) {
  const shown = perEndpoint(zeros);
  return {
    /** Records that a lookup with these levels was answered. */
    take: (endpoint: Endpoint, levels: Levels): void => {
      for (const code of combinationsIn(endpoint, levels)) shown[endpoint][code] = 1;
    },
    figures: (): { readonly strength: number; readonly coverage: Figures } => {
      const [levels, pairs, triples] = ([1, 2, 3] as const).map((strength): [number, number] => {
        let [covered, total] = [0, 0];
        for (const endpoint of endpointNames)
          for (const code of combinationsOf(endpoint, known, strength)) {
            covered += shown[endpoint][code]!;
            total++;
          }
        return [covered, total];
      }) as [[number, number], [number, number], [number, number]];
      const firstCut = [levels, pairs, triples].findIndex(([covered, total]) => covered < total);
      const missingOf = (endpoint: Endpoint) =>
        missingLevels(endpoint, known).map((level) => `${endpoint}, ${level}`);
      const missing = [...endpointNames.flatMap(missingOf), ...missingKinds(known)];
      return { strength: firstCut < 0 ? 3 : firstCut, coverage: { levels, pairs, triples, missing } };
    },
  };
}
