import { endpointNames, perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import { oncePer } from '../../schemas/once-per.ts';
import type { Coverage } from '../../schemas/generated/types.ts';
import type { Known } from '../catalogue/known.ts';
import { missingKinds } from './entities.ts';
import { factors, type Factor, type Levels } from './factors.ts';
import { isFeasible, missingLevels } from './feasible.ts';
import type { Level } from './levels.ts';

/** Number of levels of a combination: a level, a pair, a triple. */
export type Strength = 1 | 2 | 3;

/** Numbers of levels, by name. */
type Numbers = ReadonlyMap<string, number>;

/** The numbers that a level of a lookup shows: a first request shows the plain level, too. */
type Shown = ReadonlyMap<string, readonly number[]>;

/** A factor with numbers for each of its levels. */
interface Numbered extends Factor {
  /** For a level alone. */
  readonly alone: Numbers;
  readonly shownAlone: Shown;
  /** For combinations with other factors: levels of a group have the same. */
  readonly grouped: Numbers;
  readonly shownGrouped: Shown;
  /** For combinations with other gates; a level without a number is not combined with them. */
  readonly withGates: Numbers;
}

interface Numbering {
  /** Gates first. */
  readonly all: readonly Numbered[];
  /** Factors that are no gates. */
  readonly others: readonly Numbered[];
  /** More than any number. */
  readonly base: number;
}

function numberingOf(endpoint: Endpoint): Numbering {
  let next = 1;
  const all = factors[endpoint].map((factor): Numbered => {
    const numbers = new Map<string, number>();
    const numbersOf = (groupOf: (level: Level, name: string) => string | undefined) =>
      new Map(
        factor.names.flatMap((name) => {
          const group = groupOf(factor.levels[name]!, name);
          if (group === undefined) return [];
          if (!numbers.has(group)) numbers.set(group, next++);
          return [[name, numbers.get(group)!] as const];
        }),
      );
    const shown = (of: Numbers): Shown => {
      const plain = factor.names[0]!;
      const levelsOf = (name: string) =>
        factor.includesPlain === true && name !== plain ? [name, plain] : [name];
      return new Map(factor.names.map((name) => [name, levelsOf(name).map((one) => of.get(one)!)]));
    };
    const alone = numbersOf((_, name) => name);
    const grouped = numbersOf(({ group }, name) => group ?? name);
    return {
      ...factor,
      alone,
      shownAlone: shown(alone),
      grouped,
      shownGrouped: shown(grouped),
      withGates: numbersOf(({ group, gateGroup = group }, name) =>
        gateGroup === 'never' ? undefined : (gateGroup ?? name),
      ),
    };
  });
  const [gates, others] = [all.filter(({ isGate }) => isGate), all.filter(({ isGate }) => !isGate)];
  return { all: [...gates, ...others], others, base: next };
}

const numberings = perEndpoint(numberingOf);

/** The numbers of the gates of a combination. Each key goes with each header: only others are grouped. */
const gateNumbers = (gates: readonly Numbered[]): 'grouped' | 'withGates' =>
  gates.length > 1 && gates.some(({ name }) => name !== 'key' && name !== 'header') ? 'withGates' : 'grouped';

/**
 * The codes of the combinations that a lookup shows: the numbers of their levels are the digits. A gate that is not
 * plain may hide everything else, so each such gate must be part of the combination.
 */
export function combinationsIn(endpoint: Endpoint, levels: Levels): readonly number[] {
  const { all, others, base } = numberings[endpoint];
  const gates = all.filter(({ name, names, isGate }) => isGate && levels[name] !== names[0]);
  if (gates.length > 3) return [];
  const found = (gates.length === 0 ? others : gates.length === 1 ? gates : []).flatMap(
    ({ name, shownAlone }) => shownAlone.get(levels[name])!,
  );
  const kind = gateNumbers(gates);
  let start = 0;
  for (const gate of gates) {
    const number = gate[kind].get(levels[gate.name]);
    if (number === undefined) return found;
    start = start * base + number;
  }
  if (gates.length > 1) found.push(start);
  const numbers = others.map(({ name, shownGrouped }) => shownGrouped.get(levels[name])!);
  /** Adds a level of each of some other factors. */
  const extend = (code: number, from: number, size: number) => {
    for (let at = from; at < numbers.length; at++)
      for (const number of numbers[at]!) {
        const longer = code * base + number;
        if (size > 0) found.push(longer);
        if (size < 2) extend(longer, at + 1, size + 1);
      }
  };
  if (gates.length < 3) extend(start, 0, gates.length);
  return found;
}

/** The codes of the pairs in which each level of a group counts for itself, with at most one gate that is not plain. */
export function finePairsIn(endpoint: Endpoint, levels: Levels): readonly number[] {
  const { all, base } = numberings[endpoint];
  const shown = all.filter(({ name, names, isGate }) => !isGate || levels[name] !== names[0]);
  if (shown[1]?.isGate === true) return [];
  const numbers = shown.map(({ name, alone }) => alone.get(levels[name])!);
  // A gate that is not plain masks what is not combined with it.
  const firsts = shown[0]?.isGate === true ? numbers.slice(0, 1) : numbers;
  return firsts.flatMap((first, at) => numbers.slice(at + 1).map((second) => first * base + second));
}

/** The codes of levels come before those of pairs, and these before those of triples. */
export function strengthOf(endpoint: Endpoint, code: number): Strength {
  const { base } = numberings[endpoint];
  if (code < base) return 1;
  return code < base ** 2 ? 2 : 3;
}

/** A zero for each code of an endpoint. */
export const zeros = (endpoint: Endpoint) => new Uint16Array(numberings[endpoint].base ** 3);

/** All combinations that a fixture allows, by code, each with levels that show it. */
const combinations = oncePer((known: Known) =>
  perEndpoint((endpoint): ReadonlyMap<number, Partial<Levels>> => {
    const { all, base } = numberings[endpoint];
    const found = new Map<number, Partial<Levels>>();
    /** Adds a level of each of some factors in turn. */
    const extend = (
      [first, ...rest]: readonly (readonly [Numbered, Numbers])[],
      levels: Partial<Levels> = {},
      code = 0,
    ): void => {
      if (first === undefined) return void (found.has(code) || found.set(code, levels));
      const [{ name, names, isGate }, numbers] = first;
      for (const level of isGate ? names.slice(1) : names) {
        const [number, more] = [numbers.get(level), { ...levels, [name]: level }];
        if (number !== undefined && isFeasible(endpoint, more, known))
          extend(rest, more, code * base + number);
      }
    };
    for (const one of all) extend([[one, one.alone]]);
    for (const chosen of [...subsets(all, 2), ...subsets(all, 3)]) {
      const kind = gateNumbers(chosen.filter(({ isGate }) => isGate));
      extend(chosen.map((one) => [one, one[one.isGate ? kind : 'grouped']] as const));
    }
    return found;
  }),
);

/** All choices of so many items. */
const subsets = <Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] =>
  size === 0
    ? [[]]
    : items.flatMap((item, at) => subsets(items.slice(at + 1), size - 1).map((rest) => [item, ...rest]));

export const combinationsOf = (endpoint: Endpoint, known: Known) => combinations(known)[endpoint];

/** Counts the combinations that the lookups of a run have shown. */
export function createCoverage(known: Known) {
  const shown = perEndpoint(zeros);
  return {
    /** Records that a lookup with these levels was answered. */
    take: (endpoint: Endpoint, levels: Levels): void => {
      for (const code of combinationsIn(endpoint, levels)) shown[endpoint][code] = 1;
    },
    figures: (): { readonly strength: number; readonly coverage: Coverage } => {
      const [levels, pairs, triples] = ([1, 2, 3] as const).map((strength): [number, number] => {
        const codes = endpointNames.flatMap((endpoint) =>
          [...combinationsOf(endpoint, known).keys()]
            .filter((code) => strengthOf(endpoint, code) === strength)
            .map((code) => shown[endpoint][code]!),
        );
        return [codes.filter((count) => count > 0).length, codes.length];
      }) as [[number, number], [number, number], [number, number]];
      const firstCut = [levels, pairs, triples].findIndex(([covered, total]) => covered < total);
      const levelsOf = (endpoint: Endpoint) =>
        missingLevels(endpoint, known).map((level) => `${endpoint}, ${level}`);
      const missing = [...endpointNames.flatMap(levelsOf), ...missingKinds(known)];
      return { strength: firstCut < 0 ? 3 : firstCut, coverage: { levels, pairs, triples, missing } };
    },
  };
}
