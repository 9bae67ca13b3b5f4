import { isIPv4 } from 'node:net';
import { wrongUsage } from '../schemas/problem.ts';
import type { Access } from './admin/guard.ts';
import { adminOf, answererOf, isAdmin, type AnsweredRequest } from './answer-request.ts';
import { httpDate } from './answer.ts';
import { listen } from './listener.ts';
import type { Tls, MockData } from './options.ts';
import { createSession, timeIn, type Session } from './session.ts';
import { trimBasePath } from './handler.ts';

export type { AnsweredRequest } from './answer-request.ts';

export interface MockOptions extends MockData {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** 127.0.0.1 where it is missing. */
  readonly host?: string;
  /** The admin API: missing with `false`; on a port of its own; for whoever has the token. */
  readonly admin?: false | { readonly port?: number | undefined; readonly token?: string | undefined };
  readonly tls?: Tls | undefined;
  /** Pages of other origins may call the service, not the admin API. */
  readonly cors?: boolean;
  /** Told of each request when its answer is on its way. */
  readonly onExchange?: (exchange: AnsweredRequest) => void;
}

/** A mock on a port. */
export interface ServedMock {
  /** The {base_url}, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Where the admin API is; undefined where there is none. */
  readonly adminUrl: string | undefined;
  /**
   * Stops listening and ends every connection: idle ones at once, others behind their answer, which
   * `force` does not wait for.
   */
  close(options?: { readonly force?: boolean }): Promise<void>;
  /** The same, at the end of a block with `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts the reference server.
 *
 * @throws Problem of code `usage` where an option is wrong
 * @throws the system's error where it cannot listen, such as one with code EADDRINUSE
 */
export async function startMock(
  options: MockOptions = {},
): Promise<ServedMock & { readonly session: Session }> {
  const { port = 0, host = '127.0.0.1', basePath = '/', onExchange, admin = {} } = options;
  const { tls, cors } = options;
  if (admin !== false && admin.token !== undefined && !isToken(admin.token))
    throw wrongUsage('the admin token needs visible ASCII characters without spaces, at least one');
  const session = createSession(options, () => performance.now());
  const date = () => httpDate(timeIn(session, session.main));
  const access = admin === false ? undefined : accessTo(host, admin.token);
  const answerAdmin = access && adminOf(session, access);
  const adminPort = admin === false ? undefined : admin.port;
  const listener = await listen({
    port,
    host,
    date,
    tls,
    maxBody,
    answer: answererOf(session, {
      cors,
      admin: adminPort === undefined ? answerAdmin : undefined,
      onExchange,
    }),
  });
  const adminListener =
    answerAdmin && adminPort !== undefined
      ? await listen({ port: adminPort, host, date, tls, answer: answerAdmin, maxBody }).catch(
          async (error: unknown) => {
            await listener.close();
            throw error;
          },
        )
      : undefined;
  if (adminListener !== undefined) session.servicePort = listener.port;
  const scheme = tls === undefined ? 'http' : 'https';
  const origin = (bound: number) => `${scheme}://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  const close: ServedMock['close'] = async (how) => {
    await Promise.all([listener.close(how), adminListener?.close(how)]);
  };
  return {
    session,
    url: `${origin(listener.port)}${trimBasePath(basePath)}`,
    port: listener.port,
    adminUrl: answerAdmin && `${origin((adminListener ?? listener).port)}/__admin`,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** Most bytes of the body of an admin call: it may be a fixture. A larger one has to come from a file. */
const MAX_ADMIN_BODY = 2 ** 24;

const maxBody = (target: string) => (isAdmin(target) ? MAX_ADMIN_BODY : undefined);

/** Without a token the admin API is for this machine alone; undefined: for nobody. */
function accessTo(host: string, token: string | undefined): Access | undefined {
  if (token !== undefined) return { kind: 'token', token };
  return isLoopback(host) ? { kind: 'loopback' } : undefined;
}

/** Whether a text can be presented as a Bearer token: an empty one would be presented by everybody. */
const isToken = (text: string) => /^[!-~]+$/.test(text);

/** Whether only this machine reaches an address. */
export const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
