import type { Factor, FactorName, Levels } from './factors.ts';
import type { IsFeasible } from './feasible.ts';

/** Gates that are not plain, each with the levels that take turns. */
export type Gate = Partial<Readonly<Record<FactorName, readonly string[]>>>;

/** Whether one of the gates decides the answer, whatever the other factors are. */
export const masks = (gate: Gate, gates: readonly Factor[]): boolean =>
  gates.some(({ name, levels }) => gate[name]?.some((level) => levels[level]!.mayLetIn !== true) === true);

/** The levels of gates that take their turn. */
export const levelsAt = (gate: Gate, turn: number): Partial<Levels> =>
  Object.fromEntries(Object.entries(gate).map(([name, levels]) => [name, levels[turn % levels.length]]));

/** The groups of levels of a gate that are combined with other factors, and with the gates of these names. */
function groupsOf({ levels, names }: Factor, gates: readonly FactorName[]): readonly (readonly string[])[] {
  const isWithGates = gates.length > 1 && gates.some((gate) => gate !== 'key' && gate !== 'header');
  const groups = new Map<string, string[]>();
  for (const name of names.slice(1)) {
    const { group = name, gateGroup = group } = levels[name]!;
    const of = isWithGates ? gateGroup : group;
    if (of === 'never') continue;
    groups.set(of, [...(groups.get(of) ?? []), name]);
  }
  return [...groups.values()];
}

/** All feasible combinations of `count` gates. */
export function gatesWith(gates: readonly Factor[], count: number, isFeasible: IsFeasible): readonly Gate[] {
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
        (found, factor) => {
          const groups = groupsOf(factor, names);
          return found.flatMap((gate) => groups.map((levels) => ({ ...gate, [factor.name]: levels })));
        },
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

/** Returns a function that reads the gates of a row; undefined if no part of the array has them. */
export function gateReader(factors: readonly Factor[]): (row: Levels) => Gate | undefined {
  const gates = factors.filter(({ isGate }) => isGate);
  const known = new Map<string, Gate | undefined>();
  const read = (row: Levels): Gate | undefined => {
    const odd = gates.filter(({ name, names }) => row[name] !== names[0]);
    const names = odd.map(({ name }) => name);
    const entries = odd.map((factor) => [
      factor.name,
      groupsOf(factor, names).find((levels) => levels.includes(row[factor.name])),
    ]);
    return entries.some(([, levels]) => levels === undefined)
      ? undefined
      : (Object.fromEntries(entries) as Gate);
  };
  return (row) => {
    let key = '';
    for (const { name, names } of gates) if (row[name] !== names[0]) key += `${name}: ${row[name]},`;
    if (!known.has(key)) known.set(key, read(row));
    return known.get(key);
  };
}
