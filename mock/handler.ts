import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import { headersOf, httpDate, statusOf } from './answer.ts';
import { reference, type Behaviour, type Check, type UnreadCall } from './behaviour.ts';
import { transportPart, type ChaosAction } from './chaos.ts';
import type { Call, Exchange, Finding, HttpRequest, HttpResponse, Parameter } from './exchange.ts';
import { forcedFinding, preferenceIn } from './forced.ts';
import { checkLimit, countCall } from './limiter.ts';
import { countPoll, keyAt, lookIn, partnerOf, type ApiKey, type World } from './world.ts';

/** The chaos that hits a request of an accepted key; undefined: none. */
export type DrawChaos = (caller: ApiKey) => ChaosAction | undefined;

/**
 * The service of a behaviour. `answer` answers a request in a world at a time in Unix ms, and says what was
 * decided. Only the world's counters change.
 */
export interface Service {
  readonly behaviour: Behaviour;
  readonly answer: (
    world: World,
    request: HttpRequest,
    now: number,
    draw?: DrawChaos,
  ) => { readonly exchange: Exchange; readonly response: HttpResponse };
}

/**
 * The service of a behaviour (Endpoints).
 *
 * @param basePath path of {base_url}; a trailing slash makes no difference
 */
export function serviceOf(behaviour: Behaviour = reference, basePath = '/'): Service {
  const base = trimBasePath(basePath);
  const names = Object.keys(endpoints) as Endpoint[];
  const routes = new Map(names.map((name) => [behaviour.path(base + endpoints[name].path), name]));
  return {
    behaviour,
    answer: (world, request, now, draw) => {
      const decision = decide(behaviour, routes, world, request, now, draw);
      const status = statusOf(decision.call, decision.finding);
      const exchange = { world, now, request, ...decision, status };
      count(behaviour, exchange);
      return { exchange, response: respond(behaviour, exchange) };
    },
  };
}

type Decision = Pick<Exchange, 'call' | 'finding' | 'preferred' | 'chaos'>;

function decide(
  behaviour: Behaviour,
  routes: ReadonlyMap<string, Endpoint>,
  world: World,
  request: HttpRequest,
  now: number,
  draw: DrawChaos | undefined,
): Decision {
  const { path, query } = splitTarget(request.target);
  const endpoint = routes.get(behaviour.path(path));
  if (endpoint === undefined) return { finding: { kind: 'noSuchPath' } };
  if (!behaviour.methods.includes(request.method)) return { finding: { kind: 'noSuchMethod' } };
  const parameters = readQuery(query, behaviour.decode);
  const call = readCall(behaviour, world, { endpoint, request, parameters }, now);
  const asked = call.caller && preferenceIn(request.headers);
  if (asked?.kind === 'refused') return { call, finding: asked };
  const chaos = asked ?? (call.caller && draw?.(call.caller));
  if (chaos?.kind === 'status') {
    const forced = { call, finding: forcedFinding(world, call, chaos.status) };
    const isApplied = asked !== undefined && forced.finding.kind !== 'refused';
    return isApplied ? { ...forced, preferred: chaos.status } : { ...forced, chaos };
  }
  const finding = find(behaviour, world, call, now);
  return chaos === undefined ? { call, finding } : { call, finding, chaos };
}

function readCall(behaviour: Behaviour, world: World, unread: UnreadCall, now: number): Call {
  const { endpoint, request, parameters } = unread;
  const value = behaviour.value(parameters, endpoints[endpoint].parameter);
  const credential = behaviour.credential(unread);
  const found = behaviour.findKey(world, credential, unread);
  const key = found && keyAt(world, found, now);
  const caller = key !== undefined && behaviour.admits(key, unread) ? key : undefined;
  return { endpoint, request, parameters, value, credential, key, caller };
}

type Refuse = (behaviour: Behaviour, world: World, call: Call, now: number) => Finding | undefined;

const checks: Readonly<Record<Check, Refuse>> = {
  key: (_behaviour, _world, call) => (call.caller === undefined ? { kind: 'unauthorized' } : undefined),
  limit: checkLimit,
  parameter: (behaviour, _world, call) =>
    call.value !== undefined && behaviour.isId(call.endpoint, call.value) ? undefined : { kind: 'invalid' },
};

function find(behaviour: Behaviour, world: World, call: Call, now: number): Finding {
  for (const check of behaviour.order) {
    const refusal = checks[check](behaviour, world, call, now);
    if (refusal !== undefined) return refusal;
  }
  const id = behaviour.idOf(call.endpoint, call.value ?? '');
  return call.endpoint === 'user-status'
    ? findUser(behaviour, world, call, id)
    : findDeposit(behaviour, world, call, id, now);
}

/** Finds a user, and whether it belongs to the caller's IB (Endpoints, user-status). */
function findUser(behaviour: Behaviour, world: World, call: Call, id: string): Finding {
  const user = lookIn(world.users, id);
  if (user === undefined) return { kind: 'unknown' };
  return behaviour.owns(call, user.partner) ? { kind: 'member', user } : { kind: 'foreign', user };
}

/** Finds a deposit, and whether the caller may see it (Endpoints, deposit-check; States). */
function findDeposit(behaviour: Behaviour, world: World, call: Call, id: string, now: number): Finding {
  const deposit = lookIn(world.deposits, id);
  if (deposit === undefined) return { kind: 'unknown' };
  if (!behaviour.owns(call, partnerOf(world, deposit))) return { kind: 'foreign', deposit };
  const execution = deposit.state === 'EXECUTED' ? deposit : behaviour.becomes(world, deposit, now);
  if (execution === undefined) return { kind: 'notYet', deposit };
  const { amountInUsd, executedAt } = execution;
  return { kind: 'executed', deposit, amountInUsd, executedAt };
}

/** Counts a request for the limiters, and as a poll, unless its answer was forced. */
function count(behaviour: Behaviour, { world, now, call, finding, preferred, chaos }: Exchange): void {
  if (call === undefined || preferred !== undefined || chaos?.kind === 'status') return;
  countCall(behaviour, world, call, finding, now);
  if (finding.kind === 'notYet' || finding.kind === 'executed') countPoll(world, finding.deposit, now);
}

/** The response as it is sent: with a date, and without a body for HEAD (RFC 9110, 9.3.2). */
function respond(behaviour: Behaviour, exchange: Exchange): HttpResponse {
  const { request, now, chaos } = exchange;
  const written = {
    status: exchange.status,
    headers: headersOf(exchange, behaviour.methods),
    body: behaviour.write(behaviour.payload(exchange.status, exchange)),
  };
  const response = behaviour.finish(written, exchange);
  const { status, headers, body } = response;
  const Date = httpDate(now);
  // 204 must not have a length (RFC 9110, 8.6), nor do chunks.
  const hasLength = status !== 204 && !('Transfer-Encoding' in headers);
  return {
    ...response,
    ...(chaos && transportPart(chaos)),
    headers: hasLength
      ? { Date, ...headers, 'Content-Length': `${Buffer.byteLength(body)}` }
      : { Date, ...headers },
    body: request.method === 'HEAD' ? '' : body,
  };
}

/** Scheme and authority of an absolute-form target, which a server has to accept (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?]*/i;

/** Splits a request target into path and query, without the question mark. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const local = target.startsWith('/') ? target : target.replace(ORIGIN, '');
  const mark = local.indexOf('?');
  return mark < 0 ? { path: local, query: '' } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}

/** Names and values of a query, in its order, each through `decode`. */
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
