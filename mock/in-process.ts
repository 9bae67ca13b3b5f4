import { controlsOf, type ControlledMock } from './controls.ts';
import { adminOf, doorOf } from './door.ts';
import type { HttpRequest, HttpResponse, StreamedResponse } from './exchange.ts';
import { sessionFor, type MockData } from './options.ts';

export interface InProcessOptions extends MockData {
  /** Without the admin API, its paths are like any other. */
  readonly admin?: boolean;
}

/** A mock without a socket. */
export interface InProcessMock extends ControlledMock {
  /** Answers a request of the Fetch standard, whatever its host. A cut connection is `Response.error()`. */
  readonly handle: (request: Request) => Promise<Response>;
}

/** Statuses that have no body (RFC 9110, 15). */
const BODILESS = new Set([204, 205, 304]);

/** Makes a mock in this process; an interceptor of fetch can mount its `handle`. It waits for nothing. */
export function createMock({ admin = true, ...data }: InProcessOptions = {}): InProcessMock {
  const session = sessionFor(data);
  const door = doorOf(session, { admin: admin ? adminOf(session, undefined) : undefined });
  return {
    ...controlsOf(session),
    handle: async (request) => {
      const answer = await door(await received(request));
      return 'follow' in answer ? streamed(answer) : sent(answer, request.method);
    },
  };
}

async function received(request: Request): Promise<HttpRequest> {
  const { pathname, search } = new URL(request.url);
  const body = request.body === null ? '' : await request.text();
  return {
    method: request.method,
    target: pathname + search,
    headers: Object.fromEntries(request.headers),
    ...(body !== '' && { body }),
  };
}

function sent({ status, headers, body, dropped }: HttpResponse, method: string): Response {
  if (dropped) return Response.error();
  const hasBody = method !== 'HEAD' && !BODILESS.has(status);
  return new Response(hasBody ? (body as string) : null, { status, headers });
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
