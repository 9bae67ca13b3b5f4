import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
// Not the global timers: a test runner may replace them with fake ones.
import { setImmediate, setTimeout } from 'node:timers';
import polka, { type Request } from 'polka';
import type { Answer, HttpRequest } from './exchange.ts';
import { elapsedMs } from './session.ts';
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

/** What a listener knows about its connections. */
interface Listening extends Pick<ListenerOptions, 'answer' | 'maxBody' | 'date'> {
  /** All open sockets. */
  readonly sockets: Set<Socket>;
  /** Number of responses of a connection that wait for an earlier one. */
  readonly pipelined: WeakMap<Socket, number>;
  /** Responses to requests that wait to be answered, by connection. */
  readonly queues: Map<Socket, ServerResponse[]>;
  /** Responses that are not written yet. */
  readonly pending: Set<ServerResponse>;
  /** Streams, and responses of `timeout`. */
  readonly endless: WeakSet<ServerResponse>;
  /** Functions that end the delays of responses. */
  readonly delayed: Set<() => void>;
  /** Sockets with bytes that are not a request. */
  readonly refused: WeakSet<Socket>;
  /** Number of responses in `queues`. */
  arrived: number;
  closing: Promise<void> | undefined;
}

/**
 * Listens, and sends what `answer` returns for each request.
 *
 * @throws the system's error if it cannot listen, such as EADDRINUSE
 */
export async function listen(options: ListenerOptions) {
  const { port, host, answer, maxBody, date } = options;
  const server = serverFor(options);
  const to: Listening = {
    answer,
    maxBody,
    date,
    sockets: new Set(),
    pipelined: new WeakMap(),
    queues: new Map(),
    pending: new Set(),
    endless: new WeakSet(),
    delayed: new Set(),
    refused: new WeakSet(),
    arrived: 0,
    closing: undefined,
  };
  // The handler routes. polka has no routes, so every request is a no-match.
  const app = polka({ onNoMatch: (message, response) => serve(to, message, response) });
  app.parse = wholeTarget;
  const handle = app.handler as Handle;
  server.on('connection', (socket) => trackSocket(to, socket));
  server.on('request', (_, response) => enqueue(to, handle, response));
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) =>
    refuseBytes(to, socket as Socket, code),
  );
  server.on('connect', (message, socket) => void answerConnect(to, message, socket as Socket));
  server.listen(port, host, BACKLOG);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /**
     * Stops listening and ends all connections. Without `force`, complete requests still get their response,
     * without its delay. Streams and incomplete requests end at once.
     */
    close: ({ force = false }: { readonly force?: boolean } = {}): Promise<void> => {
      to.closing ??= once(server, 'close').then(() => undefined);
      server.close();
      endConnections(to, force);
      return to.closing;
    },
  };
}

type Handle = (message: IncomingMessage, response: ServerResponse) => void;

function serverFor({ timeouts }: ListenerOptions) {
  // Requests without Host get a normal answer: node's own 400 has no JSON.
  const settings = { maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false, ...timeouts };
  const server = createServer(settings);
  // No limit of the count: node would drop fields, perhaps Authorization. MAX_HEADER_BYTES limits the size.
  server.maxHeadersCount = 0;
  // A client that closed its side still reads. Without this, node drops later responses.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Requests with Expect get a normal answer: node's own 417 has no JSON.
  return server.on('checkExpectation', (message, response) => server.emit('request', message, response));
}

function trackSocket(to: Listening, socket: Socket): void {
  to.sockets.add(socket);
  socket.once('close', () => to.sockets.delete(socket));
  // Node resumes the socket after each response.
  socket.on('resume', () => countPipelined(to, socket, 0));
}

/** Stops reading a connection as long as too many of its requests wait. */
function countPipelined({ pipelined }: Listening, socket: Socket, more: number): void {
  const count = (pipelined.get(socket) ?? 0) + more;
  if (more !== 0) pipelined.set(socket, count);
  if (count > MAX_PIPELINED) socket.pause();
  else if (more < 0 && count === MAX_PIPELINED) socket.resume();
}

function enqueue(to: Listening, handle: Handle, response: ServerResponse): void {
  if (to.closing !== undefined) return;
  const { socket } = response.req;
  const queue = to.queues.get(socket);
  if (queue === undefined) to.queues.set(socket, [response]);
  else queue.push(response);
  if (++to.arrived === 1) setImmediate(answerArrived, to, handle);
  // Most requests are not pipelined.
  if (response.socket !== null) return;
  countPipelined(to, socket, 1);
  response.once('close', () => countPipelined(to, socket, -1));
}

/** Answers all requests of one turn of the event loop together, so that each knows how many others there are. */
function answerArrived(to: Listening, handle: Handle): void {
  const { queues, pending } = to;
  const begun = elapsedMs();
  for (const [socket, queue] of queues) {
    if (elapsedMs() - begun > MAX_TURN_MS) return void setImmediate(answerArrived, to, handle);
    const response = queue[0]!;
    // `close` may have destroyed the socket.
    if (to.closing === undefined || !socket.destroyed) handle(response.req, response);
    to.arrived--;
    queue.shift();
    // The rest of the queue goes last, so that pipelined requests do not delay other connections.
    queues.delete(socket);
    if (queue.length > 0) queues.set(socket, queue);
    if (response.writableEnded || response.destroyed) continue;
    pending.add(response);
    response.once('close', () => pending.delete(response));
  }
}

function serve(to: Listening, message: IncomingMessage, response: ServerResponse): Promise<void> | void {
  // Most requests have no body and need no wait.
  if (hasBody(message)) return serveWithBody(to, message, response);
  const answered = to.answer(requestOf(message, undefined, countOthers(to)));
  return answered instanceof Promise
    ? answered.then((late) => send(to, response, late))
    : send(to, response, answered);
}

async function serveWithBody(to: Listening, message: IncomingMessage, response: ServerResponse) {
  const body = await readBody(message, to.maxBody?.(message.url ?? '') ?? MAX_BODY_BYTES);
  if (body === 'cutOff') return;
  if (body === 'tooLarge') {
    const { headers, ...tooLarge } = errorResponse(413);
    return send(to, response, { ...tooLarge, headers: { Date: to.date(), ...headers } });
  }
  return send(to, response, await to.answer(requestOf(message, body.toString(), countOthers(to))));
}

const countOthers = ({ arrived, pending }: Listening) => arrived + pending.size - 1;

function send(to: Listening, response: ServerResponse, answered: Answer): Promise<void> | void {
  if (response.destroyed) return;
  if ('subscribe' in answered) {
    to.endless.add(response);
    streamResponse(response, answered);
  } else if (answered.delayMs !== undefined && answered.delayMs > 0) {
    destroyAtEnd(response);
    return delay(to, answered.delayMs).then(() => send(to, response, { ...answered, delayMs: 0 }));
  } else if (answered.transportFault === 'timeout') {
    to.endless.add(response);
    destroyAtEnd(response);
  } else if (answered.transportFault === 'reset') response.req.socket.resetAndDestroy();
  else writeResponse(response, answered);
}

function delay({ delayed }: Listening, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      delayed.delete(end);
      resolve();
    };
    // The connection, not the timer, keeps the process alive.
    const timer = setTimeout(end, ms).unref();
    delayed.add(end);
  });
}

function refuseBytes(to: Listening, socket: Socket, code: string | undefined): void {
  if (to.refused.has(socket)) return;
  to.refused.add(socket);
  afterResponses(to, socket, () => sendOnSocket(socket, parserErrorResponse(code), to.date()));
}

async function answerConnect(to: Listening, message: IncomingMessage, socket: Socket): Promise<void> {
  const answered = await to.answer(requestOf(message, undefined, 0));
  afterResponses(to, socket, () => sendOnSocket(socket, answered, to.date()));
}

/** Calls `say` after the last pending response of a connection. */
function afterResponses({ pending, queues }: Listening, socket: Socket, say: () => void): void {
  const all = [...pending, ...(queues.get(socket) ?? [])];
  const before = all.findLast(({ req }) => req.socket === socket && req.complete);
  if (before === undefined) say();
  else before.once('close', say);
}

function endConnections(to: Listening, force: boolean): void {
  const { sockets, pending, queues, endless } = to;
  for (const end of to.delayed) end();
  // The first response ends its connection, so later ones would not be sent.
  for (const queue of queues.values()) to.arrived -= queue.splice(1).length;
  const busy = new Set<Socket>();
  // In the order of the requests of a connection.
  for (const response of [...pending, ...[...queues.values()].flat()]) {
    const { socket } = response.req;
    if (force || !response.req.complete || endless.has(response)) continue;
    busy.add(socket);
    response.shouldKeepAlive = false;
    response.once('close', () => socket.destroySoon());
  }
  for (const socket of sockets) {
    if (busy.has(socket)) continue;
    if (force) socket.destroy();
    // It may still have data to send.
    else socket.destroySoon();
  }
}

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
