import { isIPv4 } from 'node:net';
import { wrongUsage } from '../schemas/problem.ts';
import { createAdminAnswerer, createAnswerer, isAdminTarget } from './answer-request.ts';
import type { AnsweredRequest } from './answer-request.ts';
import { httpDate } from './answer.ts';
import { listen } from './listener.ts';
import type { MockData } from './options.ts';
import { createSession, timeIn, type Session } from './session.ts';
import { trimBasePath } from './handler.ts';

export type { AnsweredRequest } from './answer-request.ts';

export interface MockOptions extends MockData {
  /** Default: 0, which takes a free port. */
  readonly port?: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Admin API: `false` turns it off, and `token` protects it. */
  readonly admin?: false | { readonly token?: string | undefined };
  /** Lets pages of other origins call the service, but not the admin API. */
  readonly cors?: boolean;
  /** Called for each request to the service, before its response is sent. */
  readonly onExchange?: (exchange: AnsweredRequest) => void;
}

/** A running mock server. */
export interface ServedMock {
  /** The {base_url}, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** URL of the admin API; undefined if it is off. */
  readonly adminUrl: string | undefined;
  /** Stops listening and ends all connections. Without `force`, waits for responses in progress. */
  close(options?: { readonly force?: boolean }): Promise<void>;
  /** Closes the mock at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts the reference server.
 *
 * @throws Problem with code `usage` if an option is wrong
 * @throws the system's error if it cannot listen, such as EADDRINUSE
 */
export async function startMock(
  options: MockOptions = {},
): Promise<ServedMock & { readonly session: Session }> {
  const { port = 0, host = '127.0.0.1', basePath = '/', onExchange, admin = {}, cors } = options;
  const { token } = admin || {};
  if (token !== undefined && !isToken(token))
    throw wrongUsage('the admin token needs visible ASCII characters without spaces, at least one');
  const session = createSession(options);
  const date = () => httpDate(timeIn(session, session.main));
  const isOpen = admin !== false && (token !== undefined || isLoopback(host));
  const answerAdmin = isOpen ? createAdminAnswerer(session, { token }) : undefined;
  const answer = createAnswerer(session, { cors, admin: answerAdmin, onExchange });
  const listener = await listen({ host, port, date, maxBody, answer });
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${listener.port}`;
  return {
    session,
    url: `${origin}${trimBasePath(basePath)}`,
    port: listener.port,
    adminUrl: answerAdmin && `${origin}/__admin`,
    close: listener.close,
    [Symbol.asyncDispose]: () => listener.close(),
  };
}

/** Maximum body of an admin call, in bytes. It may be a fixture; a larger fixture has to come from a file. */
const MAX_ADMIN_BODY = 2 ** 24;

const maxBody = (target: string) => (isAdminTarget(target) ? MAX_ADMIN_BODY : undefined);

/** Whether a text can be sent as a Bearer token. An empty token would protect nothing. */
const isToken = (text: string) => /^[!-~]+$/.test(text);

/** Whether only this machine can reach a host. */
export const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
