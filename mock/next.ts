import { STATUS_CODES } from 'node:http';
import { parseDuration } from '../schemas/duration.ts';
import { endpointNames, messageOf, type Endpoint } from '../schemas/endpoints.ts';
import type { Duration, NextAnswer } from '../schemas/generated/types.ts';
import { finished } from './answer.ts';
import type { Service } from './behaviour.ts';
import type { Answered, Call, HttpRequest, HttpResponse } from './exchange.ts';
import type { World } from './world.ts';

/** Answers that wait for the next requests of a world, in their order. */
export type NextQueue = NextAnswer[];

/** Creates the queue of a new world. An answer without an endpoint waits at each endpoint. */
export const startingQueue = (answers: readonly NextAnswer[]): NextQueue =>
  answers.flatMap((answer) =>
    (answer.endpoint === undefined ? endpointNames : [answer.endpoint]).map((endpoint) => ({
      ...answer,
      endpoint,
    })),
  );

/** Converts a duration to ms. */
export const msOf = (duration: Duration): number =>
  typeof duration === 'number' ? duration : parseDuration(duration)!;

/** Takes what waits for the next request to an endpoint; undefined: nothing. */
function takeNext(queue: NextQueue, endpoint: Endpoint): NextAnswer | undefined {
  const at = queue.findIndex((one) => (one.endpoint ?? endpoint) === endpoint);
  const found = queue[at];
  if (found === undefined) return undefined;
  const { count = 1 } = found;
  queue.splice(at, 1, ...(count > 1 ? [{ ...found, count: count - 1 }] : []));
  return found;
}

/**
 * Answers a request with what waits for it. With a status, nothing is looked up or counted. `isNext`: something
 * waited.
 */
export function answerNext(
  queue: NextQueue,
  { answer, callOf }: Service,
  world: World,
  request: HttpRequest,
  now: number,
): Answered & { readonly isNext: boolean } {
  const call = callOf(world, request, now);
  const next = call && takeNext(queue, call.endpoint);
  if (call === undefined || next === undefined) return { ...answer(world, request, now), isNext: false };
  if (next.status === undefined) {
    const { exchange, response } = answer(world, request, now);
    const answered = { exchange, response: changed(response, next) };
    return { ...(next.body === undefined ? answered : finished(answered)), isNext: true };
  }
  const exchange = { world, now, request, call, finding: { kind: 'next' }, status: next.status } as const;
  return { ...finished({ exchange, response: changed(errorOf(call, next.status), next) }), isNext: true };
}

/** Creates the error that an endpoint answers with a status. Other answers have no body. */
function errorOf({ endpoint }: Call, status: number): HttpResponse {
  const error = messageOf(endpoint, status) ?? STATUS_CODES[status] ?? `Status ${status}`;
  const headers = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    ...(status === 429 && { 'Retry-After': '1' }),
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
  };
  return { status, headers, body: status < 400 ? '' : JSON.stringify({ error }) };
}

function changed(response: HttpResponse, next: NextAnswer): HttpResponse {
  const { headers = {}, body, delay, reset, truncate } = next;
  const given = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const kept = Object.entries(response.headers).filter(([name]) => !given.has(name.toLowerCase()));
  return {
    ...response,
    headers: { ...Object.fromEntries(kept), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(delay !== undefined && { delayMs: msOf(delay) }),
    ...(reset && { transportFault: 'reset' }),
    ...(truncate && { transportFault: 'truncate' }),
  };
}
