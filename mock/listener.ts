import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:http';
import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
// A test runner's fake timers replace the global ones, and nobody would move them.
import { setImmediate, setTimeout } from 'node:timers';
import polka, { type Request } from 'polka';
import type { Answer, HttpRequest } from './exchange.ts';
import type { Tls } from './options.ts';
import {
  destroyAtEnd,
  hasBody,
  parserError,
  readBody,
  sendOnSocket,
  stream,
  transportError,
  write,
} from './transport.ts';

/** Most bytes of request line and header fields. Hostile values fit, and are then answered 400. */
const MAX_HEADER = 65_536;

/** Most bytes of a request body. The interface has no bodies; some faults read them. */
const MAX_BODY = 65_536;

/** Connections that may wait to be accepted: with node's 511, others wait for seconds. The system may allow less. */
const BACKLOG = 16_384;

/** Requests that may wait behind others of their connection. While more do, the connection is not read. */
const MAX_BEHIND = 100;

/** How long (ms) requests are answered before others may arrive, or a signal. */
const TURN = 20;

export interface ListenerOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly host: string;
  readonly tls?: Tls | undefined;
  readonly answer: (request: HttpRequest) => Answer | Promise<Answer>;
  /** Most bytes of a body for a target; 64 KiB where it is missing. */
  readonly maxBody?: ((target: string) => number | undefined) | undefined;
  /** Date of the responses that the transport sends by itself. */
  readonly date: () => string;
  /** How long (ms) a request may take to arrive; a longer one is answered 408. Defaults are node's. */
  readonly timeouts?: Pick<
    ServerOptions,
    'headersTimeout' | 'requestTimeout' | 'connectionsCheckingInterval'
  >;
}

export interface Listener {
  readonly port: number;
  /**
   * Stops listening and ends every connection: idle ones, those in the middle of a request and streams at
   * once, the others behind their response, which is no longer delayed; `force` does not wait for those.
   */
  close(options?: { readonly force?: boolean }): Promise<void>;
}

/**
 * Listens, and hands what comes in to `answer`.
 *
 * @throws the system's error where it cannot listen, such as one with code EADDRINUSE
 */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { port, host, tls, answer, maxBody, date, timeouts } = options;
  // A request without Host is answered like any other: node's own 400 carries no JSON.
  const settings = { maxHeaderSize: MAX_HEADER, requireHostHeader: false, ...timeouts };
  const server = tls === undefined ? createPlainServer(settings) : createTlsServer({ ...settings, ...tls });
  // Node drops fields beyond a number, maybe the one with the key; their size is limited anyway.
  server.maxHeadersCount = 0;
  // A client that has ended its side still reads; node would drop a response that is not there yet.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Whatever a request expects, it is answered like any other: node's own 417 carries no JSON.
  server.on('checkExpectation', (message, response) => server.emit('request', message, response));

  /** The connections; of TLS the plain ones, each with the secure one above it. */
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // Node resumes it behind each response.
    socket.on('resume', () => countBehind(socket, 0));
  };
  server.on('connection', track).on('secureConnection', track);
  let closing: Promise<void> | undefined;
  /** How many responses of a connection stand behind another one. */
  const behind = new WeakMap<Socket, number>();
  const countBehind = (socket: Socket, more: number) => {
    const count = (behind.get(socket) ?? 0) + more;
    if (more !== 0) behind.set(socket, count);
    if (count > MAX_BEHIND) socket.pause();
    else if (more < 0 && count === MAX_BEHIND) socket.resume();
  };
  /** Responses to requests that just arrived, by connection, and those that are not written at once. */
  const queues = new Map<Socket, ServerResponse[]>();
  let arrived = 0;
  const held = new Set<ServerResponse>();
  const hold = (response: ServerResponse) => {
    held.add(response);
    response.once('close', () => held.delete(response));
  };
  /** Responses that are not written yet; those of a connection in the order of their requests. */
  const open = () => [...held, ...[...queues.values()].flat()];
  const others = () => arrived + held.size - 1;
  /** Streams, and responses that never come. */
  const endless = new WeakSet<ServerResponse>();
  /** Ends the delays of responses at once. */
  const delayed = new Set<() => void>();
  const delay = (ms: number) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        delayed.delete(end);
        resolve();
      };
      // The connection keeps the process alive; the timer must not.
      const timer = setTimeout(end, ms).unref();
      delayed.add(end);
    });

  const send = (response: ServerResponse, answered: Answer): Promise<void> | void => {
    if (response.destroyed) return;
    if ('follow' in answered) {
      endless.add(response);
      stream(response, answered);
    } else if (answered.delayMs !== undefined && answered.delayMs > 0) {
      destroyAtEnd(response);
      return delay(answered.delayMs).then(() => send(response, { ...answered, delayMs: 0 }));
    } else if (answered.transportFault === 'timeout') {
      endless.add(response);
      destroyAtEnd(response);
    } else if (answered.transportFault === 'reset') {
      // Only the plain connection can be reset. It was there before the secure one.
      const plain = [...sockets].find((socket) => peerOf(socket) === peerOf(response.req.socket));
      plain?.resetAndDestroy();
    } else write(response, answered);
  };
  const serve = (message: IncomingMessage, response: ServerResponse): Promise<void> | void => {
    // Nearly every request has no body: it waits for nothing.
    if (hasBody(message)) return serveWithBody(message, response);
    const answered = answer(requestOf(message, undefined, others()));
    return answered instanceof Promise
      ? answered.then((late) => send(response, late))
      : send(response, answered);
  };
  const serveWithBody = async (message: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(message, maxBody?.(message.url ?? '') ?? MAX_BODY);
    if (body.kind === 'cutOff') return;
    if (body.kind === 'tooLarge') {
      const { headers, ...tooLarge } = transportError(413);
      return send(response, { ...tooLarge, headers: { Date: date(), ...headers } });
    }
    return send(response, await answer(requestOf(message, body.text, others())));
  };
  // Routes are the handler's business: here no request matches one.
  const app = polka({ onNoMatch: serve });
  app.parse = wholeTarget;
  const handle = app.handler as (message: IncomingMessage, response: ServerResponse) => void;
  // Requests of one turn are answered together, so that they know of each other.
  const answerArrived = () => {
    const begun = performance.now();
    for (const [socket, queue] of queues) {
      if (performance.now() - begun > TURN) return void setImmediate(answerArrived);
      const response = queue[0]!;
      // Nobody is left to answer where the connection was closed by us.
      if (closing === undefined || !socket.destroyed) handle(response.req, response);
      arrived--;
      queue.shift();
      // The rest comes last: whoever sends many requests at once delays the others little.
      queues.delete(socket);
      if (queue.length > 0) queues.set(socket, queue);
      if (!response.writableEnded && !response.destroyed) hold(response);
    }
  };
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (closing !== undefined) return;
    const queue = queues.get(socket);
    if (queue === undefined) queues.set(socket, [response]);
    else queue.push(response);
    if (++arrived === 1) setImmediate(answerArrived);
    // Nearly every request has its connection for itself.
    if (response.socket !== null) return;
    countBehind(socket, 1);
    response.once('close', () => countBehind(socket, -1));
  });

  /** Says something on a connection, behind the response to what was asked there before. */
  const behindResponses = (socket: Socket, say: () => void) => {
    const all = [...held, ...(queues.get(socket) ?? [])];
    const before = all.findLast(({ req }) => req.socket === socket && req.complete);
    if (before === undefined) say();
    else before.once('close', say);
  };
  const refused = new WeakSet<Socket>();
  server.on('clientError', ({ code }: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket;
    if (refused.has(socket)) return;
    refused.add(socket);
    behindResponses(socket, () => sendOnSocket(socket, parserError(code), date()));
  });
  server.on('connect', (message: IncomingMessage, duplex) => {
    const socket = duplex as Socket;
    void Promise.resolve(answer(requestOf(message, undefined, 0))).then((answered) =>
      behindResponses(socket, () => sendOnSocket(socket, answered, date())),
    );
  });

  server.listen(port, host, BACKLOG);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: ({ force = false } = {}) => {
      closing ??= once(server, 'close').then(() => undefined);
      server.close();
      for (const end of delayed) end();
      // The first response ends its connection: those behind it would not be sent.
      for (const queue of queues.values()) arrived -= queue.splice(1).length;
      const busy = new Set<string>();
      for (const response of open()) {
        const { socket } = response.req;
        if (force || !response.req.complete || endless.has(response)) continue;
        busy.add(peerOf(socket));
        response.shouldKeepAlive = false;
        response.once('close', () => socket.destroySoon());
      }
      // A response may still be on its way out, of TLS through the secure connection.
      for (const socket of [...sockets].toReversed()) {
        if (busy.has(peerOf(socket))) continue;
        if (force || socket.writableLength === 0) socket.destroy();
        else {
          busy.add(peerOf(socket));
          socket.destroySoon();
        }
      }
      return closing;
    },
  };
}

const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

/** The whole target as path: the handler reads it, more strictly than polka. */
function wholeTarget({ url = '' }: IncomingMessage): Request['_parsedUrl'] {
  return { raw: url, pathname: url, search: '', query: {}, hash: undefined };
}

function requestOf(message: IncomingMessage, body: string | undefined, alongside: number): HttpRequest {
  const { method = '', url: target = '', headers } = message;
  return body === undefined
    ? { method, target, headers, alongside }
    : { method, target, headers, alongside, body };
}
