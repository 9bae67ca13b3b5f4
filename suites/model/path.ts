import * as fc from 'fast-check';
import type { Endpoint } from '../../schemas/endpoints.ts';
import { Problem } from '../../schemas/problem.ts';
import type { Known } from '../catalogue/known.ts';
import type { Request } from '../request.ts';
import { requestsOf } from './drawing.ts';
import { factors, plainLevels, type Levels, type Origin } from './factors.ts';
import { isFeasible } from './lookup-levels.ts';

/** `deposit-check;situation=unknown@17`: levels that are not plain, and the number of the draw (@) or example (#). */
export function pathOf(
  endpoint: Endpoint,
  levels: Levels,
  at: { readonly draw?: number; readonly pick?: number; readonly shrunk?: string },
): string {
  let odd = '';
  for (const { name, names } of factors[endpoint])
    if (levels[name] !== names[0]) odd += `${odd === '' ? '' : ','}${name}=${levels[name]}`;
  const where = at.shrunk ?? (at.pick === undefined ? `@${at.draw}` : `#${at.pick}`);
  return `${endpoint};${odd}${where}`;
}

/**
 * Parses a path.
 *
 * @throws Problem with code `usage` if no lookup has this path
 */
function parsePath(path: string, known: Known) {
  const parts = /^(user-status|deposit-check);([^@#]*)(?:@(\d+)((?::\d+)*)|#(\d+))$/.exec(path);
  const nowhere = () =>
    new Problem('usage', `--replay ${path}: no lookup has this path; copy it unchanged from the report`);
  if (parts === null) throw nowhere();
  const endpoint = parts[1] as Endpoint;
  const levels: Record<string, string> = { ...plainLevels(endpoint) };
  // A level may contain a comma: split only before a name.
  for (const part of parts[2]!.split(/,(?=[a-z ]+=)/)) {
    if (part === '') continue;
    const [name, level] = part.split('=') as [string, string?];
    const factor = factors[endpoint].find((one) => one.name === name);
    if (level === undefined || factor === undefined || !factor.names.includes(level)) throw nowhere();
    levels[name] = level;
  }
  const row = levels as Levels;
  if (!isFeasible(endpoint, row, known)) throw nowhere();
  const [, , , draw, shrunk = '', pick] = parts;
  return { endpoint, levels: row, draw: Number(draw ?? pick), shrunk: shrunk.slice(1), pick };
}

/** The levels of the lookup that a path names. */
export const originOf = (path: string, known: Known): Origin => ({
  levels: parsePath(path, known).levels,
  path,
});

/**
 * The request that a path names.
 *
 * @throws Problem with code `usage` if no lookup has this path
 */
export function drawAt(path: string, known: Known, seed: number): Request {
  const { endpoint, levels, draw, shrunk, pick } = parsePath(path, known);
  return requestAt(endpoint, levels, known, seed, {
    draw,
    shrunk,
    ...(pick !== undefined && { pick: Number(pick) }),
  });
}

/** The request of one draw or example of these levels. */
export function requestAt(
  endpoint: Endpoint,
  levels: Levels,
  known: Known,
  seed: number,
  { draw, pick, shrunk = '' }: { readonly draw?: number; readonly pick?: number; readonly shrunk?: string },
): Request {
  const arbitrary = requestsOf(endpoint, levels, known, pick);
  const options = { seed: seedOf(seed, draw ?? pick ?? 0), numRuns: 1 };
  const [request] = fc.sample(arbitrary, shrunk === '' ? options : { ...options, path: shrunk });
  return request!;
}

/** A separate seed for each draw. */
export const seedOf = (seed: number, draw: number): number => (Math.imul(draw + 1, 0x9e3779b1) ^ seed) | 0;
