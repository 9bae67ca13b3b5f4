import type { IncomingHttpHeaders } from 'node:http';
import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import type { Call, Finding } from './exchange.ts';
import { eachOf, type World } from './world.ts';

/** Retry-After of a forced 429, in ms. There is no limiter behind it. */
const FORCED_WAIT = 1000;

/** The finding behind an error that chaos or Prefer asks for. */
export function forcedError(status: number): Finding {
  if (status === 400) return { kind: 'invalid' };
  if (status === 401) return { kind: 'unauthorized' };
  if (status === 404) return { kind: 'unknown' };
  if (status === 429)
    return { kind: 'limited', waitMs: FORCED_WAIT, limit: { most: 0, windowMs: FORCED_WAIT } };
  return { kind: 'failing', status };
}

/** A member, or an EXECUTED deposit, of the caller's IB. */
function forcedSuccess(world: World, endpoint: Endpoint, partner: string | null): Finding | undefined {
  if (endpoint === 'user-status') {
    for (const user of eachOf(world.users)) if (user.partner === partner) return { kind: 'member', user };
    return undefined;
  }
  for (const deposit of eachOf(world.deposits)) {
    if (deposit.state !== 'EXECUTED' || deposit.partner !== partner) continue;
    const { amountInUsd, executedAt } = deposit;
    return { kind: 'executed', deposit, amountInUsd, executedAt };
  }
  return undefined;
}

/**
 * The finding that a call with an accepted key asks for by `Prefer: code=…`; undefined where it asks for
 * none, or for one that the fixture lacks. It is neither looked up nor counted nor limited.
 */
export function preferredFinding(
  world: World,
  { endpoint, request, caller }: Call,
): { readonly finding: Finding; readonly preferred: number } | undefined {
  const preferred = caller && preferredStatus(request.headers, endpoint);
  if (preferred === undefined) return undefined;
  const finding =
    preferred === 200 ? forcedSuccess(world, endpoint, caller?.partner ?? null) : forcedError(preferred);
  return finding && { finding, preferred };
}

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
  const known = [200, ...Object.keys(endpoints[endpoint].messages).map(Number), 500, 503];
  return known.find((status) => `${status}` === code);
}

/** An element of a comma-separated list. */
const ELEMENT = /(?:[^",]|"(?:[^"\\]|\\.)*"?)+/gs;

/**
 * Name and value of a preference; parameters may follow it (RFC 7240, 2). Neighbouring parts never match
 * the same character, so no text takes long.
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
