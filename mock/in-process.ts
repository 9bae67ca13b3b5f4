import { checkFixture } from '../schemas/fixture.ts';
import type { Environment } from '../schemas/fixture-keys.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { controlsOf, type ControlledMock } from './controls.ts';
import { adminOf, answererOf } from './answer-request.ts';
import type { Answer, HttpRequest, HttpResponse, StreamedResponse } from './exchange.ts';
import { createSession, replaceFixture, type Session } from './session.ts';
import type { MockData } from './options.ts';

export interface GivenFixture {
  /** What `${NAME}` in a key of the fixture is read from; the environment of the process where it is missing. */
  readonly env?: Environment;
}

export interface InProcessOptions extends MockData, GivenFixture {
  /** Without the admin API, its paths are like any other. */
  readonly admin?: boolean;
}

export interface Replaceable {
  /**
   * Serves another fixture until a reset, and resets everything. A wrong one is rejected with a Problem of code
   * `fixture`, and the one before is still served.
   */
  replaceFixture(fixture: Fixture): Promise<void>;
}

/** A mock without a socket. */
export interface InProcessMock extends ControlledMock, Replaceable {
  /**
   * Answers a request of the Fetch standard, whatever its host. A cut connection is `Response.error()`,
   * a truncated body one that fails; what times out or is delayed waits for the request's signal as well.
   */
  readonly handle: (request: Request) => Promise<Response>;
}

/**
 * Makes a mock in this process; an interceptor of fetch can mount its `handle`. It waits for nothing
 * that is not asked for.
 *
 * @throws Problem of code `fixture` where that is wrong, a line for each problem with its place
 */
export function createMock(options: InProcessOptions = {}): InProcessMock {
  const { admin = true, env = process.env, fixture, ...data } = options;
  const given = fixture && { fixture: checkFixture(fixture, 'fixture', env) };
  const session = createSession({ ...data, ...given }, () => performance.now());
  const answer = answererOf(session, { admin: admin ? adminOf(session, undefined) : undefined });
  return {
    ...controlsOf(session),
    replaceFixture: replacerOf(session, env),
    handle: async (request) => responseOf(await answer(await received(request)), request),
  };
}

export const replacerOf =
  (session: Session, env: Environment): Replaceable['replaceFixture'] =>
  async (fixture) =>
    replaceFixture(session, checkFixture(fixture, 'fixture', env), false);

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

/** Statuses that have no body (RFC 9110, 15). */
const BODILESS = new Set([204, 205, 304]);

/**
 * A response as fetch gives it to the sender of a request.
 *
 * @throws the reason of the request's signal, where that fires before the response is there
 */
async function responseOf(answer: Answer, { method, signal }: Request): Promise<Response> {
  if ('follow' in answer) return streamed(answer);
  if (answer.delayMs !== undefined) await until(signal, answer.delayMs);
  if (answer.transportFault === 'timeout') await until(signal);
  return sent(answer, method);
}

async function until(signal: AbortSignal, ms?: number): Promise<void> {
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

function sent({ status, headers, body, transportFault }: HttpResponse, method: string): Response {
  if (transportFault === 'reset') return Response.error();
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
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(whole.subarray(0, whole.length / 2))),
    pull: (controller) => controller.error(new TypeError('terminated')),
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
