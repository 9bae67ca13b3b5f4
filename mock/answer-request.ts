import type { Endpoint } from '../schemas/endpoints.ts';
import type { Access } from './admin/access.ts';
import { httpDate } from './answer.ts';
import { hasChaos, takeChaos } from './chaos.ts';
import type { Answer, HttpRequest, HttpResponse } from './exchange.ts';
import { answerWithChaos } from './forced-answers.ts';
import { createEntry, addEntry, toJournalLine, type JournalLine } from './journal.ts';
import { addressedWorld, getSandbox, emit, timeIn, type Sandbox, type Session } from './session.ts';
import type { ApiKey } from './world.ts';
import { answerAdmin } from './admin/router.ts';

/** A request and its response; `at` is in Unix ms. Do not print the header fields: they contain keys. */
export interface AnsweredRequest {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly at: number;
  /** Returns the journal line of the request, without credentials. */
  readonly entry: () => JournalLine;
}

export interface AnswerOptions {
  /** Answers admin calls. Without it, their paths get 404. */
  readonly admin?: ((request: HttpRequest) => Promise<Answer>) | undefined;
  readonly cors?: boolean | undefined;
  /** Called for each request to the service, before its response is sent. */
  readonly onExchange?: ((exchange: AnsweredRequest) => void) | undefined;
}

/** Creates the function that answers all requests: lookups, CORS preflights and admin calls. */
export function createAnswerer(session: Session, { admin, cors = false, onExchange }: AnswerOptions) {
  return (request: HttpRequest): Answer | Promise<Answer> => {
    if (admin !== undefined && isAdminTarget(request.target)) return admin(request);
    if (admin !== undefined && isPageVisit(request)) return toPage;
    if (cors && isPreflight(request)) return preflight(session, request);
    const { response, stored } = answerRequest(session, request);
    onExchange?.({
      request,
      response,
      at: stored.entry.at,
      entry: () => toJournalLine(stored, session.redact),
    });
    return cors ? { ...response, headers: { ...response.headers, ...corsHeaders } } : response;
  };
}

/** Creates the function that answers admin calls. */
export function createAdminAnswerer(session: Session, access: Access | undefined) {
  return (request: HttpRequest) => answerAdmin(session, access, request);
}

/** Whether a person opened the root of the mock in a browser. */
const isPageVisit = ({ method, target, headers }: HttpRequest) =>
  method === 'GET' && target === '/' && headers['sec-fetch-dest'] === 'document';
const toPage: HttpResponse = {
  status: 302,
  headers: { Location: '/__admin/', 'Cache-Control': 'no-store', 'Content-Length': '0' },
  body: '',
};

export const isAdminTarget = (target: string) => /^\/__admin(?:[/?]|$)/.test(target);

/** Answers a request in the world that its key names, and writes it to the journal of that world. */
export function answerRequest(session: Session, request: HttpRequest) {
  const { authorization } = request.headers;
  const addressed =
    authorization?.includes('~') === true ? addressedWorld(session, authorization) : undefined;
  if (addressed === undefined) return answerInWorld(session, session.main, request);
  const { problem } = addressed;
  if (problem !== undefined) return answerInWorld(session, session.main, { ...request, wrongWorld: problem });
  const headers = { ...request.headers, authorization: addressed.authorization };
  return answerInWorld(session, getSandbox(session, addressed.name), { ...request, headers });
}

function answerByChaos(sandbox: Sandbox, request: HttpRequest, now: number) {
  const draw = (caller: ApiKey, endpoint: Endpoint) =>
    takeChaos(sandbox.chaos, keyNameIn(sandbox, caller), endpoint);
  return answerWithChaos(sandbox.service, draw, sandbox.world, request, now);
}

const keyNameIn = ({ name }: Sandbox, key: ApiKey) => (name === '' ? key.name : `${key.name}~${name}`);

function answerInWorld(session: Session, sandbox: Sandbox, request: HttpRequest) {
  const { chaos, journal, name } = sandbox;
  const now = timeIn(session, sandbox);
  const elapsedMs = session.elapsed();
  const { exchange, response } = hasChaos(chaos)
    ? answerByChaos(sandbox, request, now)
    : sandbox.service.answer(sandbox.world, request, now);
  session.answered += 1;
  const durationMs = session.elapsed() - elapsedMs;
  const stored = createEntry(exchange, response, {
    id: session.answered,
    world: name,
    elapsedMs,
    durationMs,
  });
  addEntry(journal, stored, session.redact);
  if (session.watchers.size > 0)
    emit(session, { kind: 'request', entry: toJournalLine(stored, session.redact) });
  return { response, stored };
}

/** Any origin may call: pages send their key themselves and need no cookies. */
const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Date, Retry-After, WWW-Authenticate',
} as const;

function isPreflight({ method, headers }: HttpRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

function preflight(session: Session, { headers }: HttpRequest): HttpResponse {
  const requested = headers['access-control-request-headers'];
  return {
    status: 204,
    headers: {
      Date: httpDate(timeIn(session, session.main)),
      ...corsHeaders,
      'Access-Control-Allow-Methods': 'GET, HEAD',
      'Access-Control-Allow-Headers': typeof requested === 'string' ? requested : 'Authorization',
      'Access-Control-Max-Age': '600',
      Vary: 'Access-Control-Request-Headers',
    },
    body: '',
  };
}
