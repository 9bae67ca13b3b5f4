import { endpointNames, perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import type { Coverage as Figures } from '../../schemas/generated/types.ts';
import type { Known } from '../known.ts';
import { missingKinds } from './entities.ts';
import { factors, type Factor } from './factors.ts';
import type { Levels } from '../rules/requirement.ts';
import { freeFactors, isFeasible, missingLevels, oncePerFixture } from './lookup-levels.ts';

/** Number of levels of a combination: a level, a pair, a triple. */
export type Strength = 1 | 2 | 3;

/** Levels of a factor that take turns in combinations. Most groups have a single level. */
export interface Group {
  readonly factor: Factor;
  readonly names: string[];
  /** Differs for each group of an endpoint. */
  readonly number: number;
}

/** The groups of a level. */
interface Groups {
  readonly alone: Group;
  readonly combined: Group;
  /** In combinations with other gates; undefined if it is not combined with them. */
  readonly withGates: Group | undefined;
  /** What a lookup with the level shows: the first of repeated requests shows the plain level, too. */
  readonly shown: readonly Group[];
}

type Grouped = ReturnType<typeof grouped>;

function grouped(factor: Factor, nextNumber: () => number) {
  const byText = new Map<string, Group>();
  const groupOf = (text: string, name: string): Group => {
    const group = byText.get(text) ?? { factor, names: [], number: nextNumber() };
    byText.set(text, group);
    if (!group.names.includes(name)) group.names.push(name);
    return group;
  };
  const [plain] = factor.names as readonly [string, ...string[]];
  const ofLevels = factor.names.map((name): [string, Groups] => {
    const { group = name, gateGroup = group } = factor.levels[name]!;
    const [alone, combined] = [groupOf(name, name), groupOf(group, name)];
    const withGates = gateGroup === 'never' ? undefined : groupOf(gateGroup, name);
    const first = factor.includesPlain === true ? [groupOf(plain, plain)] : [];
    return [name, { alone, combined, withGates, shown: [...new Set([combined, alone, ...first])] }];
  });
  const choices = [...new Set(ofLevels.map(([, { combined }]) => combined))];
  return { factor, choices, ofLevel: new Map(ofLevels) };
}

/** The factors of each endpoint with their groups, gates first. `choices` has those of combinations. */
export const groupedFactors = perEndpoint((endpoint) => {
  let count = 0;
  const gatesFirst = factors[endpoint].toSorted((a, b) => Number(b.isGate) - Number(a.isGate));
  return gatesFirst.map((factor) => grouped(factor, () => count++));
});

type Kind = 'combined' | 'withGates';

/** Which groups gates have in a combination. Each key goes with each header: only with others, groups are larger. */
function kindOf(some: readonly Factor[]): Kind {
  const gates = some.filter(({ isGate }) => isGate);
  return gates.length > 1 && gates.some(({ name }) => !['key', 'header'].includes(name))
    ? 'withGates'
    : 'combined';
}

/** Groups of different factors. A lookup with a level of each shows it. */
export interface Combination {
  readonly groups: readonly Group[];
  /** Its number among all of the endpoint; -1 if it only begins others. */
  place: number;
  /** The combinations with one more group, by the number of the group. */
  readonly longer: Combination[];
}

export type Combinations = ReturnType<typeof combinationsOf>;

/** All combinations that a fixture allows. Each can be reached from the root, group by group, gates first. */
export const combinationsOf = oncePerFixture((endpoint, known) => {
  const root: Combination = { groups: [], place: -1, longer: [] };
  const byStrength: Readonly<Record<Strength, Combination[]>> = { 1: [], 2: [], 3: [] };
  let count = 0;
  const levels: { -readonly [Name in keyof Levels]?: string } = {};
  /** Adds a level of each of some factors in turn. */
  const extend = (from: Combination, chosen: readonly Grouped[], kind: Kind): void => {
    const { factor, ofLevel } = chosen[from.groups.length]!;
    const isLast = from.groups.length === chosen.length - 1;
    for (const [name, of] of ofLevel) {
      const group = chosen.length === 1 ? of.alone : of[factor.isGate ? kind : 'combined'];
      if (group === undefined || (factor.isGate && name === factor.names[0])) continue;
      const found = from.longer[group.number];
      // Most levels of a group show nothing new.
      if (isLast && found !== undefined && found.place >= 0) continue;
      levels[factor.name] = name;
      if (!freeFactors.has(factor.name) && !isFeasible(endpoint, levels, known)) continue;
      const longer = found ?? { groups: [...from.groups, group], place: -1, longer: [] };
      from.longer[group.number] = longer;
      if (!isLast) extend(longer, chosen, kind);
      else {
        longer.place = count++;
        byStrength[chosen.length as Strength].push(longer);
      }
    }
    delete levels[factor.name];
  };
  for (const strength of [1, 2, 3])
    for (const chosen of subsets(groupedFactors[endpoint], strength))
      extend(root, chosen, kindOf(chosen.map(({ factor }) => factor)));
  return { root, byStrength, count };
});

/** All choices of so many items. */
const subsets = <Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] =>
  size === 0
    ? [[]]
    : items.flatMap((item, at) => subsets(items.slice(at + 1), size - 1).map((rest) => [item, ...rest]));

/**
 * Calls `take` with each combination that a lookup shows. A gate that is not plain may hide everything else, so each
 * such gate must be part of the combination.
 */
export function eachShown(
  endpoint: Endpoint,
  { root }: Combinations,
  levels: Levels,
  take: (one: Combination) => unknown,
): void {
  const gates: Groups[] = [];
  const others: Group[] = [];
  for (const { factor, ofLevel } of groupedFactors[endpoint]) {
    const name = levels[factor.name];
    if (!factor.isGate) others.push(...ofLevel.get(name)!.shown);
    else if (name !== factor.names[0]) gates.push(ofLevel.get(name)!);
  }
  const visit = (from: Combination | undefined, start: number): void => {
    if (from === undefined) return;
    if (from.place >= 0) take(from);
    if (from.groups.length === 3) return;
    for (let at = start; at < others.length; at++) visit(from.longer[others[at]!.number], at + 1);
  };
  if (gates.length === 1) for (const { number } of gates[0]!.shown) visit(root.longer[number], 0);
  else {
    const kind = kindOf(gates.map(({ alone }) => alone.factor));
    let from: Combination | undefined = root;
    for (const gate of gates) from = from?.longer[gate[kind]?.number ?? -1];
    visit(from, 0);
  }
}

export type Coverage = ReturnType<typeof createCoverage>;

/** Counts the combinations that the lookups of a run have shown. */
export function createCoverage(known: Known) {
  const all = perEndpoint((endpoint) => combinationsOf(endpoint, known));
  const shown = perEndpoint((endpoint) => new Uint8Array(all[endpoint].count));
  return {
    /** Records that a lookup with these levels was answered. */
    take: (endpoint: Endpoint, levels: Levels): void =>
      eachShown(endpoint, all[endpoint], levels, ({ place }) => (shown[endpoint][place] = 1)),
    figures: (): { readonly strength: number; readonly coverage: Figures } => {
      const [levels, pairs, triples] = ([1, 2, 3] as const).map((strength): [number, number] => {
        const isShown = endpointNames.flatMap((endpoint) =>
          all[endpoint].byStrength[strength].map(({ place }) => shown[endpoint][place] === 1),
        );
        return [isShown.filter(Boolean).length, isShown.length];
      }) as [[number, number], [number, number], [number, number]];
      const firstCut = [levels, pairs, triples].findIndex(([covered, total]) => covered < total);
      const missingOf = (endpoint: Endpoint) =>
        missingLevels(endpoint, known).map((level) => `${endpoint}, ${level}`);
      const missing = [...endpointNames.flatMap(missingOf), ...missingKinds(known)];
      return { strength: firstCut < 0 ? 3 : firstCut, coverage: { levels, pairs, triples, missing } };
    },
  };
}
