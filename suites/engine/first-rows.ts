import type { Endpoint } from '../../schemas/endpoints.ts';
import { catalogue, table } from '../catalogue.ts';
import type { Known } from '../known.ts';
import { rotated } from '../model/covering.ts';
import { factors, plainLevels, type Factor, type FactorName, type Levels } from '../model/factors.ts';
import { factsOfLevels } from '../model/facts-of-levels.ts';
import { isFeasible } from '../model/feasible.ts';
import { choicesOf } from '../needs.ts';
import { isLookupRow, type LookupRow } from '../requirement.ts';

/**
 * One row for each required requirement, so that a short run judges all of them. A row counts for every requirement
 * that it is about.
 */
export function rowsOfRequirements(endpoint: Endpoint, known: Known): readonly Levels[] {
  const required = catalogue.filter(isLookupRow).filter(({ level }) => level === 'required');
  const covered = new Set<LookupRow>();
  const found: Levels[] = [];
  const take = (row: Levels | undefined) => {
    if (row === undefined) return;
    const isRepeated = row.repetition !== plainLevels(endpoint).repetition;
    const about = table.coverOf(factsOfLevels(endpoint, row)).rows;
    for (const one of about) if (one.kind !== 'repetition' || isRepeated) covered.add(one);
    found.push(row);
  };
  take(withOtherKey(endpoint, known));
  // An own entity, asked for three times: it is about most requirements.
  take(completed(endpoint, { repetition: 'three times' }, known));
  for (const row of required) {
    if (covered.has(row)) continue;
    const choices = choicesOf(row).flatMap(([on, levels]) => (on === endpoint ? [levels] : []));
    for (const levels of choices) {
      const complete = completed(endpoint, levels, known);
      if (complete === undefined) continue;
      take(complete);
      break;
    }
  }
  return found;
}

/** Shows early that the other partner's key finds its own data. */
const withOtherKey = (endpoint: Endpoint, known: Known) =>
  completed(
    endpoint,
    {
      key: "another partner's",
      situation: endpoint === 'user-status' ? "another partner's" : "another partner's EXECUTED",
    },
    known,
  );

/**
 * Rows that have each level once, in turn: levels that nothing masks, malformations, keys and headers. Several levels
 * that cannot hide each other share a row with own data, because "not found" would hide more.
 */
export function rowsOfLevels(
  endpoint: Endpoint,
  known: Known,
  seed: number,
  before: readonly Levels[],
): readonly Levels[] {
  const list = factors[endpoint];
  const isTried = ({ name }: Factor, level: string) =>
    before.some((row) => row[name] === level && isPlainBut(endpoint, row, name));
  const left = (one: Factor) => rotated(one.names.slice(1), seed).filter((level) => !isTried(one, level));
  const alone = (some: readonly Factor[]) =>
    some.flatMap((one) =>
      left(one).flatMap((level) => completed(endpoint, { [one.name]: level }, known) ?? []),
    );
  const isOneOf = (...names: readonly string[]) => list.filter(({ name }) => names.includes(name));
  const gates = list.filter(({ isGate }) => isGate);
  const keys = isOneOf('key', 'header');
  /** Header fields join rows of other levels: nothing hides them, except a refused encoding. */
  const withFields = (rows: readonly Levels[]): readonly Levels[] => {
    const fields = isOneOf('fields').flatMap(left);
    const joined = rows.map((row) =>
      row['id spelling'] === 'percent-encoded' ? row : { ...row, fields: fields.shift() ?? row.fields },
    );
    const others = fields.flatMap((level) => completed(endpoint, { fields: level }, known) ?? []);
    return [...joined, ...others];
  };
  /** Adds levels that differ by seed, so that short runs together cover more pairs. A refused encoding would hide them. */
  const withOthers = (row: Levels, nth: number): Levels => {
    let found = row;
    for (const { name, names, isCostly } of list.filter(isPacked)) {
      const level = names[(Math.abs(seed) + nth) % names.length]!;
      const isFree = row[name] === names[0] && isCostly !== true && level !== 'percent-encoded';
      if (isFree && isFeasible(endpoint, { ...found, [name]: level }, known))
        found = { ...found, [name]: level };
    }
    return row['id spelling'] === 'percent-encoded' ? row : found;
  };
  const open = packed(endpoint, known, left);
  // The fixture has no own data for some levels.
  const rest = list.filter(isPacked).flatMap((one) =>
    left(one)
      .filter((level) => !open.some((row) => row[one.name] === level))
      .flatMap((level) => completed(endpoint, { [one.name]: level }, known) ?? []),
  );
  const malformed = alone(gates.filter((one) => !keys.includes(one)));
  return oneOfEach([
    withFields([
      ...[...open, ...rest, ...alone(isOneOf('situation'))].map(withOthers),
      ...alone(isOneOf('query')),
    ]),
    // What only a recommendation judges comes later.
    [true, false].flatMap((is) => malformed.filter((row) => isRequired(endpoint, row) === is)),
    alone(keys),
  ]);
}

/** Whether a required requirement judges each answer to a lookup. */
const isRequired = (endpoint: Endpoint, row: Levels) =>
  table
    .coverOf(factsOfLevels(endpoint, row))
    .rows.some(({ level, kind }) => level === 'required' && kind !== 'repetition');

const apart = new Set<FactorName>(['situation', 'query', 'fields']);

/** Whether a level shares a row with others. */
const isPacked = ({ name, isGate }: Factor) => !isGate && !apart.has(name);

/** Rows of own data that have several levels each, until every level of these factors was in one. */
function packed(
  endpoint: Endpoint,
  known: Known,
  left: (factor: Factor) => readonly string[],
): readonly Levels[] {
  const plain = plainLevels(endpoint);
  const queues = factors[endpoint]
    .filter(isPacked)
    .map((one) => ({ name: one.name, levels: [...left(one)] }));
  const rows: Levels[] = [];
  for (;;) {
    let row: Levels | undefined;
    for (const { name, levels } of queues) {
      // A server may refuse percent-encoding, which would hide the rest.
      if (row !== undefined && (row['id spelling'] === 'percent-encoded' || levels[0] === 'percent-encoded'))
        continue;
      const at = levels.findIndex((level) => isFeasible(endpoint, partOf({ ...row, [name]: level }), known));
      if (at < 0) continue;
      row = { ...plain, ...row, [name]: levels[at]! };
      levels.splice(at, 1);
    }
    if (row === undefined) return rows;
    const complete = completed(endpoint, changesOf(endpoint, row), known);
    if (complete !== undefined) rows.push(complete);
  }

  /** The levels that are not plain, with the own situation: the others may still change. */
  function partOf(row: Partial<Levels>): Partial<Levels> {
    return { situation: plain.situation, ...changesOf(endpoint, row) };
  }
}

const changesOf = (endpoint: Endpoint, row: Partial<Levels>): Partial<Levels> =>
  Object.fromEntries(
    Object.entries(row).filter(([name, level]) => level !== plainLevels(endpoint)[name as keyof Levels]),
  );

/** Whether all gates but `name` are plain, so that they do not mask it. */
const isPlainBut = (endpoint: Endpoint, row: Levels, name: string) =>
  factors[endpoint].every((one) => !one.isGate || one.name === name || row[one.name] === one.names[0]);

/**
 * The row with these levels and plain others. If the fixture has no such data, another factor than those changes:
 * the situation last, because a row about own data then becomes one about nothing.
 *
 * @returns undefined if no lookup has these levels
 */
export function completed(endpoint: Endpoint, levels: Partial<Levels>, known: Known): Levels | undefined {
  const row = { ...plainLevels(endpoint), ...levels };
  if (isFeasible(endpoint, row, known)) return row;
  const free = factors[endpoint].filter(({ name, isGate }) => !isGate && !(name in levels));
  const [situation, others] = [
    free.filter(({ name }) => name === 'situation'),
    free.filter(({ name }) => name !== 'situation'),
  ];
  for (const some of [others, [...situation, ...others]])
    for (const other of rowsWithOthers(row, some)) if (isFeasible(endpoint, other, known)) return other;
  return undefined;
}

/** The rows in which one factor has another level, then those with two, such as data and version. */
function* rowsWithOthers(row: Levels, some: readonly Factor[]): Generator<Levels> {
  for (const { name, names } of some) for (const level of names) yield { ...row, [name]: level };
  for (const [at, one] of some.entries())
    for (const second of some.slice(at + 1))
      for (const level of one.names)
        for (const other of second.names) yield { ...row, [one.name]: level, [second.name]: other };
}

/** One item of each list in turn. */
export function oneOfEach<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const most = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: most }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}
