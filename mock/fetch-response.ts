import type { Answer, HttpResponse, StreamedResponse } from './exchange.ts';

/** Statuses that have no body (RFC 9110, 15). */
const BODILESS = new Set([204, 205, 304]);

/**
 * An answer in the terms of the Fetch standard, as fetch would give it to whoever sent the request.
 *
 * @throws the reason of the request's signal, where that fires before the answer is there
 */
export async function responseOf(answer: Answer, { method, signal }: Request): Promise<Response> {
  if ('follow' in answer) return streamed(answer);
  if (answer.delayMs !== undefined) await until(signal, answer.delayMs);
  if (answer.transportFault === 'timeout') await until(signal);
  return sent(answer, method);
}

/** Waits so many ms, or for ever. */
function until(signal: AbortSignal, ms?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer =
      ms === undefined
        ? undefined
        : setTimeout(() => {
            signal.removeEventListener('abort', abort);
            resolve();
          }, ms);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

function sent({ status, headers, body, dropped, transportFault }: HttpResponse, method: string): Response {
  if (dropped === true || transportFault === 'reset') return Response.error();
  const hasBody = method !== 'HEAD' && !BODILESS.has(status);
  const whole = hasBody ? (body as string) : null;
  return new Response(transportFault === 'truncate' && whole !== null ? half(whole) : whole, {
    status,
    headers,
  });
}

/** Half of a body, and then what fetch says of a connection that was cut. */
function half(body: string | Uint8Array): ReadableStream<Uint8Array> {
  const whole = Buffer.from(body);
  let isGiven = false;
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (isGiven) return controller.error(new TypeError('terminated'));
      isGiven = true;
      controller.enqueue(new Uint8Array(whole.subarray(0, whole.length / 2)));
    },
  });
}

function streamed({ status, headers, follow }: StreamedResponse): Response {
  let stop = () => {};
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      stop = follow((text) => controller.enqueue(encoder.encode(text)));
    },
    cancel: () => stop(),
  });
  return new Response(stream, { status, headers });
}
