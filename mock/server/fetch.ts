// Not the global timers: a test runner may replace them with fake ones.
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpRequest, HttpResponse } from './exchange.ts';

/** Answers requests in this process, for any host, like the global `fetch`. */
export type Fetch = typeof globalThis.fetch;

/**
 * Creates a `fetch` that sends nothing. A reset rejects, reading a truncated body fails, and the signal of the request
 * ends delays.
 */
export const createFetch =
  (answer: (request: HttpRequest) => HttpResponse): Fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    const { signal } = request;
    // Not `throwIfAborted`, which jsdom lacks.
    if (signal.aborted) throw signal.reason;
    const { pathname, search } = new URL(request.url);
    const body = request.body === null ? '' : await request.text();
    const answered = answer({
      method: request.method,
      target: pathname + search,
      // Not as they are: happy-dom keeps the letter case of names.
      headers: Object.fromEntries(
        Array.from(request.headers, ([name, value]) => [name.toLowerCase(), value]),
      ),
      ...(body !== '' && { body }),
    });
    const { delayMs = 0 } = answered;
    if (delayMs > 0) await sleep(delayMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) throw signal.reason;
    if (answered.transportFault === 'reset')
      throw new TypeError('fetch failed', {
        cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
      });
    return toResponse(answered, request.method);
  };

/** RFC 9110, 15. */
const STATUSES_WITHOUT_BODY = new Set([204, 205, 304]);

function toResponse({ status, headers, body, transportFault }: HttpResponse, method: string): Response {
  const hasBody = method !== 'HEAD' && !STATUSES_WITHOUT_BODY.has(status);
  const whole = hasBody ? body : null;
  return new Response(transportFault === 'truncate' && whole !== null ? truncatedBody(whole) : whole, {
    status,
    headers,
  });
}

/** Sends half of a body, then fails like fetch on a closed connection. */
function truncatedBody(body: string): ReadableStream<Uint8Array> {
  const whole = Buffer.from(body);
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(whole.subarray(0, whole.length / 2))),
    pull: (controller) => controller.error(new TypeError('terminated')),
  });
}
