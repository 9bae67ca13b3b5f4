import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';
import { entitiesSeen, exampleGates, examplesOf, findsEntities, isUnknown } from './drawing.ts';
import { factors, hasPlainGates, plainLevels } from './factors.ts';
import type { Levels } from '../rules/requirement.ts';
import { completed } from './lookup-levels.ts';

/** Levels, and the number of the example or entity to ask for. */
export interface Example {
  readonly levels: Partial<Levels>;
  readonly pick: number;
}

/** The examples of a gate, or the entities that a row finds. */
interface List {
  readonly levels: Partial<Levels>;
  readonly count: number;
  /** The number of the first one. */
  readonly first: number;
  used: number;
}

/** Hands out the examples of the gates and the entities of the fixture, each once. */
export function createExamples(endpoint: Endpoint, known: Known) {
  const lists = new Map<string, List>();
  const listOf = (row: Levels, levels: Partial<Levels> = row): List | undefined => {
    const kind = kindOf(endpoint, row);
    if (kind === undefined) return undefined;
    const before = lists.get(kind);
    if (before !== undefined) return before;
    const count = examplesOf(endpoint, row, known);
    // The last entity is the likeliest to be left out. The endpoints begin with different examples.
    const middle = Math.floor((count * endpointNames.indexOf(endpoint)) / endpointNames.length);
    const first =
      exampleGateOf(endpoint, row) === undefined || findsEntities(endpoint, row) ? count - 1 : middle;
    const list = { levels, count, first, used: 0 };
    lists.set(kind, list);
    return list;
  };
  const take = (list: List): number | undefined =>
    list.used < list.count ? placeOf(list.used++, list) : undefined;
  for (const gate of factors[endpoint].filter(({ name }) => exampleGates.some((one) => one === name)))
    for (const level of gate.names.slice(1)) {
      const levels = { [gate.name]: level };
      const row = completed(endpoint, levels, known);
      if (row !== undefined) listOf(row, levels);
    }
  const seen = (['active', "another partner's"] as const).flatMap((key) =>
    entitiesSeen(endpoint, known, key),
  );
  for (const [row] of seen) listOf(row);
  // Ids that are close to known ones, for servers that compare only a part of an id.
  for (const row of unknownRows(endpoint, known)) listOf(row);
  const all = [...lists.values()];
  return {
    /** The number of the next example of a row; undefined if each was used. */
    pickOf: (row: Levels): number | undefined => {
      const list = listOf(row);
      return list && take(list);
    },
    /** The next example of the list of which the least part was used. */
    next: (): Example | undefined => {
      const [least] = all.toSorted((a, b) => a.used / a.count - b.used / b.count);
      const pick = least && take(least);
      return pick === undefined ? undefined : { levels: least!.levels, pick };
    },
  };
}

/** A plain row for each situation in which nobody has the id. */
function unknownRows(endpoint: Endpoint, known: Known): readonly Levels[] {
  const { names } = factors[endpoint].find(({ name }) => name === 'situation')!;
  return names.flatMap((situation) => {
    const row = completed(endpoint, { situation }, known);
    return row !== undefined && isUnknown(endpoint, row) ? [row] : [];
  });
}

const exampleGateOf = (endpoint: Endpoint, row: Levels) =>
  exampleGates.find((name) => row[name] !== plainLevels(endpoint)[name]);

/** What a row enumerates: entities, or examples of the one gate that is not plain. Undefined if it enumerates nothing. */
function kindOf(endpoint: Endpoint, row: Levels): string | undefined {
  const plain = plainLevels(endpoint);
  const entity = [row.key, row.situation, row.data, row['id version']].join();
  const gate = exampleGateOf(endpoint, row);
  // An entity counts as tried only as it is written in the fixture.
  if (gate === undefined || findsEntities(endpoint, row))
    return row['id spelling'] === plain['id spelling'] && row.query === plain.query ? entity : undefined;
  // Another gate may decide the answer.
  return hasPlainGates(endpoint, { ...row, [gate]: plain[gate] }) ? `${gate}: ${row[gate]}` : undefined;
}

/** The part of a list that a step takes. */
const STEP = 0.618;

/** The place of the `nth` item, so that each comes once and the first ones are far apart. */
function placeOf(nth: number, { count, first }: List): number {
  let step = Math.max(1, Math.round(count * STEP));
  while (greatestDivisor(step, count) > 1) step++;
  return (first + nth * step) % count;
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
