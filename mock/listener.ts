import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:http';
import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
// Not the global timers: a test runner may replace them with fake ones.
import { setImmediate, setTimeout } from 'node:timers';
import polka, { type Request } from 'polka';
import type { Answer, HttpRequest } from './exchange.ts';
import type { Tls } from './options.ts';
import {
  destroyAtEnd,
  hasBody,
  parserErrorResponse,
  readBody,
  sendOnSocket,
  streamResponse,
  errorResponse,
  writeResponse,
} from './transport.ts';

/** Maximum of request line and header fields, in bytes. Long ids fit, so that they get 400. */
const MAX_HEADER_BYTES = 65_536;

/** Maximum of a request body, in bytes. The interface has no bodies; some faults read them. */
const MAX_BODY_BYTES = 65_536;

/** Maximum of connections that wait to be accepted. With node's 511, a burst waits for seconds. */
const BACKLOG = 16_384;

/** Maximum of pipelined requests that wait on a connection. The connection is not read while there are more. */
const MAX_PIPELINED = 100;

/** Maximum time (ms) to answer requests before the event loop reads new ones. */
const MAX_TURN_MS = 20;

export interface ListenerOptions {
  /** 0 takes a free port. */
  readonly port: number;
  readonly host: string;
  readonly tls?: Tls | undefined;
  readonly answer: (request: HttpRequest) => Answer | Promise<Answer>;
  /** Maximum of a body for a target, in bytes. Default: 64 KiB. */
  readonly maxBody?: ((target: string) => number | undefined) | undefined;
  /** Date of the transport's own responses. */
  readonly date: () => string;
  /** Maximum time (ms) until a request has arrived; then it gets 408. Default: node's. */
  readonly timeouts?: Pick<
    ServerOptions,
    'headersTimeout' | 'requestTimeout' | 'connectionsCheckingInterval'
  >;
}

/**
 * Listens, and sends what `answer` returns for each request.
 *
 * @throws the system's error if it cannot listen, such as EADDRINUSE
 */
export async function listen(options: ListenerOptions) {
  const { port, host, tls, answer, maxBody, date, timeouts } = options;
  // Requests without Host get a normal answer: node's own 400 has no JSON.
  const settings = { maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false, ...timeouts };
  const server = tls === undefined ? createPlainServer(settings) : createTlsServer({ ...settings, ...tls });
  // No limit of the count: node would drop fields, perhaps Authorization. MAX_HEADER_BYTES limits the size.
  server.maxHeadersCount = 0;
  // A client that closed its side still reads. Without this, node drops later responses.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Requests with Expect get a normal answer: node's own 417 has no JSON.
  server.on('checkExpectation', (message, response) => server.emit('request', message, response));

  /** All open sockets. With TLS, each connection has a plain and a secure one. */
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // Node resumes the socket after each response.
    socket.on('resume', () => countPipelined(socket, 0));
  };
  server.on('connection', track).on('secureConnection', track);
  let closing: Promise<void> | undefined;
  /** Number of responses of a connection that wait for an earlier one. */
  const pipelined = new WeakMap<Socket, number>();
  const countPipelined = (socket: Socket, more: number) => {
    const count = (pipelined.get(socket) ?? 0) + more;
    if (more !== 0) pipelined.set(socket, count);
    if (count > MAX_PIPELINED) socket.pause();
    else if (more < 0 && count === MAX_PIPELINED) socket.resume();
  };
  /** Responses to requests that wait to be answered, by connection. */
  const queues = new Map<Socket, ServerResponse[]>();
  let arrived = 0;
  /** Responses that are not written yet. */
  const pending = new Set<ServerResponse>();
  const countOthers = () => arrived + pending.size - 1;
  /** Streams, and responses of `timeout`. */
  const endless = new WeakSet<ServerResponse>();
  /** Functions that end the delays of responses. */
  const delayed = new Set<() => void>();
  const delay = (ms: number) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        delayed.delete(end);
        resolve();
      };
      // The connection, not the timer, keeps the process alive.
      const timer = setTimeout(end, ms).unref();
      delayed.add(end);
    });

  const send = (response: ServerResponse, answered: Answer): Promise<void> | void => {
    if (response.destroyed) return;
    if ('subscribe' in answered) {
      endless.add(response);
      streamResponse(response, answered);
    } else if (answered.delayMs !== undefined && answered.delayMs > 0) {
      destroyAtEnd(response);
      return delay(answered.delayMs).then(() => send(response, { ...answered, delayMs: 0 }));
    } else if (answered.transportFault === 'timeout') {
      endless.add(response);
      destroyAtEnd(response);
    } else if (answered.transportFault === 'reset') {
      // Only the plain socket can be reset. It was added before the secure one.
      const plain = [...sockets].find((socket) => peerOf(socket) === peerOf(response.req.socket));
      plain?.resetAndDestroy();
    } else writeResponse(response, answered);
  };
  const serve = (message: IncomingMessage, response: ServerResponse): Promise<void> | void => {
    // Most requests have no body and need no wait.
    if (hasBody(message)) return serveWithBody(message, response);
    const answered = answer(requestOf(message, undefined, countOthers()));
    return answered instanceof Promise
      ? answered.then((late) => send(response, late))
      : send(response, answered);
  };
  const serveWithBody = async (message: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(message, maxBody?.(message.url ?? '') ?? MAX_BODY_BYTES);
    if (body === 'cutOff') return;
    if (body === 'tooLarge') {
      const { headers, ...tooLarge } = errorResponse(413);
      return send(response, { ...tooLarge, headers: { Date: date(), ...headers } });
    }
    return send(response, await answer(requestOf(message, body.toString(), countOthers())));
  };
  // The handler routes. polka has no routes, so every request is a no-match.
  const app = polka({ onNoMatch: serve });
  app.parse = wholeTarget;
  const handle = app.handler as (message: IncomingMessage, response: ServerResponse) => void;
  // Answers all requests of one turn of the event loop together, so that each knows how many others there are.
  const answerArrived = () => {
    const begun = performance.now();
    for (const [socket, queue] of queues) {
      if (performance.now() - begun > MAX_TURN_MS) return void setImmediate(answerArrived);
      const response = queue[0]!;
      // `close` may have destroyed the socket.
      if (closing === undefined || !socket.destroyed) handle(response.req, response);
      arrived--;
      queue.shift();
      // The rest of the queue goes last, so that pipelined requests do not delay other connections.
      queues.delete(socket);
      if (queue.length > 0) queues.set(socket, queue);
      if (response.writableEnded || response.destroyed) continue;
      pending.add(response);
      response.once('close', () => pending.delete(response));
    }
  };
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (closing !== undefined) return;
    const queue = queues.get(socket);
    if (queue === undefined) queues.set(socket, [response]);
    else queue.push(response);
    if (++arrived === 1) setImmediate(answerArrived);
    // Most requests are not pipelined.
    if (response.socket !== null) return;
    countPipelined(socket, 1);
    response.once('close', () => countPipelined(socket, -1));
  });

  /** Calls `say` after the last pending response of a connection. */
  const afterResponses = (socket: Socket, say: () => void) => {
    const all = [...pending, ...(queues.get(socket) ?? [])];
    const before = all.findLast(({ req }) => req.socket === socket && req.complete);
    if (before === undefined) say();
    else before.once('close', say);
  };
  const refused = new WeakSet<Socket>();
  server.on('clientError', ({ code }: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket;
    if (refused.has(socket)) return;
    refused.add(socket);
    afterResponses(socket, () => sendOnSocket(socket, parserErrorResponse(code), date()));
  });
  server.on('connect', (message: IncomingMessage, duplex) => {
    const socket = duplex as Socket;
    void Promise.resolve(answer(requestOf(message, undefined, 0))).then((answered) =>
      afterResponses(socket, () => sendOnSocket(socket, answered, date())),
    );
  });

  server.listen(port, host, BACKLOG);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /**
     * Stops listening and ends all connections. Without `force`, complete requests still get their response,
     * without its delay. Streams and incomplete requests end at once.
     */
    close: ({ force = false }: { readonly force?: boolean } = {}): Promise<void> => {
      closing ??= once(server, 'close').then(() => undefined);
      server.close();
      for (const end of delayed) end();
      // The first response ends its connection, so later ones would not be sent.
      for (const queue of queues.values()) arrived -= queue.splice(1).length;
      const busy = new Set<string>();
      // In the order of the requests of a connection.
      for (const response of [...pending, ...[...queues.values()].flat()]) {
        const { socket } = response.req;
        if (force || !response.req.complete || endless.has(response)) continue;
        busy.add(peerOf(socket));
        response.shouldKeepAlive = false;
        response.once('close', () => socket.destroySoon());
      }
      // A socket may still have data to send, with TLS the secure one.
      for (const socket of [...sockets].toReversed()) {
        if (busy.has(peerOf(socket))) continue;
        if (force) socket.destroy();
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

/** Passes the whole target as path: the handler parses it, more strictly than polka. */
function wholeTarget({ url = '' }: IncomingMessage): Request['_parsedUrl'] {
  return { raw: url, pathname: url, search: '', query: {}, hash: undefined };
}

function requestOf(message: IncomingMessage, body: string | undefined, alongside: number): HttpRequest {
  const { method = '', url: target = '', headers, rawHeaders } = message;
  return body === undefined
    ? { method, target, headers, rawHeaders, alongside }
    : { method, target, headers, rawHeaders, alongside, body };
}
