import { statusOf } from './answer.ts';
import { nextChaos } from './chaos-state.ts';
import { advanced, POLL_STEP } from './clock.ts';
import { tell } from './events.ts';
import type { Exchange, HttpRequest, HttpResponse } from './exchange.ts';
import { entryOf, keep, type Note } from './journal.ts';
import { keptNote } from './kept-note.ts';
import { whyOf } from './reason.ts';
import { sandboxNamed, timeIn, type Sandbox, type Session } from './session.ts';
import { addressedWorld } from './world-name.ts';

/** An answer, with the note that the journal has of it. */
export interface Answered {
  readonly response: HttpResponse;
  readonly note: Note;
}

/**
 * Answers a request of a partner: in the world that its key asks for, at the time of that world's
 * clock, with a note in its journal. The same request gets the same bytes in every world.
 */
export function answerRequest(session: Session, request: HttpRequest): Answered {
  const { authorization } = request.headers;
  const addressed =
    authorization?.includes('~') === true ? addressedWorld(session, authorization) : undefined;
  if (addressed === undefined) return answerIn(session, session.main, request, request);
  const headers = { ...request.headers, authorization: addressed.authorization };
  return answerIn(session, sandboxNamed(session, addressed.name), request, { ...request, headers });
}

function answerIn(session: Session, sandbox: Sandbox, sent: HttpRequest, request: HttpRequest): Answered {
  const { service } = sandbox;
  const now = timeIn(session, sandbox);
  const exchange = service.read(sandbox.world, request, now, ({ name }) =>
    nextChaos(sandbox.chaos, sandbox.name === '' ? name : `${name}~${sandbox.name}`),
  );
  const response = delayed(service.respond(exchange), session.options.delayMs);
  session.answered += 1;
  const elapsedMs = session.options.elapsed?.();
  const note = noteOf(session.answered, sandbox.name, sent, exchange, response, elapsedMs);
  keep(sandbox.journal, keptNote(note, session.redact));
  if (sandbox.clock.mode === 'poll' && isPoll(exchange))
    sandbox.clock = advanced(sandbox.clock, session.now(), POLL_STEP);
  tell(session.watchers, () => ({ kind: 'request', entry: entryOf(note, session.redact) }));
  return { response, note };
}

function delayed(response: HttpResponse, delayMs = 0): HttpResponse {
  return delayMs === 0 ? response : { ...response, delayMs: delayMs + (response.delayMs ?? 0) };
}

const isPoll = ({ finding }: Exchange) => finding.kind === 'notYet' && finding.deposit.state === 'pending';

function noteOf(
  id: number,
  world: string,
  { method, target }: HttpRequest,
  exchange: Exchange,
  response: HttpResponse,
  elapsedMs: number | undefined,
): Note {
  const { call, preferred, chaos, now } = exchange;
  return {
    id,
    at: now,
    world,
    method,
    target,
    key: call?.key?.name,
    unknown: call?.key === undefined ? call?.credential : undefined,
    endpoint: call?.endpoint,
    status: response.status,
    meant: statusOf(exchange),
    why: whyOf(exchange),
    retryAfter: response.headers['Retry-After'],
    preferred,
    chaos,
    elapsedMs,
  };
}
