import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import { answered, finished } from './answer.ts';
import type { Service } from './behaviour.ts';
import { transportEffect, type ChaosAction } from './chaos.ts';
import type { Answered, Call, Finding, HttpRequest } from './exchange.ts';
import { iterate, partnerOf, type ApiKey, type World } from './world.ts';

/** Returns the chaos for a request with an accepted key; undefined: none. */
type DrawChaos = (caller: ApiKey, endpoint: Endpoint) => ChaosAction | undefined;

/** Answers a request with the chaos that it draws. A status by chaos takes the place of the service. */
export function answerWithChaos(
  { answer, callOf }: Service,
  draw: DrawChaos,
  world: World,
  request: HttpRequest,
  now: number,
): Answered {
  const call = callOf(world, request, now);
  const chaos = call?.caller && draw(call.caller, call.endpoint);
  if (call === undefined || chaos === undefined) return answer(world, request, now);
  if (chaos.kind === 'status') {
    const finding = forcedFinding(world, call, chaos.status);
    return finished(answered({ world, now, request, call, finding, chaos }));
  }
  const { exchange, response } = answer(world, request, now);
  return { exchange: { ...exchange, chaos }, response: { ...response, ...transportEffect(chaos) } };
}

/** Retry-After of a forced 429, in ms. */
const FORCED_WAIT_MS = 1000;

/** Returns the finding for a status that chaos requests, or `refused` if it is impossible. */
function forcedFinding(world: World, { endpoint, caller }: Call, status: number): Finding {
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
