import type { IncomingHttpHeaders } from 'node:http';
import { endpoints, type Endpoint } from '../schemas/endpoints.ts';

/** Server errors that may be asked for, though the interface shows none (Errors, notes). */
const beyond: readonly number[] = [500, 503];

/**
 * The status that `Prefer: code=429` asks for: any of the endpoint's table, 500 or 503 (RFC 7240).
 * Other preferences and other codes are ignored; of several codes the first counts.
 *
 * @param headers fields by their names in lower case; several lines are one list
 */
export function preferredStatus(headers: IncomingHttpHeaders, endpoint: Endpoint): number | undefined {
  const field: string | readonly string[] | undefined = headers['prefer'];
  if (field === undefined) return undefined;
  const code = preferenceOf(typeof field === 'string' ? field : field.join(','), 'code');
  const known = [200, ...Object.keys(endpoints[endpoint].messages).map(Number), ...beyond];
  return known.find((status) => `${status}` === code);
}

/** An element of a comma-separated list. Whatever the text, a match goes on from where the last one ended. */
const ELEMENT = /(?:[^",]|"(?:[^"\\]|\\.)*"?)+/gs;

/**
 * Name and value of a preference; parameters may follow it (RFC 7240, 2). No two parts that stand
 * side by side match the same character, so that no text takes long.
 */
const PREFERENCE = /^([^\s=;"]+)(?:[ \t]*=(?:[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+)))?)?[ \t]*(?:;|$)/s;

/** The value of the first preference of that name in any letter case; empty where it has none. */
function preferenceOf(field: string, name: string): string | undefined {
  for (const [element] of field.matchAll(ELEMENT)) {
    const [, found, quoted, plain = ''] = PREFERENCE.exec(element.trimStart()) ?? [];
    if (found?.toLowerCase() === name) return quoted?.replaceAll(/\\(.)/gs, '$1') ?? plain;
  }
  return undefined;
}
