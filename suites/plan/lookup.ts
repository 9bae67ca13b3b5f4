import * as fc from 'fast-check';
import type { Endpoint } from '../../schemas/endpoints.ts';
import { Problem } from '../../schemas/problem.ts';
import { defined } from '../../schemas/values.ts';
import type { Facts } from '../rules/facts.ts';
import { factsOf } from '../rules/facts-of-request.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import { requestsOf } from './drawing.ts';
import { factors, plainLevels, type Rank } from './factors.ts';
import type { Levels } from '../rules/requirement.ts';
import { isFeasible } from './lookup-levels.ts';

/** Which lookup of some levels it is: a draw by its number, made smaller or not, or an example or entity. */
export interface Place {
  readonly draw?: number;
  /** Where fast-check shrank the draw to, such as `0:1:0`. */
  readonly shrunk?: string;
  readonly pick?: number;
  /** Names of the header fields that it keeps; all without it. */
  readonly fields?: readonly string[];
}

/** A lookup that a run sends: made once, then sent, judged, counted and explained as this value. */
export interface Lookup {
  readonly endpoint: Endpoint;
  readonly levels: Levels;
  readonly place: Place;
  readonly request: Request;
  readonly facts: Facts;
  readonly rank: Rank;
}

interface Drawing {
  readonly known: Known;
  readonly seed: number;
  readonly rank?: Rank;
}

/** Draws a lookup. The same levels, place and seed give the same one. */
export const lookupAt = (endpoint: Endpoint, levels: Levels, place: Place, how: Drawing): Lookup =>
  lookupIfAny(endpoint, levels, place, how)!;

/** The same; undefined if the draw does not shrink to this place. */
export function lookupIfAny(
  endpoint: Endpoint,
  levels: Levels,
  place: Place,
  { known, seed, rank = 'requirement' }: Drawing,
): Lookup | undefined {
  const { draw, pick, shrunk, fields } = place;
  const options = { seed: seedOf(seed, draw ?? pick ?? 0), numRuns: 1 };
  const arbitrary = requestsOf(endpoint, levels, known, pick);
  const [drawn] = shrunk === undefined ? fc.sample(arbitrary, options) : shrunkTo(shrunk, arbitrary, options);
  if (drawn === undefined) return undefined;
  const request = fields === undefined ? drawn : { ...drawn, headers: kept(drawn.headers, fields) };
  return { endpoint, levels, place, rank, request, facts: factsOf(known, request)! };
}

function shrunkTo(
  path: string,
  arbitrary: fc.Arbitrary<Request>,
  options: { readonly seed: number; readonly numRuns: number },
): readonly Request[] {
  try {
    return fc.sample(arbitrary, { ...options, path });
  } catch {
    // It throws if there is no such path.
    return [];
  }
}

const kept = (headers: Request['headers'], names: readonly string[]): Request['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)));

/** The facts of lookups with these levels; undefined if the fixture allows none. */
export const factsWith = (endpoint: Endpoint, levels: Levels, known: Known): Facts | undefined =>
  isFeasible(endpoint, levels, known)
    ? lookupAt(endpoint, levels, { pick: 0 }, { known, seed: 0 }).facts
    : undefined;

/** How often a run sends a lookup. */
export const timesOf = ({ levels }: Lookup): number => (levels.repetition === 'once' ? 1 : 3);

/** How many levels are not plain; gates count more. Requests outside the plan count most. */
export const oddness = (lookup: Pick<Lookup, 'endpoint' | 'levels'> | undefined): number =>
  lookup === undefined
    ? 100
    : factors[lookup.endpoint].reduce(
        (sum, { name, names, isGate }) => sum + (lookup.levels[name] === names[0] ? 0 : isGate ? 6 : 1),
        0,
      );

/**
 * `deposit-check;situation=unknown@17+accept`: levels that are not plain, and the place: a draw (@), or an example (#),
 * and which header fields are left.
 */
export function pathOf({ endpoint, levels, place }: Pick<Lookup, 'endpoint' | 'levels' | 'place'>): string {
  const odd = factors[endpoint].flatMap(({ name, names }) =>
    levels[name] === names[0] ? [] : [`${name}=${levels[name]}`],
  );
  const { draw, shrunk, pick, fields } = place;
  const at = pick === undefined ? `@${draw}${shrunk === undefined ? '' : `:${shrunk}`}` : `#${pick}`;
  return `${endpoint};${odd.join()}${at}${fields === undefined ? '' : `+${fields.join()}`}`;
}

/**
 * The lookup that a path names.
 *
 * @throws Problem with code `usage` if no lookup has this path
 */
export function lookupOfPath(path: string, known: Known, seed: number): Lookup {
  const parts =
    /^(user-status|deposit-check);([^@#]*)(?:@(\d+)(?::(\d+(?::\d+)*))?|#(\d+))(?:\+([a-z\d,-]*))?$/.exec(
      path,
    );
  const nowhere = () =>
    new Problem('usage', `--replay ${path}: no lookup has this path; copy it unchanged from the report`);
  if (parts === null) throw nowhere();
  const [, name, odd, draw, shrunk, pick, left] = parts;
  const endpoint = name as Endpoint;
  const levels: Record<string, string> = { ...plainLevels(endpoint) };
  // A level may contain a comma: split only before a name.
  for (const part of odd!.split(/,(?=[a-z ]+=)/)) {
    if (part === '') continue;
    const [of, level] = part.split('=') as [string, string?];
    const factor = factors[endpoint].find((one) => one.name === of);
    if (level === undefined || factor === undefined || !factor.names.includes(level)) throw nowhere();
    levels[of] = level;
  }
  if (!isFeasible(endpoint, levels, known)) throw nowhere();
  const place = pick === undefined ? { draw: Number(draw), ...defined({ shrunk }) } : { pick: Number(pick) };
  const fields = left === '' ? [] : left?.split(',');
  const at = { ...place, ...defined({ fields }) };
  const found = lookupIfAny(endpoint, levels as Levels, at, { known, seed });
  if (found === undefined) throw nowhere();
  return found;
}

/** A separate seed for each draw. */
export const seedOf = (seed: number, draw: number): number => (Math.imul(draw + 1, 0x9e3779b1) ^ seed) | 0;
