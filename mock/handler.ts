import { endpointNames, endpoints, type Endpoint } from '../schemas/endpoints.ts';
import { headersOf, httpDate, statusOf } from './answer.ts';
import { reference, type Behaviour, type Check, type CallInput } from './behaviour.ts';
import { transportEffect, type ChaosAction } from './chaos.ts';
import type { Call, Exchange, Finding, HttpRequest, HttpResponse, Parameter } from './exchange.ts';
import { forcedFinding } from './forced-answers.ts';
import { checkLimit, countCall } from './limiter.ts';
import { countPoll, keyAt, lookUp, partnerOf, type ApiKey, type World } from './world.ts';

/** Returns the chaos for a request with an accepted key; undefined: none. */
export type DrawChaos = (caller: ApiKey, endpoint: Endpoint) => ChaosAction | undefined;

/** A service with a certain behaviour. */
export interface Service extends ReturnType<typeof createService> {}

/**
 * Creates a service (Endpoints).
 *
 * @param basePath path of {base_url}, with or without a trailing slash
 */
export function createService(behaviour: Behaviour = reference, basePath = '/') {
  const base = trimBasePath(basePath);
  const routes = new Map(endpointNames.map((name) => [behaviour.path(base + endpoints[name].path), name]));
  return {
    behaviour,
    /** Answers a request in a world at `now` (Unix ms). Changes only the counters of the world. */
    answer: (all: World, request: HttpRequest, now: number, drawChaos?: DrawChaos) => {
      const world = behaviour.seen(all, request, now);
      const decision = decide(behaviour, routes, world, request, now, drawChaos);
      const status = statusOf(decision.call, decision.finding);
      const exchange: Exchange = { world, now, request, ...decision, status };
      count(behaviour, exchange);
      return { exchange, response: respond(behaviour, exchange) };
    },
  };
}

type Decision = Pick<Exchange, 'call' | 'finding' | 'chaos'>;

function decide(
  behaviour: Behaviour,
  routes: ReadonlyMap<string, Endpoint>,
  world: World,
  request: HttpRequest,
  now: number,
  drawChaos: DrawChaos | undefined,
): Decision {
  const { path, query } = splitTarget(request.target);
  const endpoint = routes.get(behaviour.path(path));
  if (endpoint === undefined) return { finding: { kind: 'noSuchPath' } };
  if (!behaviour.methods.includes(request.method)) return { finding: { kind: 'noSuchMethod' } };
  const parameters = readQuery(query, behaviour.decode);
  const call = readCall(behaviour, world, { endpoint, request, parameters }, now);
  const chaos = call.caller && drawChaos?.(call.caller, endpoint);
  if (chaos?.kind === 'status') return { call, finding: forcedFinding(world, call, chaos.status), chaos };
  const finding = lookUpResult(behaviour, world, call, now);
  return chaos === undefined ? { call, finding } : { call, finding, chaos };
}

function readCall(behaviour: Behaviour, world: World, unread: CallInput, now: number): Call {
  const { endpoint, request, parameters } = unread;
  const value = behaviour.value(parameters, endpoints[endpoint].parameter);
  const credential = behaviour.credential(unread);
  const found = behaviour.findKey(world, credential, unread);
  const key = found && keyAt(world, found, now);
  const caller = key !== undefined && behaviour.accepts(key, unread) ? key : undefined;
  return { endpoint, request, parameters, value, credential, key, caller };
}

type CheckFunction = (behaviour: Behaviour, world: World, call: Call, now: number) => Finding | undefined;

const checks: Readonly<Record<Check, CheckFunction>> = {
  key: (_behaviour, _world, call) => (call.caller === undefined ? { kind: 'unauthorized' } : undefined),
  limit: checkLimit,
  parameter: (behaviour, _world, call) =>
    call.value !== undefined && behaviour.isValidId(call.endpoint, call.value)
      ? undefined
      : { kind: 'invalid' },
};

function lookUpResult(behaviour: Behaviour, world: World, call: Call, now: number): Finding {
  for (const check of behaviour.checkOrder) {
    const refusal = checks[check](behaviour, world, call, now);
    if (refusal !== undefined) return refusal;
  }
  const id = behaviour.normalizeId(call.endpoint, call.value ?? '');
  return call.endpoint === 'user-status'
    ? findUser(behaviour, world, call, id)
    : findDeposit(behaviour, world, call, id, now);
}

/** Looks up a user and checks whether they belong to the caller's IB (Endpoints, user-status). */
function findUser(behaviour: Behaviour, world: World, call: Call, id: string): Finding {
  const user = lookUp(world.users, id);
  if (user === undefined) return { kind: 'unknown' };
  return behaviour.owns(call, user.partner) ? { kind: 'member', user } : { kind: 'foreign', user };
}

/** Looks up a deposit and checks whether the caller may see it (Endpoints, deposit-check; States). */
function findDeposit(behaviour: Behaviour, world: World, call: Call, id: string, now: number): Finding {
  const deposit = lookUp(world.deposits, id);
  if (deposit === undefined) return { kind: 'unknown' };
  if (!behaviour.owns(call, partnerOf(world, deposit))) return { kind: 'foreign', deposit };
  const execution = deposit.state === 'EXECUTED' ? deposit : behaviour.executionOf(world, deposit, now);
  if (execution === undefined) return { kind: 'notYet', deposit };
  const { amountInUsd, executedAt } = execution;
  return { kind: 'executed', deposit, amountInUsd, executedAt };
}

/** Counts a request for the rate limits and as a poll. A forced answer does not count. */
function count(behaviour: Behaviour, { world, now, call, finding, chaos }: Exchange): void {
  if (call === undefined || chaos?.kind === 'status') return;
  countCall(behaviour, world, call, finding, now);
  if (finding.kind === 'notYet' || finding.kind === 'executed') countPoll(world, finding.deposit, now);
}

/** Builds the response. HEAD gets no body (RFC 9110, 9.3.2). */
function respond(behaviour: Behaviour, exchange: Exchange): HttpResponse {
  const { request, now, chaos } = exchange;
  const written = {
    status: exchange.status,
    headers: headersOf(exchange, behaviour.methods),
    body: behaviour.serialize(behaviour.payload(exchange.status, exchange)),
  };
  const response = behaviour.transform(written, exchange);
  const { status, headers, body } = response;
  const Date = httpDate(now);
  // 204 and chunked responses must not have a Content-Length (RFC 9110, 8.6).
  const hasLength = status !== 204 && !('Transfer-Encoding' in headers);
  return {
    ...response,
    ...(chaos && transportEffect(chaos)),
    headers: hasLength
      ? { Date, ...headers, 'Content-Length': `${Buffer.byteLength(body)}` }
      : { Date, ...headers },
    body: request.method === 'HEAD' ? '' : body,
  };
}

/** Start of an absolute-form target, which a server has to accept (RFC 9112, 3.2.2). */
const SCHEME_AND_AUTHORITY = /^https?:\/\/[^/?]*/i;

/** Splits a request target into path and query, without the question mark. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const local = target.startsWith('/') ? target : target.replace(SCHEME_AND_AUTHORITY, '');
  const mark = local.indexOf('?');
  return mark < 0 ? { path: local, query: '' } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}

/** Splits a query into names and values and decodes each. */
export function readQuery(query: string, decode: (text: string) => string): readonly Parameter[] {
  if (query === '') return [];
  return query.split('&').map((part) => {
    const sign = part.indexOf('=');
    return sign < 0 ? [decode(part), ''] : [decode(part.slice(0, sign)), decode(part.slice(sign + 1))];
  });
}

/** `/gateway/v2/` → `/gateway/v2`, `/` → the empty string */
export function trimBasePath(basePath: string): string {
  const inner = basePath.replace(/^\/+|\/+$/g, '');
  return inner === '' ? '' : `/${inner}`;
}
