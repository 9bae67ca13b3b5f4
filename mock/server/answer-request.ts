import { httpDate } from './answer.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';
import { addEntry, createEntry, type JournalEntry } from '../control/journal.ts';
import { answerNext } from '../control/next.ts';
import {
  addressedWorld,
  keepSandbox,
  peekSandbox,
  timeIn,
  type Sandbox,
  type Session,
} from '../control/session.ts';

/** A request and its response. Do not print the header fields: they contain keys. */
export interface AnsweredRequest {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** Without credentials. */
  readonly entry: JournalEntry;
}

export interface AnswerOptions {
  readonly cors?: boolean | undefined;
  /** A person who opens the root in a browser gets the page. */
  readonly hasPage: boolean;
  /** Called for each request to the service, before its response is sent. */
  readonly onExchange?: ((exchange: AnsweredRequest) => void) | undefined;
}

/** Creates the function that answers all requests that are no admin calls. */
export function createAnswerer(session: Session, { hasPage, cors = false, onExchange }: AnswerOptions) {
  return (request: HttpRequest): HttpResponse => {
    if (hasPage && isPageVisit(request)) return toPage;
    if (cors && isPreflight(request)) return preflight(session, request);
    const { response, entry } = answerRequest(session, request);
    onExchange?.({ request, response, entry });
    return cors ? { ...response, headers: { ...response.headers, ...corsHeaders } } : response;
  };
}

/** The name of a world may have spaces. */
const KEY_AND_WORLD = /^bearer +(\S.*)$/i;

/** Answers a request in the world that its key names, and writes it to the journal of that world. */
export function answerRequest(session: Session, request: HttpRequest) {
  const { authorization = '' } = request.headers;
  const [, credential = ''] = authorization.includes('~') ? (KEY_AND_WORLD.exec(authorization) ?? []) : [];
  const addressed = addressedWorld(session, credential);
  if (addressed === undefined) return answerInWorld(session, session.main, request);
  const { problem } = addressed;
  if (problem !== undefined) return answerInWorld(session, session.main, { ...request, wrongWorld: problem });
  const scheme = authorization.slice(0, -credential.length);
  const headers = { ...request.headers, authorization: scheme + addressed.key };
  const sandbox = keepSandbox(session, peekSandbox(session, addressed.name));
  return answerInWorld(session, sandbox, { ...request, headers });
}

function answerInWorld(session: Session, sandbox: Sandbox, request: HttpRequest) {
  const { next, service, world, journal, name } = sandbox;
  const now = timeIn(session, sandbox);
  const elapsedMs = session.elapsed();
  const waiting = next.length > 0 ? answerNext(next, service, world, request, now) : undefined;
  const { exchange, response } = waiting ?? service.answer(world, request, now);
  session.answered += 1;
  const entry = createEntry(exchange, response, session.redactor.redact, {
    id: session.answered,
    world: name,
    elapsedMs,
    durationMs: session.elapsed() - elapsedMs,
    isNext: waiting !== undefined,
  });
  addEntry(journal, entry);
  for (const wake of session.waiting) wake();
  return { response, entry };
}

/** Whether a person opened the root of the mock in a browser. */
const isPageVisit = ({ method, target, headers }: HttpRequest) =>
  method === 'GET' && target === '/' && headers['sec-fetch-dest'] === 'document';
const toPage: HttpResponse = {
  status: 302,
  headers: { Location: '/__admin/', 'Cache-Control': 'no-store', 'Content-Length': '0' },
  body: '',
};

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
