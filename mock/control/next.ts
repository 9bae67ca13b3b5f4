import { parseDuration } from '../../schemas/values.ts';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Duration, NextAnswer } from '../../schemas/generated/types.ts';
import { answered, finished } from '../server/answer.ts';
import type { Answered, HttpRequest, HttpResponse } from '../server/exchange.ts';
import type { Service } from '../server/handler.ts';
import { badRequest, checkInput } from '../server/refusal.ts';
import type { World } from '../server/world.ts';

/** Answers that wait for the next requests of a world, in their order. */
export type NextQueue = NextAnswer[];

/** Converts a duration to ms; NaN for another value. */
export const msOf = (duration: Duration): number =>
  typeof duration === 'number' ? duration : (parseDuration(duration) ?? Number.NaN);

const MAX_QUEUED = 1000;
/** Maximum delay of an answer, in ms: a day. */
const MAX_DELAY_MS = 86_400_000;
/** Fields that say where a message ends. The mock writes them. */
const FRAMING = /^(?:connection|content-length|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/**
 * Checks an answer or a list of them.
 *
 * @param waiting number of answers that wait already
 * @throws Refusal with 400 and the first wrong place
 */
export function checkNext(given: unknown, waiting = 0): readonly NextAnswer[] {
  checkInput(Array.isArray(given) ? 'nextAnswers' : 'nextAnswer', 'body', given);
  const answers = [given].flat() as readonly NextAnswer[];
  for (const { headers = {}, delay = 0 } of answers) {
    const framing = Object.keys(headers).find((name) => FRAMING.test(name));
    if (framing !== undefined) throw badRequest(`headers.${framing}`, 'is written by the mock itself');
    if (msOf(delay) > MAX_DELAY_MS) throw badRequest('delay', 'is longer than a day');
  }
  if (waiting + answers.length > MAX_QUEUED)
    throw badRequest('', `more than ${MAX_QUEUED} answers would wait; use a count instead`);
  return answers;
}

/** Returns what waits, without header fields and bodies, which may contain keys. */
export const shownNext = (queue: NextQueue) => queue.map(({ headers: _, body: __, ...shown }) => shown);

/** Takes what waits for the next request to an endpoint; undefined: nothing. */
function takeNext(queue: NextQueue, endpoint: Endpoint): NextAnswer | undefined {
  const at = queue.findIndex((one) => (one.endpoint ?? endpoint) === endpoint);
  const found = queue[at];
  if (found === undefined) return undefined;
  const { count = 1 } = found;
  queue.splice(at, 1, ...(count > 1 ? [{ ...found, count: count - 1 }] : []));
  return found;
}

/** Answers a request with what waits for it; undefined: nothing. With a status, nothing is looked up or counted. */
export function answerNext(
  queue: NextQueue,
  { read, serve }: Service,
  world: World,
  request: HttpRequest,
  now: number,
): Answered | undefined {
  const call = read(world, request, now);
  const next = typeof call === 'string' ? undefined : takeNext(queue, call.endpoint);
  if (typeof call === 'string' || next === undefined) return undefined;
  const { status } = next;
  const { exchange, response } =
    status === undefined
      ? serve(world, request, now)
      : answered({ world, now, request, call, finding: { kind: 'next', status } });
  return finished({ exchange, response: changed(response, next) });
}

function changed(response: HttpResponse, next: NextAnswer): HttpResponse {
  const { headers = {}, body, delay, reset, truncate } = next;
  const known = [...Object.keys(response.headers), 'Date', 'Retry-After'];
  // A field that the mock writes, too, keeps its letter case: there is only one of it.
  const given = Object.entries(headers).map(([name, value]) => [
    known.find((one) => one.toLowerCase() === name.toLowerCase()) ?? name,
    value,
  ]);
  return {
    ...response,
    headers: { ...response.headers, ...Object.fromEntries(given) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(delay !== undefined && { delayMs: msOf(delay) }),
    ...(reset && { transportFault: 'reset' }),
    ...(truncate && { transportFault: 'truncate' }),
  };
}
