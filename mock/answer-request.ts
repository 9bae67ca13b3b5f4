import type { Access } from './admin/guard.ts';
import { httpDate } from './answer.ts';
import { takeChaos } from './chaos.ts';
import type { Answer, HttpRequest, HttpResponse } from './exchange.ts';
import { entryOf, keep, shownLine, type JournalLine } from './journal.ts';
import { addressedWorld, sandboxNamed, tell, timeIn, type Sandbox, type Session } from './session.ts';
import type { ApiKey } from './world.ts';

/** A request and its answer; `at` is in Unix ms. Header fields hold keys: never print them. */
export interface AnsweredRequest {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly at: number;
  /** What the journal says of it, without credentials. */
  readonly entry: () => JournalLine;
}

export interface AnswerOptions {
  /** Answers admin calls; without it, their paths are like any other. */
  readonly admin?: ((request: HttpRequest) => Promise<Answer>) | undefined;
  /** Pages of other origins may call the service. */
  readonly cors?: boolean | undefined;
  /** Told of each request of a partner when its answer is on its way. */
  readonly onExchange?: ((exchange: AnsweredRequest) => void) | undefined;
}

/** Answers each request that a transport receives: a partner's, a browser's preflight, or an admin call. */
export function answererOf(session: Session, { admin, cors = false, onExchange }: AnswerOptions) {
  return (request: HttpRequest): Answer | Promise<Answer> => {
    if (admin !== undefined && isAdmin(request.target)) return admin(request);
    if (cors && isPreflight(request)) return preflight(session, request);
    const { response, kept } = answerRequest(session, request);
    onExchange?.({ request, response, at: kept.entry.at, entry: () => shownLine(kept, session.redact) });
    return cors ? { ...response, headers: { ...response.headers, ...anyOrigin } } : response;
  };
}

/** The admin API of a session. It is loaded with its first call, because most mocks never get one. */
export function adminOf(session: Session, access: Access | undefined) {
  return async (request: HttpRequest): Promise<Answer> => {
    const { answerAdmin } = await import('./admin/router.ts');
    return answerAdmin(session, access, request);
  };
}

export const isAdmin = (target: string) => /^\/__admin(?:[/?]|$)/.test(target);

/**
 * Answers a request of a partner: in the world that its key names, at the time of that world's clock, with
 * an entry in its journal. The same request gets the same bytes in every world.
 */
export function answerRequest(session: Session, request: HttpRequest) {
  const { authorization } = request.headers;
  const addressed =
    authorization?.includes('~') === true ? addressedWorld(session, authorization) : undefined;
  if (addressed === undefined) return answerIn(session, session.main, request);
  const { wrong } = addressed;
  if (wrong !== undefined) return answerIn(session, session.main, { ...request, wrongWorld: wrong });
  const headers = { ...request.headers, authorization: addressed.authorization };
  return answerIn(session, sandboxNamed(session, addressed.name), { ...request, headers });
}

const nameIn = ({ name }: Sandbox, key: ApiKey) => (name === '' ? key.name : `${key.name}~${name}`);

function answerIn(session: Session, sandbox: Sandbox, request: HttpRequest) {
  const { service, chaos, journal, name, world } = sandbox;
  const now = timeIn(session, sandbox);
  const elapsedMs = session.elapsed?.();
  const { exchange, response } = service.answer(world, request, now, (caller) =>
    takeChaos(chaos, nameIn(sandbox, caller)),
  );
  session.answered += 1;
  const { delayMs = 0 } = session.options;
  const late = delayMs === 0 ? response : { ...response, delayMs: delayMs + (response.delayMs ?? 0) };
  const times =
    elapsedMs === undefined ? undefined : { elapsedMs, durationMs: session.elapsed!() - elapsedMs };
  const kept = entryOf(exchange, late, { id: session.answered, world: name }, times);
  keep(journal, kept, session.redact);
  if (session.watchers.size > 0) tell(session, { kind: 'request', entry: shownLine(kept, session.redact) });
  return { response: late, kept };
}

/** For pages of any origin: they hold their key themselves, and need no cookies. */
const anyOrigin = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Date, Retry-After, WWW-Authenticate',
} as const;

function isPreflight({ method, headers }: HttpRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

function preflight(session: Session, { headers }: HttpRequest): HttpResponse {
  const asked = headers['access-control-request-headers'];
  return {
    status: 204,
    headers: {
      Date: httpDate(timeIn(session, session.main)),
      ...anyOrigin,
      'Access-Control-Allow-Methods': 'GET, HEAD',
      'Access-Control-Allow-Headers': typeof asked === 'string' ? asked : 'Authorization',
      'Access-Control-Max-Age': '600',
      Vary: 'Access-Control-Request-Headers',
    },
    body: '',
  };
}
