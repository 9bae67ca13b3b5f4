import type { IncomingHttpHeaders } from 'node:http';
import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import type { Call, Finding } from './exchange.ts';
import { eachOf, partnerOf, type World } from './world.ts';

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

function forcedSuccess(world: World, endpoint: Endpoint, partner: string | null): Finding | undefined {
  if (endpoint === 'user-status') {
    for (const user of eachOf(world.users)) if (user.partner === partner) return { kind: 'member', user };
    return undefined;
  }
  for (const deposit of eachOf(world.deposits)) {
    if (deposit.state !== 'EXECUTED' || partnerOf(world, deposit) !== partner) continue;
    const { amountInUsd, executedAt } = deposit;
    return { kind: 'executed', deposit, amountInUsd, executedAt };
  }
  return undefined;
}

/**
 * The finding that a call with an accepted key asks for by `Prefer: code=…`; undefined where it asks for
 * none, or for one that the fixture lacks. It is neither looked up nor counted nor limited.
 */
export function preferredFinding(world: World, { endpoint, request, caller }: Call) {
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
  for (const preference of (typeof field === 'string' ? field : field.join(',')).split(',')) {
    const [name = '', value = ''] = preference.split(';')[0]!.split('=');
    if (name.trim().toLowerCase() !== 'code') continue;
    const code = value.trim().replace(/^"(.*)"$/, '$1');
    const known = [200, ...Object.keys(endpoints[endpoint].messages).map(Number), 500, 503];
    return known.find((status) => `${status}` === code);
  }
  return undefined;
}
