import { ADMIN_PATH, answerAdmin } from './control/admin.ts';
import { createAnswerer } from './server/answer-request.ts';
import { createControls, type Controls } from './control/api.ts';
import { createFetch, type Fetch } from './server/fetch.ts';
import { resolveOptions, type MockData, type NamedOptions } from './control/options.ts';
import * as server from './server/server.ts';
import { createSession, type Session } from './control/session.ts';

export { Problem } from '../schemas/problem.ts';
export { Refusal } from './server/refusal.ts';
export type { ClockMode, MockData } from './control/options.ts';
export type { AnsweredRequest } from './server/answer-request.ts';
export type { HttpRequest, HttpResponse } from './server/exchange.ts';
export type { Controls, WorldControls } from './control/api.ts';
export type { ShownClock } from './control/clock.ts';
export type { DepositChange, ShownKey } from './control/entities.ts';
export type { JournalEntry } from './control/journal.ts';
export type { Gauge } from './server/limiter.ts';
export type { Example } from './server/examples.ts';
export type { DepositNow, User } from './server/world.ts';
export type * from '../schemas/generated/types.ts';

export interface MockOptions extends server.MockOptions, NamedOptions {}

/** A mock in this process. */
export interface InProcessMock extends Controls {
  /** Answers requests in this process, for any host. Use it in the place of the global `fetch`. */
  readonly fetch: Fetch;
}

/** A mock that listens. */
export interface Mock extends InProcessMock, server.ServedMock {}

/**
 * Starts the reference server. Checks the fixture like one from a file.
 *
 * @throws Problem with code `fixture` (one line per problem and place), or `usage` for other options
 * @throws the system's error if it cannot listen, such as EADDRINUSE
 */
export async function startMock(given: MockOptions = {}): Promise<Mock> {
  const { session, ...served } = await server.startMock(resolveOptions(given));
  return { ...served, ...inProcess(session) };
}

export interface InProcessOptions extends MockData, NamedOptions {}

/**
 * Creates a mock in this process, without a socket.
 *
 * @throws Problem with code `fixture`, one line per problem and place
 */
export const createMock = (options: InProcessOptions = {}): InProcessMock =>
  inProcess(createSession(resolveOptions(options)));

function inProcess(session: Session): InProcessMock {
  const answer = createAnswerer(session, { hasPage: true });
  return {
    ...createControls(session),
    fetch: createFetch((request) =>
      ADMIN_PATH.test(request.target) ? answerAdmin(session, undefined, request) : answer(request),
    ),
  };
}
