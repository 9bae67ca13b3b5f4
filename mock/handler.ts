import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import { answered } from './answer.ts';
import { reference, type Behaviour, type Check, type UnreadCall } from './behaviour.ts';
import { onItsWay, type ChaosAction } from './chaos.ts';
import type { Call, Exchange, Finding, HttpRequest, HttpResponse, Refusal } from './exchange.ts';
import { forcedError, preferredFinding } from './forced.ts';
import { httpDate } from './http-date.ts';
import { keyAt } from './key.ts';
import { checkLimit, countCall } from './limiter.ts';
import { lookUps } from './lookup.ts';
import { readQuery, routesUnder, splitTarget } from './target.ts';
import type { ApiKey, World } from './world.ts';

/** Answers a request in a world at a time in Unix milliseconds. Only the world's counters change. */
export type Handler = (world: World, request: HttpRequest, now: number) => HttpResponse;

/** Says what befalls a request of a caller who was let in; undefined: nothing. */
export type Befall = (caller: ApiKey) => ChaosAction | undefined;

type Refuse = (behaviour: Behaviour, world: World, call: Call, now: number) => Refusal | undefined;

const checks: Readonly<Record<Check, Refuse>> = {
  key: (_behaviour, _world, call) => (call.caller === undefined ? { kind: 'unauthorized' } : undefined),
  limit: checkLimit,
  parameter: (behaviour, _world, call) =>
    call.value !== undefined && behaviour.isId(call.endpoint, call.value) ? undefined : { kind: 'invalid' },
};

function readCall(behaviour: Behaviour, world: World, unread: UnreadCall, now: number): Call {
  const { endpoint, request, parameters } = unread;
  const value = behaviour.value(parameters, endpoints[endpoint].parameter);
  const credential = behaviour.credential(unread);
  const found = behaviour.findKey(world, credential, unread);
  const key = found && keyAt(world, found, now);
  const caller = key !== undefined && behaviour.admits(key, unread) ? key : undefined;
  return { endpoint, request, parameters, value, credential, key, caller };
}

function find(behaviour: Behaviour, world: World, call: Call, now: number): Finding {
  for (const check of behaviour.order) {
    const refusal = checks[check](behaviour, world, call, now);
    if (refusal !== undefined) return refusal;
  }
  const id = behaviour.idOf(call.endpoint, call.value ?? '');
  return lookUps[call.endpoint](behaviour, world, call, id, now);
}

function exchangeOf(
  behaviour: Behaviour,
  routes: ReadonlyMap<string, Endpoint>,
  world: World,
  request: HttpRequest,
  now: number,
  befall: Befall | undefined,
): Exchange {
  const { path, query } = splitTarget(request.target);
  const endpoint = routes.get(behaviour.path(path));
  if (endpoint === undefined) return { world, now, request, finding: { kind: 'noSuchPath' } };
  if (!behaviour.methods.includes(request.method))
    return { world, now, request, finding: { kind: 'noSuchMethod' } };
  const parameters = readQuery(query, behaviour.decode);
  const call = readCall(behaviour, world, { endpoint, request, parameters }, now);
  const preferred = preferredFinding(world, call);
  if (preferred !== undefined) return { world, now, request, call, ...preferred };
  const chaos = call.caller && befall?.(call.caller);
  if (chaos?.kind === 'status')
    return { world, now, request, call, finding: forcedError(chaos.status), chaos };
  const finding = find(behaviour, world, call, now);
  countCall(behaviour, world, call, finding, now);
  return chaos === undefined
    ? { world, now, request, call, finding }
    : { world, now, request, call, finding, chaos };
}

function respond(behaviour: Behaviour, exchange: Exchange): HttpResponse {
  const { status, headers } = answered(exchange, behaviour.methods);
  const body = behaviour.write(behaviour.payload(status, exchange));
  return behaviour.finish({ status, headers, body }, exchange);
}

/** The answer as it is sent: dated, and HEAD gets what GET would get, without the body (RFC 9110, 9.3.2). */
function sealed({ request: { method }, now, chaos }: Exchange, response: HttpResponse): HttpResponse {
  const { status, headers, body } = response;
  const Date = httpDate(now);
  // 204 must not have a length (RFC 9110, 8.6), and chunks bring their own.
  const hasLength = status !== 204 && !('Transfer-Encoding' in headers);
  return {
    ...response,
    ...(chaos && onItsWay(chaos)),
    headers: hasLength
      ? { Date, ...headers, 'Content-Length': `${Buffer.byteLength(body)}` }
      : { Date, ...headers },
    body: method === 'HEAD' ? '' : body,
  };
}

/** The service in its two steps: what became of a request, and the answer to that. */
export interface Service {
  readonly behaviour: Behaviour;
  readonly read: (world: World, request: HttpRequest, now: number, befall?: Befall) => Exchange;
  readonly respond: (exchange: Exchange) => HttpResponse;
}

/**
 * The whole service of a behaviour (Endpoints).
 *
 * @param basePath path of {base_url}; a trailing slash makes no difference
 */
export function serviceOf(behaviour: Behaviour = reference, basePath = '/'): Service {
  const routes = routesUnder(basePath, behaviour.path);
  return {
    behaviour,
    read: (world, request, now, befall) => exchangeOf(behaviour, routes, world, request, now, befall),
    respond: (exchange) => sealed(exchange, respond(behaviour, exchange)),
  };
}

/** The service as one function. */
export function handlerOf(behaviour: Behaviour = reference, basePath = '/'): Handler {
  const { read, respond: answer } = serviceOf(behaviour, basePath);
  return (world, request, now) => answer(read(world, request, now));
}
