import { createControls, type ControlledMock } from './controls.ts';
import { createAdminAnswerer, createAnswerer } from './answer-request.ts';
import type { Answer, HttpRequest, HttpResponse, StreamedResponse } from './exchange.ts';
import { createSession } from './session.ts';
import { resolveOptions } from './controls/start-options.ts';
import type { MockData, NamedOptions } from './options.ts';

export interface InProcessOptions extends MockData, NamedOptions {
  /** `false` turns the admin API off: its paths get 404. */
  readonly admin?: boolean;
}

/** A mock without a socket. */
export interface InProcessMock extends ControlledMock {
  /**
   * Answers a request of the Fetch standard, for any host. A connection reset is `Response.error()`; reading a
   * truncated body fails. The signal of the request ends timeouts and delays.
   */
  readonly handle: (request: Request) => Promise<Response>;
}

/**
 * Creates a mock in this process, without a socket. Pass its `handle` to an interceptor of fetch.
 *
 * @throws Problem with code `fixture`, one line per problem and place
 */
export function createMock(options: InProcessOptions = {}): InProcessMock {
  const { admin = true, env, ...data } = resolveOptions(options);
  const session = createSession(data);
  const answer = createAnswerer(session, {
    admin: admin ? createAdminAnswerer(session, undefined) : undefined,
  });
  return {
    ...createControls(session, env),
    handle: async (request) => toFetchResponse(await answer(await toHttpRequest(request)), request),
  };
}

async function toHttpRequest(request: Request): Promise<HttpRequest> {
  const { pathname, search } = new URL(request.url);
  const body = request.body === null ? '' : await request.text();
  return {
    method: request.method,
    target: pathname + search,
    headers: Object.fromEntries(request.headers),
    ...(body !== '' && { body }),
  };
}

/** RFC 9110, 15. */
const STATUSES_WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * Converts an answer to a Response of fetch, after its delay.
 *
 * @throws the reason of the request's signal if it aborts first
 */
async function toFetchResponse(answer: Answer, { method, signal }: Request): Promise<Response> {
  if ('subscribe' in answer) return toStreamedResponse(answer);
  if (answer.delayMs !== undefined) await waitFor(signal, answer.delayMs);
  if (answer.transportFault === 'timeout') await waitFor(signal);
  return toResponse(answer, method);
}

async function waitFor(signal: AbortSignal, ms?: number): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
  });
}

function toResponse({ status, headers, body, transportFault }: HttpResponse, method: string): Response {
  if (transportFault === 'reset') return Response.error();
  const hasBody = method !== 'HEAD' && !STATUSES_WITHOUT_BODY.has(status);
  const whole = hasBody ? (body as string) : null;
  return new Response(transportFault === 'truncate' && whole !== null ? truncatedBody(whole) : whole, {
    status,
    headers,
  });
}

/** Sends half of a body, then fails like fetch on a closed connection. */
function truncatedBody(body: string | Uint8Array): ReadableStream<Uint8Array> {
  const whole = Buffer.from(body);
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(whole.subarray(0, whole.length / 2))),
    pull: (controller) => controller.error(new TypeError('terminated')),
  });
}

function toStreamedResponse({ status, headers, subscribe }: StreamedResponse): Response {
  let stop = () => {};
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      stop = subscribe((text) => controller.enqueue(encoder.encode(text)));
    },
    cancel: () => stop(),
  });
  return new Response(stream, { status, headers });
}
