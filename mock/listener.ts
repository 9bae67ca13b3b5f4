import { once } from 'node:events';
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
// The global one may be a test runner's fake, which nobody moves.
import { setTimeout } from 'node:timers';
import { TLSSocket } from 'node:tls';
import polka, { type Request } from 'polka';
import { deliver, nothingUnderway } from './deliver.ts';
import type { Answer, HttpRequest } from './exchange.ts';
import { openRequests } from './open-requests.ts';
import { hasBody, messageText, MOST_BODY, parserError, readBody, transportError } from './transport.ts';

/** Request line and header fields together; room for hostile values, which are then answered 400. */
const MOST_HEADER = 65_536;

/** Connections that may wait to be taken: with node's 511 the ones behind them wait for seconds. The system may allow less. */
const BACKLOG = 16_384;

/** How long (ms) a refused connection may stay open so that its peer can read why. */
const LINGER = 1_000;

/** Certificate and private key in PEM. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}

export interface ListenerOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly host: string;
  readonly tls?: Tls | undefined;
  readonly answer: (request: HttpRequest) => Answer | Promise<Answer>;
  /** Most bytes of a body for a target; 64 KiB where it is missing. */
  readonly mostBody?: ((target: string) => number) | undefined;
  /** Date of the answers that the transport gives by itself. */
  readonly date: () => string;
  readonly patience?: Patience | undefined;
}

/** How long (ms) a request may take to arrive; longer ones are answered 408. What is missing is as node has it. */
export interface Patience {
  /** For the request line and the header fields; 60,000. */
  readonly headersTimeout?: number;
  /** For all of it; 300,000. */
  readonly requestTimeout?: number;
  /** How often that is looked after; 30,000. */
  readonly connectionsCheckingInterval?: number;
}

export interface Listener {
  readonly port: number;
  /**
   * Stops listening and ends every connection: the idle ones, those in the middle of a request and
   * answers without an end at once, the others behind their answer, which is delayed no longer;
   * `force` does not wait for answers.
   */
  close(options?: { readonly force?: boolean }): Promise<void>;
}

/**
 * Listens, and hands what comes in to `answer`.
 *
 * @throws the system's error where it cannot listen, such as one with code EADDRINUSE
 */
export async function listen({
  port,
  host,
  tls,
  answer,
  mostBody = () => MOST_BODY,
  date,
  patience,
}: ListenerOptions): Promise<Listener> {
  // A request without Host is answered like any other: node's own 400 would carry no JSON.
  const settings = { maxHeaderSize: MOST_HEADER, requireHostHeader: false, ...patience };
  const server = tls === undefined ? createPlainServer(settings) : createTlsServer({ ...settings, ...tls });
  // Of more fields than this node would leave some out, the key maybe; their size is limited anyway.
  server.maxHeadersCount = 0;
  // A client that has ended its side still reads; node's own way is to drop an answer that is not there yet.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Whatever a request expects, it is answered like any other: node's own 417 would carry no JSON.
  server.on('checkExpectation', (message, response) => server.emit('request', message, response));
  const sockets = new Map<string, Socket>();
  const below = new WeakMap<Socket, Socket>();
  // The secured socket takes the place of the one below it.
  const track = (socket: Socket) => {
    const peer = `${socket.remoteAddress} ${socket.remotePort}`;
    const under = socket instanceof TLSSocket ? sockets.get(peer) : undefined;
    if (under !== undefined) below.set(socket, under);
    sockets.set(peer, socket);
    socket.once('close', () => {
      if (sockets.get(peer) === socket) sockets.delete(peer);
    });
  };
  server.on('connection', track).on('secureConnection', track);
  const underway = nothingUnderway();
  const send = (response: ServerResponse, answered: Answer) => {
    deliver(response, answered, underway, ({ socket }) => {
      // Only the bare connection can be reset.
      if (socket !== null) (below.get(socket) ?? socket).resetAndDestroy();
    });
    if (!response.writableEnded) open.hold(response);
  };
  /** What was asked before on a connection is answered before it. */
  const behindAnswers = (socket: Socket, say: () => void) => {
    const before = open.all().findLast(({ req }) => req.socket === socket && req.complete);
    if (before === undefined) say();
    else before.once('close', say);
  };
  const refused = new WeakSet<Socket>();
  server.on('clientError', ({ code }: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket;
    if (refused.has(socket)) return;
    refused.add(socket);
    behindAnswers(socket, () => refuse(socket, parserError(code), date()));
  });
  server.on('connect', (message: IncomingMessage, duplex) => {
    const socket = duplex as Socket;
    const answered = answer(requestOf(message, undefined, open.others()));
    void Promise.resolve(answered).then((response) =>
      behindAnswers(socket, () => refuse(socket, response, date())),
    );
  });

  const serve = (message: IncomingMessage, response: ServerResponse): Promise<void> | void => {
    // Without a body nothing is waited for: this is the way of nearly every request.
    if (hasBody(message)) return serveWithBody(message, response);
    const answered = answer(requestOf(message, undefined, open.others()));
    if (!(answered instanceof Promise)) return send(response, answered);
    open.hold(response);
    return answered.then((late) => send(response, late));
  };
  const serveWithBody = async (message: IncomingMessage, response: ServerResponse) => {
    open.hold(response);
    const body = await readBody(message, mostBody(message.url ?? ''));
    if (body.kind === 'cutOff') return;
    if (body.kind === 'tooLarge') {
      const { headers, ...tooLarge } = transportError(413);
      return send(response, { ...tooLarge, headers: { Date: date(), ...headers } });
    }
    send(response, await answer(requestOf(message, body.text, open.others() - 1)));
  };
  // The routes are elsewhere: here no request matches one.
  const app = polka({ onNoMatch: serve });
  app.parse = wholeTarget;
  const open = openRequests(app.handler as (message: IncomingMessage, response: ServerResponse) => void);
  server.on('request', (_, response) => open.take(response));

  let closing: Promise<void> | undefined;
  server.listen(port, host, BACKLOG);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: ({ force = false } = {}) => {
      const closed = (closing ??= once(server, 'close').then(() => undefined));
      server.close();
      for (const now of underway.delayed) now();
      const busy = new Set<Socket>();
      for (const response of open.all()) {
        const { socket } = response;
        if (force || socket === null || !response.req.complete || underway.endless.has(response)) continue;
        busy.add(socket);
        response.shouldKeepAlive = false;
        response.once('close', () => socket.destroySoon());
      }
      for (const socket of sockets.values()) {
        if (busy.has(socket)) continue;
        // What was answered may still be on its way out.
        if (force || socket.writableLength === 0) socket.destroy();
        else socket.destroySoon();
      }
      return closed;
    },
  };
}

const NO_QUERY = {};

/** A target as polka is to know it: whole, for it is read elsewhere, and more strictly. */
function wholeTarget({ url = '' }: IncomingMessage): Request['_parsedUrl'] {
  return { raw: url, pathname: url, search: '', query: NO_QUERY, hash: undefined };
}

function requestOf(
  { method = '', url: target = '', headers }: IncomingMessage,
  body: string | undefined,
  alongside: number,
): HttpRequest {
  return body === undefined
    ? { method, target, headers, alongside }
    : { method, target, headers, alongside, body };
}

/** Answers on a bare socket, once, and lets it go. */
function refuse(socket: Socket, answer: Answer, date: string): void {
  if (!socket.writable) return;
  const { status, headers } = answer;
  const body = 'follow' in answer ? '' : answer.body;
  socket.on('error', () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(), LINGER).unref();
  socket.once('close', () => clearTimeout(timer));
  socket.end(messageText({ status, headers: { Date: date, ...headers }, body }));
  // Behind what nobody reads the peer's own end would not be seen.
  socket.resume();
}
