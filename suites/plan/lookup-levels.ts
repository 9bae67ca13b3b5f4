import type { Endpoint } from '../../schemas/endpoints.ts';
import { oncePer } from '../../schemas/values.ts';
import { isIssued, type Token } from '../inputs/credentials.ts';
import type { Known } from '../known.ts';
import { poolsOf, withLevels } from './entities.ts';
import { dataLevels, factors, plainLevels, situationOf } from './factors.ts';
import type { FactorName, Levels } from '../rules/requirement.ts';
import { headerLevels, keyLevels } from './credential-levels.ts';

const tokensByLevel = oncePer(
  (known: Known) => new Map(Object.entries(keyLevels).map(([name, { tokens }]) => [name, tokens(known)])),
);

/** The tokens of a level of the key. */
export const tokensOf = (level: string, known: Known): readonly Token[] => tokensByLevel(known).get(level)!;

/** Factors of which each level exists with any others. */
export const freeFactors: ReadonlySet<FactorName> = new Set([
  'malformation',
  'query',
  'fields',
  'repetition',
  'load',
]);

/** Whether a lookup with these levels exists for this fixture. */
export function isFeasible(endpoint: Endpoint, levels: Partial<Levels>, known: Known): boolean {
  const { key, header = 'Bearer', situation, data } = levels;
  if (levels['active key'] === 'second' && known.callerKeys.length < 2) return false;
  if (key !== undefined && key !== 'none' && tokensOf(key, known).length === 0) return false;
  if (header !== 'Bearer' && key !== undefined) {
    if (key === 'none') return false;
    if (headerLevels[header]!.needsIssued === true && !isIssued(tokensOf(key, known)[0]!)) return false;
  }
  const isPlainData = data === undefined || data === dataLevels[endpoint][0];
  if (situation === undefined ? isPlainData : situationOf(endpoint, situation).owner === undefined)
    return isPlainData;
  return poolsOf(endpoint, known).some(withLevels(endpoint, levels));
}

/**
 * The row with these levels and plain others. If the fixture has no such data, one or two other factors change: the
 * situation last, because a row about own data then becomes one about nothing.
 *
 * @returns undefined if no lookup has these levels
 */
export function completed(endpoint: Endpoint, levels: Partial<Levels>, known: Known): Levels | undefined {
  const row = { ...plainLevels(endpoint), ...levels };
  const changes = factors[endpoint]
    .filter(({ name, isGate }) => !isGate && !(name in levels))
    .toSorted((a, b) => Number(a.name === 'situation') - Number(b.name === 'situation'))
    .flatMap(({ name, names }) => names.map((level): Partial<Levels> => ({ [name]: level })));
  const rows = function* (): Generator<Levels> {
    yield row;
    for (const one of changes) yield { ...row, ...one };
    for (const one of changes) for (const two of changes) yield { ...row, ...one, ...two };
  };
  for (const one of rows()) if (isFeasible(endpoint, one, known)) return one;
  return undefined;
}

/** Number of values that are kept. A process that verifies many targets needs few of them again. */
const MAX_KEPT = 16;

/** Returns a function that computes a value once for all fixtures with as much of everything. */
export function oncePerFixture<Rest extends readonly number[], Value>(
  compute: (endpoint: Endpoint, known: Known, ...rest: Rest) => Value,
): typeof compute {
  const values = new Map<string, Value>();
  return (endpoint, known, ...rest) => {
    const name = [endpoint, ...rest, fixtureKey(endpoint, known)].join(' ');
    const found = values.get(name);
    if (found !== undefined) return found;
    if (values.size >= MAX_KEPT) values.clear();
    const value = compute(endpoint, known, ...rest);
    values.set(name, value);
    return value;
  };
}

/** A text that determines which levels are feasible, and how many examples each has. */
const fixtureKey = (endpoint: Endpoint, known: Known): string =>
  JSON.stringify([
    Object.keys(keyLevels).map((level) => tokensOf(level, known).length),
    known.callerKeys.length,
    poolsOf(endpoint, known).map(({ ids, ...pool }) => ({ ...pool, count: ids.length })),
  ]);

/** Levels that the fixture cannot supply, such as `key: expired`. */
export const missingLevels = (endpoint: Endpoint, known: Known): readonly string[] =>
  factors[endpoint].flatMap(({ name, names }) =>
    names
      .filter((level) => !isFeasible(endpoint, { [name]: level }, known))
      .map((level) => `${name}: ${level}`),
  );

/** Infeasible pairs of levels, such as `key: none` with `header: bearer or BEARER`. */
export const forbiddenPairs = (endpoint: Endpoint, known: Known): readonly (readonly [string, string])[] =>
  factors[endpoint].flatMap((one, at) =>
    factors[endpoint].slice(at + 1).flatMap((other) =>
      one.names.flatMap((level): readonly (readonly [string, string])[] => {
        const levels = other.names.filter(
          (second) =>
            isFeasible(endpoint, { [one.name]: level }, known) &&
            isFeasible(endpoint, { [other.name]: second }, known) &&
            !isFeasible(endpoint, { [one.name]: level, [other.name]: second }, known),
        );
        return levels.length === 0
          ? []
          : [[`${one.name}: ${level}`, `${other.name}: ${levels.join(' or ')}`]];
      }),
    ),
  );
