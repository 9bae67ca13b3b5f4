import type { IncomingHttpHeaders } from 'node:http';
import { endpoints } from '../schemas/endpoints.ts';
import { Problem } from '../schemas/problem.ts';
import { parseQueuedChaos, type ChaosAction } from './chaos.ts';
import type { Call, Finding } from './exchange.ts';
import { iterate, partnerOf, type World } from './world.ts';

/** Retry-After of a forced 429, in ms. */
const FORCED_WAIT_MS = 1000;

/** Returns the finding for a status that chaos or Prefer requests, or `refused` if it is impossible. */
export function forcedFinding(world: World, { endpoint, caller }: Call, status: number): Finding {
  if (status === 200) return forcedSuccess(world, endpoint, caller?.partner ?? null);
  if (status >= 500) return { kind: 'failing', status };
  if (!Object.hasOwn(endpoints[endpoint].messages, status))
    return { kind: 'refused', why: `${endpoint} has no answer ${status}` };
  if (status === 400) return { kind: 'invalid' };
  if (status === 401) return { kind: 'unauthorized' };
  if (status === 404) return { kind: 'unknown' };
  return { kind: 'limited', waitMs: FORCED_WAIT_MS, limit: { most: 0, windowMs: FORCED_WAIT_MS } };
}

function forcedSuccess(world: World, endpoint: Call['endpoint'], partner: string | null): Finding {
  if (endpoint === 'user-status') {
    for (const user of iterate(world.users)) if (user.partner === partner) return { kind: 'member', user };
    return { kind: 'refused', why: 'there is no user of the IB for a 200' };
  }
  for (const deposit of iterate(world.deposits)) {
    if (deposit.state !== 'EXECUTED' || partnerOf(world, deposit) !== partner) continue;
    const { amountInUsd, executedAt } = deposit;
    return { kind: 'executed', deposit, amountInUsd, executedAt };
  }
  return { kind: 'refused', why: 'there is no EXECUTED deposit of the IB for a 200' };
}

/**
 * Parses `Prefer: code=429` or `Prefer: chaos=slow:2s` (RFC 7240). Returns the chaos, or `refused` for an
 * unknown kind. Uses the first of several, and ignores other preferences.
 *
 * @param headers fields by lower-case name
 */
export function parsePrefer(
  headers: IncomingHttpHeaders,
): ChaosAction | Extract<Finding, { readonly kind: 'refused' }> | undefined {
  const field: string | readonly string[] | undefined = headers['prefer'];
  if (field === undefined) return undefined;
  for (const preference of (typeof field === 'string' ? field : field.join(',')).split(',')) {
    const [name = '', ...value] = preference.replace(/;.*/s, '').split('=');
    if (!/^(?:code|chaos)$/i.test(name.trim())) continue;
    const kind = value
      .join('=')
      .trim()
      .replace(/^"(.*)"$/, '$1');
    try {
      return parseQueuedChaos(kind, 1).action;
    } catch (error) {
      if (error instanceof Problem) return { kind: 'refused', why: `Prefer: ${error.message}` };
      throw error;
    }
  }
  return undefined;
}
