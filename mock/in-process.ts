import { controlsOf, type ControlledMock } from './controls.ts';
import { adminOf, answererOf } from './answer-request.ts';
import type { HttpRequest } from './exchange.ts';
import { responseOf } from './fetch-response.ts';
import { sessionFor } from './session.ts';
import type { MockData } from './options.ts';

export interface InProcessOptions extends MockData {
  /** Without the admin API, its paths are like any other. */
  readonly admin?: boolean;
}

/** A mock without a socket. */
export interface InProcessMock extends ControlledMock {
  /**
   * Answers a request of the Fetch standard, whatever its host. A cut connection is `Response.error()`,
   * a truncated body one that fails; what times out or is delayed waits for the request's signal as well.
   */
  readonly handle: (request: Request) => Promise<Response>;
}

/** Makes a mock in this process; an interceptor of fetch can mount its `handle`. It waits for nothing that is not asked for. */
export function createMock({ admin = true, ...data }: InProcessOptions = {}): InProcessMock {
  const session = sessionFor(data);
  const answer = answererOf(session, { admin: admin ? adminOf(session, undefined) : undefined });
  return {
    ...controlsOf(session),
    handle: async (request) => {
      return responseOf(await answer(await received(request)), request);
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
