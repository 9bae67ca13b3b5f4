import type { Endpoint } from '../schemas/endpoints.ts';
import type { Call, Finding } from './exchange.ts';
import { findIn } from './overlay.ts';
import { preferredStatus } from './prefer.ts';
import type { World } from './world.ts';

/** What a forced 429 tells the caller to wait, in ms; no limiter is behind it. */
const FORCED_WAIT = 1000;
const forcedLimit = { most: 0, windowMs: FORCED_WAIT };

/** What stands for an error that is brought about rather than met; its answer comes out of the usual tables. */
export function forcedError(status: number): Finding {
  if (status === 400) return { kind: 'invalid' };
  if (status === 401) return { kind: 'unauthorized' };
  if (status === 404) return { kind: 'unknown' };
  if (status === 429) return { kind: 'limited', waitMs: FORCED_WAIT, limit: forcedLimit };
  return { kind: 'failing', status };
}

type Example = (world: World, partner: string | null) => Finding | undefined;

/** A finding that is answered 200 with something to read: of the caller's IB, like any other. */
const examples: Readonly<Record<Endpoint, Example>> = {
  'user-status': ({ users }, partner) => {
    const user = findIn(users, (one) => one.partner === partner);
    return user && { kind: 'member', user };
  },
  'deposit-check': ({ deposits }, partner) => {
    const deposit = findIn(deposits, (one) => one.state === 'EXECUTED' && one.partner === partner);
    if (deposit?.state !== 'EXECUTED') return undefined;
    const { amountInUsd, executedAt } = deposit;
    return { kind: 'executed', deposit, amountInUsd, executedAt };
  },
};

/** A finding that the caller asked for, and the status by which it did. */
export interface PreferredFinding {
  readonly finding: Finding;
  readonly preferred: number;
}

/**
 * What a call asks for by `Prefer: code=…`; undefined where it asks for nothing that can be had. A
 * refused key can have nothing. What is asked for is neither looked up nor counted, nor is it limited.
 */
export function preferredFinding(
  world: World,
  { endpoint, request, caller }: Call,
): PreferredFinding | undefined {
  const preferred = caller && preferredStatus(request.headers, endpoint);
  if (preferred === undefined) return undefined;
  const finding =
    preferred === 200 ? examples[endpoint](world, caller?.partner ?? null) : forcedError(preferred);
  return finding && { finding, preferred };
}
